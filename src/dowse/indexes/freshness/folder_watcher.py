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
"""The watch has ended: its folder was deleted or unmounted, or the watch was removed."""
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


class FolderWatcher:
    """A watch on the root, and on the folders below it that `extend` names."""

    is_exact = True

    def __init__(self, root: Path) -> None:
        self._root = os.fsencode(root)
        self._lock = threading.Lock()
        self._folders: dict[int, str] = {}
        """The path of each watched folder, by the number of its watch."""
        self._is_closed = False
        self._library = ctypes.CDLL(None, use_errno=True)
        self._library.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
        self._queue = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._queue < 0:
            raise _cannot_watch("max_user_instances", errno.EMFILE, errno.ENFILE)
        try:
            if not self.extend([EVERYWHERE]):
                raise CannotWatch(f"{root} cannot be read.")
        except CannotWatch:
            self.close()
            raise

    def extend(self, folders: Iterable[str]) -> bool:
        """Watch more folders, and return whether one of them is new; folders that cannot be read are left out."""
        has_new = False
        with self._opened():
            for folder in (folder.rstrip("/") for folder in folders):
                path = self._root + b"/" + os.fsencode(folder)
                number = int(self._library.inotify_add_watch(self._queue, path, _MASK))
                if number >= 0:
                    has_new |= number not in self._folders
                    self._folders[number] = folder  # a folder that was moved keeps its number
                elif ctypes.get_errno() not in _UNAVAILABLE:
                    raise _cannot_watch("max_user_watches", errno.ENOSPC)
        return has_new

    def wait(self, seconds: float, stop: threading.Event) -> bool:
        poll, deadline = select.poll(), time.monotonic() + seconds
        poll.register(self._queue, select.POLLIN)
        while not stop.is_set() and (left := deadline - time.monotonic()) > 0:
            if poll.poll(min(left, STEP_SECONDS) * 1000):
                stop.wait(STEP_SECONDS)  # one save is several events
                return True
        return False

    def drain(self) -> list[str]:
        paths: set[str] = set()
        moved: set[str] = set()
        with self._opened():
            for watch, mask, name in self._read_events():
                path = self._path_of(watch, mask, name)
                if path is not None:
                    paths.add(path)
                    if mask & MOVED_FROM and mask & IS_FOLDER:
                        moved.add(path)
            if moved:
                self._forget(moved)
        return sorted(paths)

    def close(self) -> None:
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                os.close(self._queue)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[None]:
        """Keep the watcher open and other threads away from it."""
        with self._lock:
            if self._is_closed:
                raise CannotWatch("Watching has ended.")
            yield

    def _read_events(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the watch, the mask and the name of all events that are in the queue now."""
        (left,) = struct.unpack("i", fcntl.ioctl(self._queue, termios.FIONREAD, bytes(4)))
        while left > 0:
            try:
                data = os.read(self._queue, left + _MAX_EVENT_BYTES)
            except BlockingIOError:
                return
            left -= len(data)
            start = 0
            while start < len(data):
                watch, mask, _, length = _HEADER.unpack_from(data, start)
                end = start + _HEADER.size + length
                yield watch, mask, data[start + _HEADER.size : end].rstrip(b"\0")
                start = end

    def _path_of(self, watch: int, mask: int, name: bytes) -> str | None:
        """Return the path that an event names; None for one that says nothing."""
        if mask & QUEUE_OVERFLOW:
            return EVERYWHERE
        folder = self._folders.pop(watch, None) if mask & IGNORED else self._folders.get(watch)
        if folder is None or not name:
            return folder
        try:
            return f"{folder}/{name.decode()}" if folder else name.decode()
        except UnicodeDecodeError:  # such a file is never indexed
            return None

    def _forget(self, moved: set[str]) -> None:
        """End the watches of moved folders: they would report changes under the old path. A scan watches them again."""
        for number, folder in list(self._folders.items()):
            if not moved.isdisjoint(_path_and_parents(folder)):
                del self._folders[number]
                self._library.inotify_rm_watch(self._queue, number)


def _cannot_watch(setting: str, *reached: int) -> CannotWatch:
    """Return why the last call failed: a limit of the system was reached, or another reason."""
    number = ctypes.get_errno()
    is_limit = number in reached
    return CannotWatch(f"OS file watch limit reached. Raise fs.inotify.{setting}." if is_limit else os.strerror(number))


def _path_and_parents(path: str) -> Iterable[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]
