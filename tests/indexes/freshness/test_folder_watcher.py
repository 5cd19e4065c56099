"""The watcher on Linux knows every change that ended before it was asked, or says that it lost some."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")

if sys.platform == "linux":
    from dowse.indexes.freshness.folder_watcher import FolderWatcher


@pytest.fixture
def watcher(tmp_path: Path) -> "Iterator[FolderWatcher]":
    """A watcher of a root with the folders `src` and `src/inner`."""
    (tmp_path / "src" / "inner").mkdir(parents=True)
    watcher = FolderWatcher(tmp_path)
    watcher.extend(["src", "src/inner"])
    yield watcher
    watcher.close()


def write(file: Path) -> None:
    file.write_text("x", encoding="utf-8")


def test_every_change_that_ended_is_known_at_once(tmp_path: Path, watcher: "FolderWatcher") -> None:
    for number in range(200):
        name = f"{number % 3}.py"
        write(tmp_path / "src" / name)
        assert watcher.drain() == [f"src/{name}"]
        os.replace(tmp_path / "src" / name, tmp_path / "src" / "renamed.py")
        assert watcher.drain() == [f"src/{name}", "src/renamed.py"]
        os.truncate(tmp_path / "src" / "renamed.py", 0)
        assert watcher.drain() == ["src/renamed.py"]
        (tmp_path / "src" / "renamed.py").unlink()
        assert watcher.drain() == ["src/renamed.py"]
    assert watcher.drain() == []


def test_a_moved_folder_reports_under_its_new_path_once_it_is_watched_there(
    tmp_path: Path, watcher: "FolderWatcher"
) -> None:
    (tmp_path / "src").rename(tmp_path / "lib")
    write(tmp_path / "lib" / "inner" / "a.py")
    assert {"src", "lib"} <= set(watcher.drain())
    write(tmp_path / "lib" / "inner" / "a.py")
    assert watcher.drain() == []
    assert watcher.extend(["lib", "lib/inner"])
    write(tmp_path / "lib" / "inner" / "a.py")
    assert watcher.drain() == ["lib/inner/a.py"]


def test_a_moved_folder_that_was_found_before_its_events_were_read_keeps_its_watch(
    tmp_path: Path, watcher: "FolderWatcher"
) -> None:
    (tmp_path / "src").rename(tmp_path / "lib")
    watcher.extend(["lib", "lib/inner"])
    watcher.drain()
    write(tmp_path / "lib" / "inner" / "a.py")
    assert watcher.drain() == ["lib/inner/a.py"]


def test_folders_that_cannot_be_watched_are_left_out(tmp_path: Path, watcher: "FolderWatcher") -> None:
    write(tmp_path / "file")
    (tmp_path / "link").symlink_to("src")
    assert not watcher.extend(["missing", "file", "link"])
