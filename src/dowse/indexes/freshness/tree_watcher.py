"""The watcher on macOS and Windows, where one watch covers a whole tree.

Its events come with a delay, and watchfiles does not report lost ones. After a burst of events all files are scanned.
"""

import contextlib
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from dowse.errors import CannotWatch

EVERYWHERE = ""
"""The path of the root: anything below it may have changed."""

STEP_SECONDS = 0.1
"""How long a thread that waits lets events collect; they are at most this old when it takes them."""


class Watcher(Protocol):
    """A watch on the folders of one root. Several threads may use it."""

    @property
    def is_exact(self) -> bool:
        """Whether `drain` names every change that ended before it was called."""
        ...

    def extend(self, folders: Iterable[str]) -> bool:
        """Watch more folders, and return whether one of them is new. Changes before that are not reported."""
        ...

    def wait(self, seconds: float, stop: threading.Event) -> bool:
        """Wait for changes, and return whether there are any; not when the time is over or `stop` is set."""
        ...

    def drain(self) -> list[str]:
        """Return the paths that have changed since the last call, without waiting. Raise CannotWatch after `close`."""
        ...

    def close(self) -> None:
        """Stop watching."""
        ...


BURST_PATHS = 1000
"""With more paths at once, some were probably lost, and a full scan also takes less time."""

_STEP_MS = round(STEP_SECONDS * 1000)
_DRAIN_MS = 1
"""How often watchfiles wakes up: while a thread waits for changes, and for a caller that waits for an answer."""


class TreeWatcher:
    """A watch on everything below a root."""

    is_exact = False

    def __init__(self, root: Path) -> None:
        from watchfiles._rust_notify import RustNotify  # here because only servers need it; it takes 70 ms and 5 MB

        self._root = str(root)
        self._lock = threading.Lock()
        self._changed: set[str] = set()
        """Absolute paths that have changed since the last call of `drain`."""
        try:
            # With its option to ignore unreadable folders, watchfiles would also ignore an exhausted limit.
            self._notify = RustNotify([self._root], False, False, 300, True, False)  # noqa: FBT003 - its signature
        except (OSError, RuntimeError, UnicodeError) as error:  # a path may not be Unicode
            raise CannotWatch(str(error)) from error

    def extend(self, folders: Iterable[str]) -> bool:  # noqa: ARG002 - every folder is watched
        """Return False: no folder is new."""
        return False

    def wait(self, seconds: float, stop: threading.Event) -> bool:
        self._collect(_STEP_MS, round(seconds * 1000), stop)
        return bool(self._changed)

    def drain(self) -> list[str]:
        self._collect(_DRAIN_MS, _DRAIN_MS, None)
        with self._lock:
            changed, self._changed = self._changed, set()
        return [EVERYWHERE] if len(changed) > BURST_PATHS else self._relative(changed)

    def close(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._notify.close()

    def _collect(self, step_ms: int, timeout_ms: int, stop: threading.Event | None) -> None:
        try:
            changes = self._notify.watch(2 * step_ms, step_ms, timeout_ms, stop)
        except RuntimeError as error:  # it was closed meanwhile
            raise CannotWatch("Watching has ended.") from error
        with self._lock:
            self._changed |= set() if isinstance(changes, str) else {path for _, path in changes}

    def _relative(self, paths: Iterable[str]) -> list[str]:
        start = len(self._root) + 1
        return sorted({path[start:].replace(os.sep, "/") for path in paths if path.startswith(self._root)})
