"""A failing write, fsync or rename ends in a clear error or none, and loses nothing."""

import errno
import os
import random
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
from tests.end_to_end.preloaded import FAILING, compile_library, failing
from tests.sample_data import open_indexed


@pytest.fixture(scope="session")
def failing_calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes system calls fail."""
    return compile_library(FAILING, tmp_path_factory.mktemp("failing"))


def survive_failures(root: Path, scratch: Path, library: Path, call: str, places: list[int], *, is_once: bool) -> None:
    dice = random.Random(f"{call} {is_once}")
    make_project(root, files=24)
    project = open_indexed(root)
    hit = 0
    for age, place in enumerate(places, 1):
        change_project(root, dice, age)
        error = dice.choice([errno.EIO, errno.ENOSPC])
        environment = failing(library, call, place, error, os.environ["DOWSE_HOME"])
        with start_index(root, **environment, **({"FAIL_ONCE": "1"} if is_once else {})) as child:
            _, errors = child.communicate(timeout=60)
        assert child.returncode in (0, 3), errors
        assert "Traceback" not in errors
        hit += child.returncode == 3
        project.close()
        project = ProjectIndex(root)
        assert_consistent(project)
    assert hit or is_once, "no failure was noticed; the places are wrong"
    project.update()
    assert_equal_to_a_new_index(project, scratch)


@pytest.mark.parametrize("call", ["write", "fsync", "rename"])
@pytest.mark.parametrize("is_once", [True, False], ids=["once", "from then on"])
def test_a_failing_call_loses_nothing(tmp_path: Path, failing_calls: Path, call: str, is_once: bool) -> None:
    places = [4] if is_once else [1, 25]
    survive_failures(tmp_path / "project", tmp_path / "scratch", failing_calls, call, places, is_once=is_once)


@pytest.mark.soak
@pytest.mark.parametrize("call", ["write", "fsync", "rename"])
@pytest.mark.parametrize("is_once", [True, False], ids=["once", "from then on"])
def test_every_early_call_may_fail(tmp_path: Path, failing_calls: Path, call: str, is_once: bool) -> None:
    places = list(range(1, 61))
    survive_failures(tmp_path / "project", tmp_path / "scratch", failing_calls, call, places, is_once=is_once)


def test_a_full_disk_is_said_in_one_line(tmp_path: Path, failing_calls: Path) -> None:
    root = make_project(tmp_path / "project", files=40)
    environment = failing(failing_calls, "write", 30, errno.ENOSPC, os.environ["DOWSE_HOME"])
    with start_index(root, **environment) as child:
        _, errors = child.communicate(timeout=60)
    assert child.returncode == 3
    assert "No space left" in errors
    project = open_indexed(root)
    assert_equal_to_a_new_index(project, tmp_path / "scratch")
