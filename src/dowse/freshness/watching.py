"""What the system says has changed below a root. A hint only: the truth is what a look at the files finds.

watchfiles says nothing of events that were lost, so a burst counts as "look everywhere" (DESIGN: of
300 files written into fresh nested folders it missed 114; we watch each folder by itself and look
into every new one).
"""

import contextlib
import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

EVERYWHERE = ""
"""The path of the root: whatever is below it may have changed."""

BURST_PATHS = 1000
"""With more paths than this at once some were probably lost; looking everywhere takes less time, too."""

STEP_SECONDS = 0.1
"""How often watchfiles wakes up; at 100 ms that takes 0.25% of a core. What it tells happened a step ago, or longer."""
_DRAIN_MS = 1
"""The same for somebody who waits for an answer: what happened 2 ms ago is known."""

_WATCHES_RECURSIVELY = sys.platform in ("darwin", "win32")
"""There a whole tree is one watch. On Linux each folder is one, and folders that are never read get none."""


class CannotWatch(Exception):
    """The system gives no events here; the message says why."""


class Watcher:
    """Watches the folders of one root, those that a walk enters."""

    def __init__(self, root: Path, folders: Iterable[str]) -> None:
        self._root = str(root)
        self._lock = threading.Lock()
        self.folders = set(folders)
        self._notify = self._start()

    def wait(self, seconds: float, stop: threading.Event) -> list[str]:
        """The paths that changed, as soon as some did; none when the time is over or `stop` is set."""
        return self._changed(round(STEP_SECONDS * 1000), round(seconds * 1000), stop)

    def drain(self) -> list[str]:
        """The paths that changed up to now, without waiting."""
        return self._changed(_DRAIN_MS, _DRAIN_MS, None)

    def extend(self, folders: Iterable[str]) -> bool:
        """Watch more folders; whether there was one that is new. Whatever happened in it before has to be looked for."""
        new = set(folders) - self.folders
        if not new:
            return False
        self.folders |= new
        self.folders = {folder for folder in self.folders if os.path.isdir(f"{self._root}/{folder}")}  # noqa: PTH112
        started = self._start()
        with self._lock:
            self._notify, old = started, self._notify
        old.close()
        return True

    def close(self) -> None:
        """Stop watching."""
        with contextlib.suppress(RuntimeError):
            self._notify.close()

    def _start(self) -> "RustNotify":
        from watchfiles._rust_notify import RustNotify  # 70 ms and 5 MB, for servers alone

        paths = [self._root] if _WATCHES_RECURSIVELY else [f"{self._root}/{folder}" for folder in sorted(self.folders)]
        try:
            return RustNotify(paths, False, False, 300, _WATCHES_RECURSIVELY, True)  # noqa: FBT003 - its signature
        except (OSError, RuntimeError) as error:
            raise CannotWatch(str(error)) from error

    def _changed(self, step_ms: int, timeout_ms: int, stop: threading.Event | None) -> list[str]:
        with self._lock:
            notify = self._notify
        try:
            changes = notify.watch(2 * step_ms, step_ms, timeout_ms, stop)
        except RuntimeError as error:
            if notify is not self._notify:  # replaced while we waited: what it had seen is looked for anyway
                return []
            raise CannotWatch(str(error)) from error
        if isinstance(changes, str):
            return []
        return [EVERYWHERE] if len(changes) > BURST_PATHS else self._relative(path for _, path in changes)

    def _relative(self, paths: Iterable[str]) -> list[str]:
        start = len(self._root) + 1
        return sorted({path[start:].replace(os.sep, "/") for path in paths if path.startswith(self._root)})
