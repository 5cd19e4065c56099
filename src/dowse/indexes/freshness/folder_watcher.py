"""The watcher on Linux: one watch for each folder that a walk enters, and a queue that any thread can empty.

A folder has to be watched before it is listed. Then a change in it is either seen by the walk or reported.

The kernel puts an event into its queue before the call that changes a file returns. Whoever empties the queue therefore
knows every change that ended before, and the kernel says when the queue was too small.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import select
import struct
import termios
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from dowse.errors import CannotWatch
from dowse.indexes.freshness.tree_watcher import EVERYWHERE, STEP_SECONDS

MODIFY = 0x2
ATTRIB = 0x4
CLOSE_WRITE = 0x8
MOVED_FROM = 0x40
MOVED_TO = 0x80
CREATE = 0x100
DELETE = 0x200
QUEUE_OVERFLOW = 0x4000
IGNORED = 0x8000
"""The watch has ended: its folder was deleted or unmounted, or `remove` was called."""
IS_FOLDER = 0x40000000

_ONLY_FOLDERS = 0x01000000
_DO_NOT_FOLLOW = 0x02000000
_NOT_UNLINKED = 0x04000000
_WATCHED = MODIFY | ATTRIB | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE
_MASK = _WATCHED | _ONLY_FOLDERS | _DO_NOT_FOLLOW | _NOT_UNLINKED

_HEADER = struct.Struct("iIII")
_MAX_EVENT_BYTES = _HEADER.size + 256
_UNAVAILABLE = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG)
"""The folder does not exist any more, is not a folder any more, or may not be read."""


class InotifyEvent(NamedTuple):
    """One change: the number of the watch, what happened, and the name in the watched folder."""

    watch: int
    mask: int
    name: bytes


class Inotify:
    """One queue of events, and the folders whose changes it gets. It is not thread-safe."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        self._library.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
        self._descriptor = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            number = ctypes.get_errno()
            if number in (errno.EMFILE, errno.ENFILE):
                raise CannotWatch("OS file watch limit reached. Raise fs.inotify.max_user_instances.")
            raise CannotWatch(os.strerror(number))

    def add(self, path: bytes) -> int | None:
        """Watch a folder and return the number of the watch; None for a path that is no folder that can be read.

        A folder that is watched already keeps its number, even if it was moved.
        """
        watch = int(self._library.inotify_add_watch(self._descriptor, path, _MASK))
        if watch >= 0:
            return watch
        number = ctypes.get_errno()
        if number in _UNAVAILABLE:
            return None
        if number == errno.ENOSPC:
            raise CannotWatch("OS file watch limit reached. Raise fs.inotify.max_user_watches.")
        raise CannotWatch(os.strerror(number))

    def remove(self, watch: int) -> None:
        """End a watch."""
        self._library.inotify_rm_watch(self._descriptor, watch)

    def wait(self, seconds: float) -> bool:
        """Wait until there are events, and return whether there are."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def read(self) -> list[InotifyEvent]:
        """Return all events in the queue, without waiting."""
        (left,) = struct.unpack("i", fcntl.ioctl(self._descriptor, termios.FIONREAD, bytes(4)))
        events: list[InotifyEvent] = []
        while left > 0:
            try:
                data = os.read(self._descriptor, left + _MAX_EVENT_BYTES)
            except BlockingIOError:
                break
            left -= len(data)
            events += _parse(data)
        return events

    def close(self) -> None:
        """End all watches."""
        os.close(self._descriptor)


def _parse(data: bytes) -> list[InotifyEvent]:
    events, start = [], 0
    while start < len(data):
        watch, mask, _, length = _HEADER.unpack_from(data, start)
        end = start + _HEADER.size + length
        events.append(InotifyEvent(watch, mask, data[start + _HEADER.size : end].rstrip(b"\0")))
        start = end
    return events


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
