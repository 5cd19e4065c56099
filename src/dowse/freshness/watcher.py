"""File change events below a root. They are only hints: a scan of the files decides what has changed.

watchfiles does not report lost events, so after a burst of events all files are scanned. (Of 300 files
written into new nested folders, its recursive watch missed 114, so each folder gets its own watch and
every new folder is scanned.)
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import CannotWatch

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

EVERYWHERE = ""
"""The path of the root: anything below it may have changed."""

BURST_PATHS = 1000
"""With more paths at once, some were probably lost, and a full scan also takes less time."""

STEP_SECONDS = 0.1
"""How often watchfiles wakes up; 100 ms take 0.25% of a core. Its events are at least one step old."""
_DRAIN_MS = 1
"""The same for a caller that waits for an answer; events up to 2 ms ago are included."""

_LINGER_SECONDS = 1.0
_MAX_REPLACED = 4
"""How long, and how many, replaced watches are still read: they report their events with a delay."""
_START_ATTEMPTS = 20
"""How often starting a watch is tried while folders disappear."""

_WATCHES_RECURSIVELY = sys.platform in ("darwin", "win32")
"""On these systems one watch covers a whole tree. On Linux each folder has a watch; folders that are never read have
none."""


class Watcher:
    """A watch on the folders of one root that a walk enters."""

    def __init__(self, root: Path, folders: Iterable[str]) -> None:
        self._root = str(root)
        self._lock = threading.Lock()
        self.folders = set(folders)
        self._reported: set[str] = set()
        """The paths that were reported since folders were last added."""
        self._replaced: list[tuple[float, RustNotify]] = []
        self._is_closed = False
        self._notify = self._start(self.folders)

    def wait(self, seconds: float, stop: threading.Event) -> list[str]:
        """Wait for changes and return their paths; none when the time is over or `stop` is set."""
        return self._changed(round(STEP_SECONDS * 1000), round(seconds * 1000), stop)

    def drain(self) -> list[str]:
        """Return the paths that have changed up to now, without waiting."""
        return self._changed(_DRAIN_MS, _DRAIN_MS, None)

    def extend(self, folders: Iterable[str]) -> bool:
        """Watch more folders, and return whether one of them is new. The caller has to scan new folders for earlier changes."""
        with self._lock:
            new = set(folders) - self.folders
            folders_to_watch = self.folders | new
            self._reported.clear()
        if not new:
            return False
        started = self._start(folders_to_watch)
        with self._lock:
            self._replaced.append((time.monotonic(), self._notify))
            self._notify = started
            self.folders |= new
            self._forget(self._reported)
        return True

    def close(self) -> None:
        """Stop watching."""
        with self._lock:
            self._is_closed = True
            watches = [self._notify, *(notify for _, notify in self._replaced)]
        for notify in watches:
            with contextlib.suppress(RuntimeError):
                notify.close()

    def _start(self, folders: Iterable[str]) -> "RustNotify":
        from watchfiles._rust_notify import RustNotify  # here because only servers need it; it takes 70 ms and 5 MB

        for attempt in range(_START_ATTEMPTS):
            paths = [self._root] if _WATCHES_RECURSIVELY else self._readable_paths(folders)
            try:
                # With its option to ignore unreadable folders, watchfiles would also ignore an exhausted limit.
                return RustNotify(paths, False, False, 300, _WATCHES_RECURSIVELY, False)  # noqa: FBT003 - its signature
            except (OSError, RuntimeError, UnicodeError) as error:  # a path may not be Unicode
                is_gone = isinstance(error, FileNotFoundError | PermissionError)
                if not is_gone or attempt == _START_ATTEMPTS - 1:
                    raise CannotWatch(str(error)) from error
        raise AssertionError

    def _readable_paths(self, folders: Iterable[str]) -> list[str]:
        """Return the paths of the folders that exist and can be read; others cannot be watched."""
        paths = (f"{self._root}/{folder}" for folder in sorted(folders))
        return [path for path in paths if os.access(f"{path}/", os.R_OK)]

    def _changed(self, step_ms: int, timeout_ms: int, stop: threading.Event | None) -> list[str]:
        with self._lock:
            notify = self._notify
        try:
            changes = _read_changes(notify, step_ms, timeout_ms, stop)
        except RuntimeError:  # closed meanwhile, or broken by a name that is not Unicode
            self._replace_broken(notify)
            changes = {self._root}
        changes |= self._drain_replaced()
        paths = [EVERYWHERE] if len(changes) > BURST_PATHS else self._relative(changes)
        with self._lock:
            self._reported.update(paths)
            self._forget(paths)
        return paths

    def _replace_broken(self, broken: "RustNotify") -> None:
        """Replace a broken watch, unless another thread has done so."""
        with self._lock:
            if self._is_closed:
                raise CannotWatch("Watching has ended.")
            if broken is self._notify:
                self._notify = self._start(self.folders)
                broken.close()

    def _drain_replaced(self) -> set[str]:
        """Return the changes that recently replaced watches report, and close the old ones."""
        with self._lock:
            replaced = list(self._replaced)
        changes = set[str]()
        for number, (since, notify) in enumerate(replaced):
            is_old = time.monotonic() - since > _LINGER_SECONDS or number < len(replaced) - _MAX_REPLACED
            try:
                changes |= _read_changes(notify, _DRAIN_MS, _DRAIN_MS, None)
            except RuntimeError:
                changes.add(self._root)
                is_old = True
            if is_old:
                with self._lock:
                    self._replaced = [pair for pair in self._replaced if pair[1] is not notify]
                notify.close()
        return changes

    def _forget(self, paths: Iterable[str]) -> None:
        """Stop counting changed folders as watched: they may have been replaced and need a new watch."""
        for path in self.folders.intersection(paths):
            beginning = f"{path}/" if path else ""
            self.folders = {folder for folder in self.folders if not f"{folder}/".startswith(beginning)}

    def _relative(self, paths: Iterable[str]) -> list[str]:
        start = len(self._root) + 1
        return sorted({path[start:].replace(os.sep, "/") for path in paths if path.startswith(self._root)})


def _read_changes(notify: "RustNotify", step_ms: int, timeout_ms: int, stop: threading.Event | None) -> set[str]:
    changes = notify.watch(2 * step_ms, step_ms, timeout_ms, stop)
    return set() if isinstance(changes, str) else {path for _, path in changes}
