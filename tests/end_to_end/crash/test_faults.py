"""A failing write, fsync or rename ends in a clear error or none, and loses nothing."""

import errno
import os
import random
from collections.abc import Sequence
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


ONCE = [
    (True, [4]),
    (False, [1, 25]),
    *(pytest.param(is_once, range(1, 61), marks=pytest.mark.soak) for is_once in (True, False)),
]


@pytest.mark.parametrize("call", ["write", "fsync", "rename"])
@pytest.mark.parametrize(("is_once", "places"), ONCE, ids=["once", "from then on", "once, any", "from then on, any"])
def test_a_failing_call_loses_nothing(
    tmp_path: Path, failing_calls: Path, call: str, is_once: bool, places: Sequence[int]
) -> None:
    dice, root = random.Random(f"{call} {is_once}"), make_project(tmp_path / "project", files=24)
    project = open_indexed(root)
    hit = 0
    for age, place in enumerate(places, 1):
        change_project(root, dice, age)
        error = dice.choice([errno.EIO, errno.ENOSPC])
        environment = failing(failing_calls, call, place, error, os.environ["DOWSE_HOME"])
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
    assert_equal_to_a_new_index(project, tmp_path / "scratch")


def test_a_full_disk_is_said_in_one_line(tmp_path: Path, failing_calls: Path) -> None:
    root = make_project(tmp_path / "project", files=40)
    environment = failing(failing_calls, "write", 30, errno.ENOSPC, os.environ["DOWSE_HOME"])
    with start_index(root, **environment) as child:
        _, errors = child.communicate(timeout=60)
    assert child.returncode == 3
    assert "No space left" in errors
    project = open_indexed(root)
    assert_equal_to_a_new_index(project, tmp_path / "scratch")
