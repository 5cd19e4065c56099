"""Processes that are suspended for a while, as by a debugger, a closed laptop or a busy machine."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.end_to_end.storm.index_comparison import assert_equal_to_a_new_index
from tests.end_to_end.storm.servers import Server, eventually
from tests.fuzzing.parser_costs import descendants
from tests.mcp.stdio.stdio_client import is_alive
from tests.sample_data import write_tree


def suspend(processes: list[int], seconds: float) -> None:
    """Suspend processes, and resume those that are still there."""
    for number, act in ((signal.SIGSTOP, processes), (signal.SIGCONT, processes)):
        for process in act:
            if is_alive(process):
                os.kill(process, number)
        if number == signal.SIGSTOP:
            time.sleep(seconds)


LONG = (pytest.mark.soak, pytest.mark.timeout(3600))
AGAIN_AND_AGAIN = [pytest.param(40, 6.0, seed, marks=LONG) for seed in (10, 11, 12)]


@pytest.mark.parametrize(("times", "seconds", "seed"), [(2, 0.5, 1), *AGAIN_AND_AGAIN])
def test_suspended_processes_go_on(tmp_path: Path, indexed: Path, times: int, seconds: float, seed: int) -> None:
    """The server, or its encoding, indexing and parser processes, are suspended while files change."""
    root, dice = indexed, random.Random(seed)
    with Server(root) as server:
        eventually(server.is_watching, server.status)
        for age in range(times):
            count = dice.choice((1, 20, 300))
            write_tree(root, {f"src/more{age}/{n}.py": f"def word{seed}x{age}y{n}(): ...\n" for n in range(count)})
            time.sleep(dice.uniform(0, 0.3))
            children = descendants(server.process.pid)
            kind = dice.choice(("server", "children", "all"))
            chosen = {"server": [server.process.pid], "children": children, "all": [server.process.pid, *children]}
            suspend(chosen[kind], dice.uniform(0, seconds))
            last = f"word{seed}x{age}y{count - 1}"
            eventually(lambda last=last: server.find(last), server.status)  # type: ignore[misc]
        eventually(server.is_settled, server.status)
    assert "Traceback" not in server.final_stderr
    assert_equal_to_a_new_index(root, tmp_path / "scratch")
