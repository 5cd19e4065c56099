"""The clock of the day jumps by hours, back and forward: nothing is missed, and nothing is lost."""

import random
from pathlib import Path

import pytest

from tests.end_to_end.conditions.commands import found_paths, run_command
from tests.end_to_end.storm.index_comparison import assert_equal_to_a_new_index
from tests.end_to_end.storm.servers import Server, eventually

HOURS = (-30_000_000, -86_400, -3_600, 0, 3_600, 86_400, 300_000_000)
"""Jumps in seconds, from a year back to ten years forward."""


def jump(clock: Path, seconds: int) -> None:
    new = clock.with_suffix(".new")
    new.write_text(str(seconds), encoding="ascii")
    new.replace(clock)


@pytest.mark.soak
@pytest.mark.parametrize("jumps", [(0, -86_400), (86_400, 0), (-3_600, 3_600)])
def test_commands_index_what_changed_between_two_jumps(
    tmp_path: Path, root: Path, library: str, jumps: tuple[int, int]
) -> None:
    clock = tmp_path / "clock"
    environment = {"LD_PRELOAD": library, "CLOCK_FILE": str(clock)}
    for age, seconds in enumerate(jumps):
        jump(clock, seconds)
        (root / "src" / "apple.py").write_text(f"def peel_{age}():\n    return 'red'\n", encoding="utf-8")
        assert run_command("index", root, **environment).code == 0
    assert found_paths("peel_1", root) == ["src/apple.py"]
    assert_equal_to_a_new_index(root, tmp_path / "scratch")


LONG = (pytest.mark.soak, pytest.mark.timeout(1800))
MANY = [pytest.param(100, seed, marks=LONG) for seed in (10, 11, 12)]


@pytest.mark.parametrize(("jumps", "seed"), [(2, 1), *MANY])
def test_a_server_follows_its_files_through_jumps(
    tmp_path: Path, indexed: Path, library: str, jumps: int, seed: int
) -> None:
    root = indexed
    dice, clock = random.Random(seed), tmp_path / "clock"
    jump(clock, 0)
    with Server(root, LD_PRELOAD=library, CLOCK_FILE=str(clock)) as server:
        eventually(server.is_watching, server.status)
        for age in range(jumps):
            jump(clock, dice.choice(HOURS))
            word = f"word{seed}x{age}"
            (root / "src" / "apple.py").write_text(f"def {word}(): ...\n", encoding="utf-8")
            eventually(lambda word=word: server.find(word) == ["src/apple.py"], server.status)  # type: ignore[misc]
        eventually(server.is_settled, server.status)
        assert server.find("peel_apple") == []
    assert "Traceback" not in server.final_stderr
    assert_equal_to_a_new_index(root, tmp_path / "scratch")
