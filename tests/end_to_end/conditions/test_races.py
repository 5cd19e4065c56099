"""Files that change their kind, and objects of git that move, while they are read."""

import contextlib
import itertools
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dowse.errors import DowseError
from dowse.searching.history.history_search import HistoryOptions, search_history
from dowse.searching.history.project_history import open_history
from dowse.settings import Settings
from tests.end_to_end.conditions.commands import found_paths, run_command
from tests.end_to_end.storm.index_comparison import assert_equal_to_a_new_index
from tests.searching.history.repositories import Change, add_commits, git, make_repository

SECRET = "do_not_read_me"


@contextlib.contextmanager
def repeating(acts: list[Callable[[], object]]) -> Iterator[None]:
    """Repeat some acts in turn, in a thread, while a block runs."""
    stop, problems = threading.Event(), list[Exception]()

    def repeat() -> None:
        for act in itertools.cycle(acts):
            if stop.is_set():
                return
            try:
                act()
            except Exception as error:
                problems.append(error)

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(60)
    assert not problems, problems[0]


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_file_that_changes_its_kind_during_a_run_leaks_nothing_and_stops_nobody(tmp_path: Path, root: Path) -> None:
    (tmp_path / "outside.py").write_text(f"def {SECRET}(): ...\n", encoding="utf-8")
    file, new = root / "src" / "changing.py", root / "src" / ".changing.new"

    def put(make: Callable[[Path], object]) -> None:
        with contextlib.suppress(FileNotFoundError):
            new.rmdir() if new.is_dir() and not new.is_symlink() else new.unlink()
        make(new)
        if file.is_dir() and not file.is_symlink():
            file.rmdir()
        if new.is_dir() and not new.is_symlink():
            file.unlink()
        new.rename(file)

    def make_socket(path: Path) -> None:
        with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(path.parent):
            made.bind(path.name)

    kinds: list[Callable[[Path], object]] = [
        lambda path: path.write_text("def peel_pear(): ...\n", encoding="utf-8"), os.mkfifo,
        lambda path: path.symlink_to(tmp_path / "outside.py"), lambda path: path.symlink_to("/dev/zero"), Path.mkdir,
        make_socket, lambda path: path.symlink_to(path.name),
    ]  # fmt: skip
    with repeating([lambda make=make: put(make) for make in kinds]):  # type: ignore[misc]
        for _ in range(8):
            assert run_command("index", root).code == 0
            assert found_paths(SECRET, root) == []
            assert found_paths("peel_apple", root) == ["src/apple.py"]
            assert run_command("doctor", root).code in (0, 1)
    put(kinds[0])
    assert found_paths("peel_pear", root) == ["src/changing.py"]
    assert_equal_to_a_new_index(root, tmp_path / "scratch")


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_history_is_read_while_git_moves_its_objects(tmp_path: Path) -> None:
    changes = [Change(f"Change word{n}", {f"src/f{n % 20}.py": f"def word{n}(): ...\n"}) for n in range(200)]
    root = make_repository(tmp_path / "shop", changes)
    added = itertools.count()
    acts: list[Callable[[], object]] = [
        lambda: add_commits(root, [Change(f"Add more{(n := next(added))}", {"src/more.py": f"more = {n}\n"})]),
        lambda: git(root, "repack", "-adq"),
        lambda: git(root, "gc", "-q", "--prune=now"),
        lambda: unpack(root),
        lambda: git(root, "prune-packed", "-q"),
        lambda: git(root, "repack", "-dq"),
    ]
    (tmp_path / "kept").mkdir()
    with repeating(acts):
        for number in range(40):
            folder = tmp_path / "kept" if number % 2 else tmp_path / f"new{number}"
            folder.mkdir(exist_ok=True)
            with contextlib.suppress(DowseError), open_history(root, folder, Settings()) as history:
                search_history(history, "word7", HistoryOptions())
    total = int(git(root, "rev-list", "--count", "main"))
    with open_history(root, tmp_path / "kept", Settings()) as history:
        coverage = history.update(60)
        assert (coverage.read, coverage.unreadable, coverage.problem) == (total, 0, "")
        for number in (0, 7, 199):
            answer = search_history(history, f"word{number}", HistoryOptions())
            assert answer.hits[0].subject == f"Change word{number}"


def unpack(root: Path) -> None:
    """Make loose objects of those of a pack, which is removed."""
    folder = root / ".git" / "objects" / "pack"
    for pack in folder.glob("*.pack"):
        moved = root / pack.name
        pack.rename(moved)
        for other in folder.glob(f"{pack.stem}.*"):
            other.unlink()
        with moved.open("rb") as stream:
            subprocess.run(["git", "-C", str(root), "unpack-objects", "-q"], stdin=stream, check=True)
        moved.unlink()
