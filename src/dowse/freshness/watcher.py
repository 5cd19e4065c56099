"""What the system says has changed below a root. A hint only: the truth is what a look at the files finds.

watchfiles says nothing of events that were lost, so a burst counts as "look everywhere" (DESIGN: of
300 files written into fresh nested folders it missed 114; we watch each folder by itself and look
into every new one).
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
"""The path of the root: whatever is below it may have changed."""

BURST_PATHS = 1000
"""With more paths than this at once some were probably lost; looking everywhere takes less time, too."""

STEP_SECONDS = 0.1
"""How often watchfiles wakes up; at 100 ms that takes 0.25% of a core. What it tells happened a step ago, or longer."""
_DRAIN_MS = 1
"""The same for somebody who waits for an answer: what happened 2 ms ago is known."""

_LINGER_SECONDS = 1.0
_MAX_REPLACED = 4
"""How long, and how many of, those that were replaced are still listened to: they tell what they saw with a delay."""
_START_ATTEMPTS = 20
"""How often watching is tried while folders go away at that very moment."""

_WATCHES_RECURSIVELY = sys.platform in ("darwin", "win32")
"""There a whole tree is one watch. On Linux each folder is one, and folders that are never read get none."""


class Watcher:
    """Watches the folders of one root, those that a walk enters."""

    def __init__(self, root: Path, folders: Iterable[str]) -> None:
        self._root = str(root)
        self._lock = threading.Lock()
        self.folders = set(folders)
        self._told: set[str] = set()
        """What was told since folders were last added."""
        self._replaced: list[tuple[float, RustNotify]] = []
        self._is_closed = False
        self._notify = self._start(self.folders)

    def wait(self, seconds: float, stop: threading.Event) -> list[str]:
        """The paths that changed, as soon as some did; none when the time is over or `stop` is set."""
        return self._changed(round(STEP_SECONDS * 1000), round(seconds * 1000), stop)

    def drain(self) -> list[str]:
        """The paths that changed up to now, without waiting."""
        return self._changed(_DRAIN_MS, _DRAIN_MS, None)

    def extend(self, folders: Iterable[str]) -> bool:
        """Watch more folders; whether there was one that is new. Whatever happened in it before has to be looked for."""
        with self._lock:
            new = set(folders) - self.folders
            wanted = self.folders | new
            self._told.clear()
        if not new:
            return False
        started = self._start(wanted)
        with self._lock:
            self._replaced.append((time.monotonic(), self._notify))
            self._notify = started
            self.folders |= new
            self._forget(self._told)
        return True

    def close(self) -> None:
        """Stop watching."""
        with self._lock:
            self._is_closed = True
            every = [self._notify, *(notify for _, notify in self._replaced)]
        for notify in every:
            with contextlib.suppress(RuntimeError):
                notify.close()

    def _start(self, folders: Iterable[str]) -> "RustNotify":
        from watchfiles._rust_notify import RustNotify  # 70 ms and 5 MB, for servers alone

        for attempt in range(_START_ATTEMPTS):
            paths = [self._root] if _WATCHES_RECURSIVELY else self._there(folders)
            try:
                # Told to ignore what may not be read, watchfiles ignores an exhausted limit as well.
                return RustNotify(paths, False, False, 300, _WATCHES_RECURSIVELY, False)  # noqa: FBT003 - its signature
            except (OSError, RuntimeError, UnicodeError) as error:  # a path of ours may be no Unicode
                is_gone = isinstance(error, FileNotFoundError | PermissionError)
                if not is_gone or attempt == _START_ATTEMPTS - 1:
                    raise CannotWatch(str(error)) from error
        raise AssertionError

    def _there(self, folders: Iterable[str]) -> list[str]:
        """The folders that are there and can be read: others cannot be watched."""
        paths = (f"{self._root}/{folder}" for folder in sorted(folders))
        return [path for path in paths if os.access(f"{path}/", os.R_OK)]

    def _changed(self, step_ms: int, timeout_ms: int, stop: threading.Event | None) -> list[str]:
        with self._lock:
            notify = self._notify
        try:
            changes = _read_changes(notify, step_ms, timeout_ms, stop)
        except RuntimeError:  # closed meanwhile; or, after a name that is no Unicode, of no use any more
            self._begin_anew(notify)
            changes = {self._root}
        changes |= self._last_words()
        paths = [EVERYWHERE] if len(changes) > BURST_PATHS else self._relative(changes)
        with self._lock:
            self._told.update(paths)
            self._forget(paths)
        return paths

    def _begin_anew(self, broken: "RustNotify") -> None:
        """Replace one that fails, unless that was done already."""
        with self._lock:
            if self._is_closed:
                raise CannotWatch("Watching has ended.")
            if broken is self._notify:
                self._notify = self._start(self.folders)
                broken.close()

    def _last_words(self) -> set[str]:
        """What those have seen that were replaced a moment ago."""
        with self._lock:
            replaced = list(self._replaced)
        changes = set[str]()
        for at, (since, notify) in enumerate(replaced):
            is_old = time.monotonic() - since > _LINGER_SECONDS or at < len(replaced) - _MAX_REPLACED
            try:
                changes |= _read_changes(notify, _DRAIN_MS, _DRAIN_MS, None)
            except RuntimeError:
                changes.add(self._root)
                is_old = True
            if is_old:
                with self._lock:
                    self._replaced = [one for one in self._replaced if one[1] is not notify]
                notify.close()
        return changes

    def _forget(self, paths: Iterable[str]) -> None:
        """A folder that something happened to may be another one by now, and is to be watched anew."""
        for path in self.folders.intersection(paths):
            beginning = f"{path}/" if path else ""
            self.folders = {folder for folder in self.folders if not f"{folder}/".startswith(beginning)}

    def _relative(self, paths: Iterable[str]) -> list[str]:
        start = len(self._root) + 1
        return sorted({path[start:].replace(os.sep, "/") for path in paths if path.startswith(self._root)})


def _read_changes(notify: "RustNotify", step_ms: int, timeout_ms: int, stop: threading.Event | None) -> set[str]:
    changes = notify.watch(2 * step_ms, step_ms, timeout_ms, stop)
    return set() if isinstance(changes, str) else {path for _, path in changes}
