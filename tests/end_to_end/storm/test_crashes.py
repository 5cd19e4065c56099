"""A killed server or a broken disk leaves the old index state or the new one; the next start repairs it."""

import contextlib
import errno
import threading
from pathlib import Path

import pytest

from dowse.indexes.index import ProjectIndex
from tests.end_to_end.crash.test_faults import failing_calls
from tests.end_to_end.preloaded import failing
from tests.end_to_end.storm.file_operations import RandomOperations
from tests.end_to_end.storm.index_comparison import assert_equal_to_a_new_index
from tests.end_to_end.storm.search_thread import SearchThread
from tests.end_to_end.storm.servers import Server, eventually
from tests.examples import KILLS
from tests.sample_data import index, write_tree

__all__ = ["failing_calls"]


LONG = (pytest.mark.soak, pytest.mark.timeout(3600))
MANY = [pytest.param(seed, 40, marks=LONG) for seed in range(100, 100 + KILLS // 40)]


@pytest.mark.parametrize(("seed", "kills"), [(1, 2), *MANY])
def test_a_server_killed_in_a_storm_is_followed_by_one_that_mends_the_index(
    tmp_path: Path, seed: int, kills: int
) -> None:
    """It is killed at random moments while files change."""
    project_files = RandomOperations(tmp_path / "project", tmp_path / "outside", seed)
    index(project_files.root)
    for number in range(kills + 1):
        with Server(project_files.root) as server:
            server.settle(project_files.token())
            assert_equal_to_a_new_index(project_files.root, tmp_path / "scratch")
            if number == kills:
                break
            if number % 3 == 1:  # so many files that a worker process indexes them
                write_tree(project_files.root, {f"many/{number}/{n}.py": f"value = {n}\n" for n in range(300)})
            killer = threading.Timer(project_files.rng.uniform(0.0, 1.5), server.kill)
            with contextlib.suppress(EOFError, OSError), SearchThread(server, project_files, seed + number):
                killer.start()
                project_files.run_operations(24, 0.05)
            killer.join()
        assert "malformed" not in log_of(project_files.root) + server.final_stderr
    project = ProjectIndex(project_files.root)
    assert project.store.check() == []
    project.close()


def log_of(root: Path) -> str:
    log = ProjectIndex(root).folder / "logs" / "dowse.log"
    return log.read_text(encoding="utf-8") if log.exists() else ""


@pytest.mark.soak  # takes half a minute: the pause after a failure
def test_a_full_disk_is_told_of_and_the_old_state_is_searched_until_there_is_room(
    tmp_path: Path, storage: Path, failing_calls: Path
) -> None:
    root = write_tree(tmp_path / "project", {"src/apple.py": "def apple(): ...\n", "src/pear.py": "def pear(): ...\n"})
    index(root)
    flag = tmp_path / "broken"
    environment = failing(failing_calls, "write", 1, errno.ENOSPC, storage) | {"FAIL_WHEN": str(flag)}
    with Server(root, **environment) as server:
        eventually(server.is_watching, server.status)
        flag.touch()
        write_tree(root, {"src/apple.py": "def cider(): ...\n", "src/plum.py": "def plum(): ...\n"})
        eventually(lambda: "No space left" in server.status().get("lastError", ""), server.status)
        assert server.status()["pendingFiles"] >= 1
        assert "No space left" in log_of(root)
        assert server.find("pear") == ["src/pear.py"]
        flag.unlink()
        eventually(lambda: server.find("plum") == ["src/plum.py"], server.status)
        assert server.find("cider") == ["src/apple.py"]
        eventually(lambda: server.is_settled() and "lastError" not in server.status(), server.status)
    assert_equal_to_a_new_index(root, tmp_path / "scratch")
