"""Disks that are slow, give little at a time or fail while they are read: every command answers or says what is wrong."""

import errno
import os
from pathlib import Path

import pytest

from tests.end_to_end.conditions.commands import found_paths, run_command
from tests.end_to_end.storm.index_comparison import assert_equal_to_a_new_index

COMMANDS = {
    "index": ("index",),
    "search": ("search", "apple"),
    "exact": ("search", "--exact", "apple"),
    "documents": ("docs", "search", "apple"),
    "status": ("status",),
    "doctor": ("doctor",),
    "fix": ("doctor", "--fix"),
}


def read_little_at_a_time(tmp_path: Path, root: Path, library: str, below: str) -> None:
    folder = root if below == "project" else os.environ["DOWSE_HOME"]
    environment = {"LD_PRELOAD": library, "BELOW": str(folder), "READ_MOST": "5"}
    assert run_command("index", root, **environment).code == 0
    assert found_paths("peel_apple", root, **environment) == ["src/apple.py"]
    assert_equal_to_a_new_index(root, tmp_path / "scratch")


def test_short_reads_lose_nothing(tmp_path: Path, root: Path, library: str) -> None:
    read_little_at_a_time(tmp_path, root, library, "storage")


@pytest.mark.soak
def test_short_reads_of_the_project_lose_nothing(tmp_path: Path, root: Path, library: str) -> None:
    read_little_at_a_time(tmp_path, root, library, "project")


@pytest.mark.soak
def test_a_slow_disk_is_waited_for(tmp_path: Path, root: Path, library: str) -> None:
    environment = {"LD_PRELOAD": library, "BELOW": os.environ["DOWSE_HOME"], "SLOW_FSYNC_MS": "200"}
    assert run_command("index", root, **environment).code == 0
    assert found_paths("peel_apple", root, **environment) == ["src/apple.py"]


def fail_reads(indexed: Path, library: str, below: str, at: int, error: int, command: str) -> None:
    folder = indexed if below == "project" else os.environ["DOWSE_HOME"]
    environment = {"LD_PRELOAD": library, "BELOW": str(folder), "READ_FAILS_AT": str(at), "READ_ERRNO": str(error)}
    first, *rest = COMMANDS[command]
    run_command(first, *rest, indexed, **environment)


def test_reads_that_fail_end_in_a_line_and_leave_a_whole_index(indexed: Path, library: str) -> None:
    fail_reads(indexed, library, "storage", 3, errno.EIO, "search")
    assert run_command("doctor", "--fix", indexed).code in (0, 1)
    assert found_paths("peel_apple", indexed) == ["src/apple.py"]


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("below", ["project", "storage"])
def test_any_read_may_fail(tmp_path: Path, indexed: Path, library: str, below: str, command: str) -> None:
    for at in (*range(1, 30), 40, 60, 100):
        fail_reads(indexed, library, below, at, errno.EIO if at % 2 else errno.ESTALE, command)
        assert run_command("doctor", "--fix", indexed).code in (0, 1)
        assert found_paths("peel_apple", indexed) == ["src/apple.py"], at
