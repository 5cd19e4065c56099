"""Several servers on one project share the work, and any of them may end."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.crash.project import make_project
from tests.end_to_end.storm.index_comparison import assert_equal_to_a_new_index
from tests.end_to_end.storm.servers import Server, eventually, watching_process
from tests.sample_data import index, write_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project, indexed."""
    root = write_tree(tmp_path / "project", {"src/apple.py": "def apple(): ...\n", "docs/guide.md": "# Guide\n"})
    index(root)
    return root


@contextlib.contextmanager
def servers(root: Path, count: int) -> Iterator[list[Server]]:
    """Start servers of one project and wait until one of them watches."""
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(Server(root)) for _ in range(count)]
        for server in started:
            server.status()
        eventually(lambda: watching_process(root))
        yield started


def save(root: Path, path: str, name: str) -> None:
    write_tree(root, {path: f"def {name}(): ...\n"})


def assert_all_find(started: list[Server], name: str, path: str) -> None:
    for server in started:
        eventually(lambda server=server: server.find(name) == [path], server.status)  # type: ignore[misc]


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.soak)])
def test_all_watch_all_are_fresh_and_any_may_be_killed(root: Path, tmp_path: Path, count: int) -> None:
    with servers(root, count) as started:
        for left in range(count, 0, -1):
            statuses = [server.status() for server in started]
            assert all(status["watcherActive"] for status in statuses)
            assert all(status["watcher"].startswith("watching") for status in statuses), statuses
            status = subprocess.run(
                [sys.executable, "-m", "dowse", "status", str(root), "--json"],
                capture_output=True,
                text=True,
                check=True,
            )
            assert f"process {watching_process(root)}" in json.loads(status.stdout)["watcher"]
            save(root, f"src/{left}.py", f"saved_with_{left}")
            assert_all_find(started, f"saved_with_{left}", f"src/{left}.py")
            save(root, "src/apple.py", f"apple_with_{left}")
            assert_all_find(started, f"apple_with_{left}", "src/apple.py")
            assert not any(server.find(f"apple_with_{left + 1}") for server in started)
            (watcher,) = (server for server in started if server.process.pid == watching_process(root))
            watcher.close_stdin() if left == 3 else watcher.kill()  # one of them ends normally
            started.remove(watcher)
            if started:
                pids = {server.process.pid for server in started}
                eventually(lambda pids=pids: watching_process(root) in pids)  # type: ignore[misc]
    assert_equal_to_a_new_index(root, tmp_path / "scratch")


def test_the_command_indexes_beside_servers(root: Path, tmp_path: Path) -> None:
    with servers(root, 2) as started:
        for age in range(3):
            make_project(root, files=30 + 10 * age)
            command = [sys.executable, "-m", "dowse", "index", str(root)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
            assert done.returncode == 0, done.stderr
            save(root, "src/pear.py", f"pear_{age}")
            assert_all_find(started, f"pear_{age}", "src/pear.py")
        for server in started:
            eventually(server.is_settled, server.status)
            assert "malformed" not in server.stderr
    assert_equal_to_a_new_index(root, tmp_path / "scratch")


def test_an_index_deleted_and_made_again_by_one_is_noticed_by_the_others(root: Path, tmp_path: Path) -> None:
    with servers(root, 3) as started:
        (watcher,) = (server for server in started if server.process.pid == watching_process(root))
        deleter = next(server for server in started if server is not watcher)
        for round_number, one in enumerate((deleter, watcher)):
            assert one.call_tool("delete_index", confirm=True)["status"] == "success"
            for server in started:
                reply = server.call_tool("search_code", query="apple")
                assert reply.get("code") == "INDEX_NOT_FOUND", reply
                assert server.status()["status"] == "not_found"
            assert one.call_tool("create_index")["status"] == "success"
            name = f"made_{round_number}"
            save(root, "src/pear.py", name)
            assert_all_find(started, name, "src/pear.py")
            assert_all_find(started, "apple", "src/apple.py")
            eventually(lambda: watching_process(root))
        for server in started:
            eventually(server.is_settled, server.status)
    assert_equal_to_a_new_index(root, tmp_path / "scratch")
