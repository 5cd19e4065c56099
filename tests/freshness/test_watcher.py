"""File change events: which paths they name, and when everything has to be scanned."""

import shutil
import threading
import time
from pathlib import Path

import pytest

from dowse.errors import CannotWatch
from dowse.freshness import watcher as watcher_module
from dowse.freshness.watcher import EVERYWHERE, Watcher

WAIT_SECONDS = 10.0


def wait_for_paths(watcher: Watcher, wanted: set[str]) -> set[str]:
    """Return the reported paths once all expected ones are among them, or after a timeout."""
    found, deadline = set[str](), time.monotonic() + WAIT_SECONDS
    while not wanted <= found and time.monotonic() < deadline:
        found |= set(watcher.wait(0.2, threading.Event()))
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src" / "inner").mkdir(parents=True)
    (tmp_path / "node_modules").mkdir()
    return tmp_path


def test_changes_in_watched_folders_are_told_by_relative_path(root: Path) -> None:
    watcher = Watcher(root, ["", "src"])
    (root / "a.py").write_text("a", encoding="utf-8")
    (root / "src" / "ö b.py").write_text("b", encoding="utf-8")
    assert wait_for_paths(watcher, {"a.py", "src/ö b.py"}) == {"a.py", "src/ö b.py"}
    (root / "a.py").unlink()
    assert wait_for_paths(watcher, {"a.py"}) == {"a.py"}
    watcher.close()


@pytest.mark.skipif(watcher_module._WATCHES_RECURSIVELY, reason="there a whole tree is one watch")
def test_folders_that_are_never_read_are_not_watched(root: Path) -> None:
    watcher = Watcher(root, ["", "src"])
    (root / "node_modules" / "x.js").write_text("x", encoding="utf-8")
    (root / "b.py").write_text("b", encoding="utf-8")
    assert wait_for_paths(watcher, {"b.py"}) == {"b.py"}
    watcher.close()


def test_a_folder_that_comes_or_goes_is_told(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    watcher = Watcher(root, ["", "src", "src/inner"])
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.move(root / "src", elsewhere / "src")
    assert "src" in wait_for_paths(watcher, {"src"})
    shutil.move(elsewhere / "src", root / "back")
    assert "back" in wait_for_paths(watcher, {"back"})
    watcher.close()


def test_what_happened_a_moment_ago_is_known_without_waiting(root: Path) -> None:
    watcher = Watcher(root, [""])
    found, deadline = set[str](), time.monotonic() + WAIT_SECONDS
    (root / "a.py").write_text("a", encoding="utf-8")
    while not found and time.monotonic() < deadline:
        found |= set(watcher.drain())
    assert found == {"a.py"}
    assert watcher.drain() == []
    watcher.close()


def test_more_folders_can_be_watched(root: Path) -> None:
    watcher = Watcher(root, [""])
    assert not watcher.extend([""])
    assert watcher.extend(["src"])
    (root / "src" / "a.py").write_text("a", encoding="utf-8")
    assert "src/a.py" in wait_for_paths(watcher, {"src/a.py"})
    watcher.close()


def test_a_burst_means_look_everywhere(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher_module, "BURST_PATHS", 10)
    watcher = Watcher(root, [""])
    for number in range(50):
        (root / f"{number}.py").write_text("x", encoding="utf-8")
    assert EVERYWHERE in wait_for_paths(watcher, {EVERYWHERE})
    watcher.close()


def test_waiting_ends_when_it_is_told_to(root: Path) -> None:
    watcher, stop = Watcher(root, [""]), threading.Event()
    stop.set()
    assert watcher.wait(60.0, stop) == []
    watcher.close()


def test_where_the_system_gives_no_events_it_is_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of inotify applies to the user and cannot be lowered here, so the test raises its error."""

    def refuse(*_: object) -> None:
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr("watchfiles._rust_notify.RustNotify", refuse)
    with pytest.raises(CannotWatch, match="limit"):
        Watcher(root, [""])
