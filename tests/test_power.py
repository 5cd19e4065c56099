"""Mains or battery, as Linux tells it."""

import sys
from pathlib import Path

import pytest

from dowse import power

MAINS = {"type": "Mains", "online": "1"}
UNPLUGGED = {"type": "Mains", "online": "0"}
FULL = {"type": "Battery", "status": "Full"}
EMPTYING = {"type": "Battery", "status": "Discharging"}
MOUSE = {"type": "Battery", "scope": "Device", "status": "Discharging"}


@pytest.mark.skipif(sys.platform != "linux", reason="as Linux tells it")
@pytest.mark.parametrize(
    ("supplies", "is_on_battery"),
    [
        ([], False),
        ([MAINS], False),
        ([MAINS, FULL], False),
        ([UNPLUGGED, EMPTYING], True),
        ([EMPTYING], True),
        ([MAINS, EMPTYING], False),  # one battery of two, or a charger that is too weak
        ([UNPLUGGED, {"type": "USB", "online": "1"}, EMPTYING], False),
        ([MOUSE], False),
        ([{}], False),
        ([{"type": "\x00\xff", "online": "?"}, EMPTYING], True),
    ],
)
def test_a_laptop_knows_whether_it_is_plugged_in(
    tmp_path: Path, supplies: list[dict[str, str]], is_on_battery: bool
) -> None:
    for number, facts in enumerate(supplies):
        (tmp_path / str(number)).mkdir()
        for name, value in facts.items():
            (tmp_path / str(number) / name).write_text(f"{value}\n", encoding="utf-8")
    assert power.is_on_battery(tmp_path) is is_on_battery


def test_where_nobody_tells_there_is_no_battery(tmp_path: Path) -> None:
    assert not power.is_on_battery(tmp_path / "nothing")
