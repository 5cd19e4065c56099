"""A process killed at any moment leaves the state before or after a batch; the next run completes the index."""

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from tests.end_to_end.crash.project import (
    assert_consistent,
    assert_equal_to_a_new_index,
    change_project,
    make_project,
    start_index,
)
from tests.examples import KILLS
from tests.mcp.stdio.stdio_client import wait_until
from tests.sample_data import find, open_indexed

MANY = [pytest.param(20, 100 + seed, marks=pytest.mark.soak) for seed in range(KILLS // 20)]


@pytest.mark.parametrize(("kills", "seed"), [(5, 1), *MANY])
def test_kills_at_random_moments_lose_nothing(tmp_path: Path, kills: int, seed: int) -> None:
    dice, root = random.Random(seed), make_project(tmp_path / "project")
    landed = 0
    longest = measure_run(root)
    for age in range(1, kills + 1):
        change_project(root, dice, age)
        started = time.monotonic()
        with start_index(root) as child:
            try:
                child.wait(dice.uniform(0.1, 1.0) * longest)
                longest = time.monotonic() - started  # faster than the first run, which filled caches
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
            child.communicate()
        landed += child.returncode == -signal.SIGKILL
        project = ProjectIndex(root)
        assert_consistent(project)
        project.close()
    assert landed > kills / 3, "too few kills hit a running process to prove anything"
    project = open_indexed(root)
    assert project.status().state == "ready"
    assert_equal_to_a_new_index(project, tmp_path / "scratch")


def measure_run(root: Path) -> float:
    """Measure the duration of one run, to spread the kills over it."""
    started = time.monotonic()
    with start_index(root) as child:
        _, errors = child.communicate()
    assert child.returncode == 0, errors
    return time.monotonic() - started


def test_ctrl_c_leaves_a_usable_index_and_the_next_run_goes_on(tmp_path: Path) -> None:
    root = make_project(tmp_path / "project", files=300)
    project = ProjectIndex(root)
    with start_index(root) as child:
        wait_until(lambda: child.poll() is not None or (project.exists and project.status().files))
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=30)
    if child.returncode == 0:
        pytest.fail("the run ended before it could be interrupted")
    assert child.returncode == 130, errors
    assert "kept" in errors
    assert "Traceback" not in errors
    assert project.status().state == "incomplete"
    done = project.status().files
    assert 0 < done < 350
    assert_consistent(project)
    report = project.update()
    assert report.added == 350 - done
    assert_equal_to_a_new_index(project, tmp_path / "scratch")


def test_two_processes_indexing_at_once_do_not_hurt_each_other(tmp_path: Path) -> None:
    root = make_project(tmp_path / "project", files=60)
    children = [start_index(root) for _ in range(3)]
    reader = ProjectIndex(root)
    while any(child.poll() is None for child in children):
        if reader.exists:
            reader.status()
            for hit in find(reader.store, "apple"):
                assert hit.score > 0
        time.sleep(0.02)
    outputs = [child.communicate() for child in children]
    assert [child.returncode for child in children] == [0, 0, 0], outputs
    assert_consistent(reader)
    assert_equal_to_a_new_index(reader, tmp_path / "scratch")
