"""A publisher that is killed at any moment leaves a project as it was or as it becomes, and the next one goes on."""

import contextlib
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dowse.places.place_table import SharedPlace
from tests import lance_extra
from tests.api.publishing.shared_places import FILES, commit, found_at, publish_words, rows_at

lance_extra.import_or_skip()
MAX_SECONDS = 6.0
_PROGRAM = """
import sys, pathlib
from tests.api.publishing.shared_places import publish_words
print("begun", flush=True)
publish_words(pathlib.Path(sys.argv[1]), sys.argv[2])
"""


def files_at(place: str) -> frozenset[str]:
    return files_of(rows_at(place))


def files_of(all_rows: list[dict[str, Any]]) -> frozenset[str]:
    rows = [row for row in all_rows if row["project"] == "animals"]
    files = frozenset(row["path"] for row in rows if row["row"] == "file")
    assert frozenset(row["path"] for row in rows if row["row"] == "chunk") == files
    assert sum(row["row"] == "project" for row in rows) == 1
    return files


def test_a_killed_publisher_leaves_one_commit_or_the_other(project: Path, place: str) -> None:
    kill_publishers(project, place, 2)


def test_every_version_of_a_place_has_one_commit_or_the_other(project: Path, place: str) -> None:
    """A publisher that is killed leaves one of the versions that LanceDB wrote."""
    publish_words(project, place)
    table = SharedPlace(place).open_table()
    first, before = table.version, files_at(place)
    commit(project, {"src/pond.py": "def count_ducks(): pass\n", "src/zoo.py": None})
    publish_words(project, place)
    table.checkout_latest()
    seen = []
    for version in range(first, table.version + 1):
        table.checkout(version)
        seen.append(files_of(table.search().limit(table.count_rows()).to_list()))
    assert set(seen) == {before, before - {"src/zoo.py"} | {"src/pond.py"}}


@pytest.mark.soak
def test_killed_publishers_always_leave_one_commit_or_the_other(project: Path, place: str) -> None:
    kill_publishers(project, place, 100)


def kill_publishers(project: Path, place: str, kills: int) -> None:
    publish_words(project, place)
    shown, chance = frozenset(FILES), random.Random(1)
    for number in range(kills):
        path = f"src/count_{number}.py"
        commit(project, {path: f"def count_{number}(): pass\n"})
        command = [sys.executable, "-c", _PROGRAM, str(project), place]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, start_new_session=True, cwd=Path(__file__).parents[3]
        )
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(chance.uniform(0.0, MAX_SECONDS))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        after = files_at(place)
        assert after in (shown, shown | {path} | {f"src/count_{before}.py" for before in range(number)}), number
        shown = after
    publish_words(project, place)
    wanted = frozenset(FILES) | {f"src/count_{number}.py" for number in range(kills)}
    assert files_at(place) == wanted
    assert found_at(place, "milk cow")[0] == "src/farm.py"
