"""Mains or battery, as the systems tell it."""

import ctypes
import sys
from pathlib import Path
from typing import Any

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


class FakeSystem:
    """The libraries that `ctypes` finds on macOS and on Windows; the real ones were not seen."""

    def __init__(self, seconds_left: float, first_byte: int) -> None:
        self.IOPSGetTimeRemainingEstimate = _Estimate(seconds_left)
        self.kernel32 = self
        self._first_byte = first_byte

    def GetSystemPowerStatus(self, status: Any) -> int:
        status._obj[0] = self._first_byte
        return 1


class _Estimate:
    restype: object = None

    def __init__(self, seconds_left: float) -> None:
        self._seconds_left = seconds_left

    def __call__(self) -> float:
        return self._seconds_left


@pytest.mark.parametrize("name", ["IS_MAC", "IS_WINDOWS"])
@pytest.mark.parametrize("is_on_battery", [True, False])
def test_macos_and_windows_are_asked_by_their_own_libraries(
    monkeypatch: pytest.MonkeyPatch, name: str, *, is_on_battery: bool
) -> None:
    system = FakeSystem(3600.0 if is_on_battery else -2.0, 0 if is_on_battery else 1)
    monkeypatch.setattr(power, name, True)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: system)
    monkeypatch.setattr(ctypes, "windll", system, raising=False)
    assert power.is_on_battery() is is_on_battery
