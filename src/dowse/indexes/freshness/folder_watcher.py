"""The watcher on Linux: one watch for each folder that a walk enters, and a queue that any thread can empty.

A folder has to be watched before it is listed. Then a change in it is either seen by the walk or reported.
"""

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from dowse.errors import CannotWatch
from dowse.indexes.freshness.inotify import IGNORED, IS_FOLDER, MOVED_FROM, QUEUE_OVERFLOW, Inotify, InotifyEvent
from dowse.indexes.freshness.tree_watcher import EVERYWHERE, STEP_SECONDS


class FolderWatcher:
    """A watch on the root, and on the folders below it that `extend` names."""

    is_exact = True

    def __init__(self, root: Path) -> None:
        self._root = os.fsencode(root)
        self._lock = threading.Lock()
        self._folders: dict[int, str] = {}
        """The path of each watched folder, by the number of its watch."""
        self._is_closed = False
        self._inotify = Inotify()
        try:
            if not self.extend([EVERYWHERE]):
                raise CannotWatch(f"{root} cannot be read.")
        except CannotWatch:
            self._inotify.close()
            raise

    def extend(self, folders: Iterable[str]) -> bool:
        """Watch more folders, and return whether one of them is new; folders that cannot be read are left out."""
        has_new = False
        with self._opened():
            for folder in (folder.rstrip("/") for folder in folders):
                number = self._inotify.add(self._root + b"/" + os.fsencode(folder))
                if number is not None:
                    has_new |= number not in self._folders
                    self._folders[number] = folder  # a folder that was moved keeps its number
        return has_new

    def wait(self, seconds: float, stop: threading.Event) -> bool:
        deadline = time.monotonic() + seconds
        while not stop.is_set() and (left := deadline - time.monotonic()) > 0:
            if self._inotify.wait(min(left, STEP_SECONDS)):
                stop.wait(STEP_SECONDS)  # one save is several events
                return True
        return False

    def drain(self) -> list[str]:
        paths: set[str] = set()
        moved: set[str] = set()
        with self._opened():
            for event in self._inotify.read():
                path = self._path_of(event)
                if path is not None:
                    paths.add(path)
                    if event.mask & MOVED_FROM and event.mask & IS_FOLDER:
                        moved.add(path)
            if moved:
                self._forget(moved)
        return sorted(paths)

    def close(self) -> None:
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._inotify.close()

    @contextlib.contextmanager
    def _opened(self) -> Iterator[None]:
        """Keep the watcher open and other threads away from it."""
        with self._lock:
            if self._is_closed:
                raise CannotWatch("Watching has ended.")
            yield

    def _path_of(self, event: InotifyEvent) -> str | None:
        """Return the path that an event names; None for one that says nothing."""
        if event.mask & QUEUE_OVERFLOW:
            return EVERYWHERE
        folder = self._folders.pop(event.watch, None) if event.mask & IGNORED else self._folders.get(event.watch)
        if folder is None or not event.name:
            return folder
        try:
            name = event.name.decode()
        except UnicodeDecodeError:  # such a file is never indexed
            return None
        return f"{folder}/{name}" if folder else name

    def _forget(self, moved: set[str]) -> None:
        """End the watches of moved folders: they would report changes under the old path. A scan watches them again."""
        for number, folder in list(self._folders.items()):
            if not moved.isdisjoint(_path_and_parents(folder)):
                del self._folders[number]
                self._inotify.remove(number)


def _path_and_parents(path: str) -> Iterable[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]
