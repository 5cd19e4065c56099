"""A server that does not start is noticed before the assistant meets it."""

import sys
from pathlib import Path

import pytest

from dowse.cli.assistants import server_check
from dowse.cli.assistants.server_check import check_server


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["/nowhere/dowse", "serve"], "/nowhere/dowse cannot be started: No such file or directory"),
        ([sys.executable, "-m", "dowse", "serve", "/nowhere"], "dowse: /nowhere is not a folder."),
        ([sys.executable, "-c", "print('hello')"], "it ended without an answer"),
        ([sys.executable, "-c", "pass"], "it ended without an answer"),
    ],
)
def test_a_server_that_does_not_start_says_why(tmp_path: Path, command: list[str], problem: str) -> None:
    assert check_server(command, tmp_path) == problem


def test_a_server_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_check, "CHECK_SECONDS", 0.2)
    assert "did not answer" in check_server([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path)
