"""Commands that write may be killed at any moment (`dowse index` in `test_kills.py`): what is kept is the state before it or the state after it.

`make soak` kills four times `KILLS` of them, and `KILL_SEED` chooses other moments.
"""

import contextlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.end_to_end.crash.writers import WRITERS, Writer
from tests.examples import KILLS
from tests.forking import Process, start
from tests.fuzzing.parser_costs import descendants
from tests.mcp.stdio.stdio_client import is_alive, wait_until

SEED = os.environ.get("KILL_SEED", "1")
SHARES = {"vectors": 1, "archive": 4, "import": 4, "add": 2, "names": 2, "site": 2, "registry": 1}


def run(arguments: list[str]) -> float:
    """Run a command to its end; return its duration."""
    started = time.monotonic()
    with start(*arguments, stderr=subprocess.STDOUT) as command:
        assert command.wait(120) == 0, arguments
    return time.monotonic() - started


def kill(command: Process, how: str) -> bool:
    """Kill a command, with its children or without; return whether it ran until then."""
    was_running = command.poll() is None
    children = descendants(command.pid)
    if was_running and how == "group":
        with contextlib.suppress(ProcessLookupError):  # it has ended, or it has no group of its own yet
            os.killpg(command.pid, signal.SIGKILL)
    command.kill()
    command.wait(60)
    wait_until(lambda: not any(is_alive(child) for child in children))
    return was_running


def survive_kills(writer: Writer, kills: int, seed: str) -> None:
    dice = random.Random(seed)
    longest = run(writer.change(1))
    landed = 0
    for age in range(2, 10 * kills + 10):
        before = writer.state()
        arguments = writer.change(age)
        with start(*arguments, start_new_session=True) as command:
            moment = time.monotonic() + dice.uniform(0.0, 1.0) * longest
            while time.monotonic() < moment and command.poll() is None:
                time.sleep(0.001)
            was_running = kill(command, dice.choice(("group", "alone")))
        found = writer.state()
        if was_running:
            landed += 1
            assert_whole(writer, before, found, arguments)
        else:
            longest = max(0.02, 0.95 * longest)
        if landed == kills:
            return
    raise AssertionError(f"only {landed} kills hit a running process")


def assert_whole(writer: Writer, before: object, found: object, arguments: list[str]) -> None:
    """Assert that the state is the one before or after a run, which the same command then completes."""
    with start(*arguments) as command:
        code = command.wait(120)
    after = writer.state()
    if code == 0:
        assert found in (before, after) or writer.is_between(before, found, after), arguments
    else:  # a second `create` or `remove` of one name: the first had done its work
        assert code in (1, 2), code
        assert found == after != before, arguments


@pytest.mark.parametrize("name", ["archive", "import", "names", "site"])
def test_a_killed_writer_has_done_all_or_nothing(tmp_path: Path, name: str) -> None:
    survive_kills(WRITERS[name](tmp_path), kills=1, seed=name)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", WRITERS)
def test_many_kills_leave_the_state_before_or_after(tmp_path: Path, name: str) -> None:
    kills = round(4 * KILLS * SHARES[name] / sum(SHARES.values()))
    survive_kills(WRITERS[name](tmp_path), kills, f"{SEED} {name}")
