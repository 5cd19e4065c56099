"""File change events: which paths the watchers of all systems name, and when everything has to be scanned."""

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dowse.errors import CannotWatch
from dowse.indexes.freshness.tree_watcher import TreeWatcher, Watcher
from dowse.keeping.watched_index import start_watcher

WAIT_SECONDS = 10.0

Watch = Callable[[], Watcher]


def wait_for_paths(watcher: Watcher, wanted: set[str]) -> set[str]:
    """Return the reported paths once all expected ones are among them, or after a timeout."""
    found, deadline = set[str](), time.monotonic() + WAIT_SECONDS
    while not wanted <= found and time.monotonic() < deadline:
        watcher.wait(0.2, threading.Event())
        found |= set(watcher.drain())
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src" / "inner").mkdir(parents=True)
    (tmp_path / "node_modules").mkdir()
    return tmp_path


@pytest.fixture(params=[start_watcher, TreeWatcher])
def watch(root: Path, request: pytest.FixtureRequest) -> Iterator[Watch]:
    """A function that watches the root, as this system does and as systems do where one watch covers a tree."""
    watchers: list[Watcher] = []

    def start() -> Watcher:
        watchers.append(request.param(root))
        return watchers[-1]

    yield start
    for watcher in watchers:
        watcher.close()


def test_changes_in_watched_folders_are_told_by_relative_path(root: Path, watch: Watch) -> None:
    watcher = watch()
    watcher.extend(["src"])
    (root / "a.py").write_text("a", encoding="utf-8")
    (root / "src" / "ö b.py").write_text("b", encoding="utf-8")
    assert wait_for_paths(watcher, {"a.py", "src/ö b.py"}) == {"a.py", "src/ö b.py"}
    (root / "a.py").unlink()
    assert wait_for_paths(watcher, {"a.py"}) == {"a.py"}


@pytest.mark.skipif(sys.platform != "linux", reason="there a whole tree is one watch")
def test_folders_that_are_never_read_are_not_watched(root: Path) -> None:
    watcher = start_watcher(root)
    watcher.extend(["src"])
    (root / "node_modules" / "x.js").write_text("x", encoding="utf-8")
    (root / "b.py").write_text("b", encoding="utf-8")
    assert wait_for_paths(watcher, {"b.py"}) == {"b.py"}
    watcher.close()


def test_a_folder_that_comes_or_goes_is_told(
    root: Path, watch: Watch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    watcher = watch()
    watcher.extend(["src", "src/inner"])
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.move(root / "src", elsewhere / "src")
    assert "src" in wait_for_paths(watcher, {"src"})
    shutil.move(elsewhere / "src", root / "back")
    assert "back" in wait_for_paths(watcher, {"back"})


def test_what_was_told_is_not_told_again(root: Path, watch: Watch) -> None:
    watcher = watch()
    (root / "a.py").write_text("a", encoding="utf-8")
    assert wait_for_paths(watcher, {"a.py"}) == {"a.py"}
    assert watcher.drain() == []


def test_waiting_ends_when_it_is_told_to(watch: Watch) -> None:
    watcher, stop = watch(), threading.Event()
    stop.set()
    assert not watcher.wait(60.0, stop)
    assert watcher.drain() == []


def test_a_closed_watcher_does_not_pretend_that_nothing_has_changed(watch: Watch) -> None:
    watcher = watch()
    watcher.close()
    with pytest.raises(CannotWatch):
        watcher.drain()


def test_a_root_that_does_not_exist_cannot_be_watched(tmp_path: Path) -> None:
    with pytest.raises(CannotWatch):
        start_watcher(tmp_path / "nowhere")
