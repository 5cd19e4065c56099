"""The paths that may differ from the index and wait to be checked. They survive a restart."""

import contextlib
import json
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from dowse.errors import DowseError, SettingsError
from dowse.indexes.freshness.tree_watcher import EVERYWHERE
from dowse.settings import Settings, read_json
from dowse.system.platform import write_atomically

PENDING_FILE = "dirty-files.json"

MAX_PATHS = 5000
"""With more pending paths, everything is checked."""


class ChangeTimes(NamedTuple):
    """The times at which a path was first and last reported as changed."""

    first: float
    last: float


class PendingPaths:
    """The pending paths of one index. It is thread-safe, and a path that changes while it is processed stays pending."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / PENDING_FILE
        self._lock = threading.Lock()
        self._paths: dict[str, ChangeTimes] = {}
        self._saved: set[str] = set()

    def load(self, now: float) -> None:
        """Load the paths that were pending when the last process ended."""
        self._saved = set(read_pending_paths(self._file.parent))
        self.add(self._saved, now)

    def add(self, paths: Iterable[str], now: float) -> None:
        """Add paths that may have changed now."""
        with self._lock:
            for path in paths:
                known = self._paths.get(path)
                self._paths[path] = ChangeTimes(known.first if known else now, now)
            if len(self._paths) > MAX_PATHS:
                self._paths = {EVERYWHERE: ChangeTimes(min(times.first for times in self._paths.values()), now)}

    def pending(self) -> dict[str, ChangeTimes]:
        with self._lock:
            return dict(self._paths)

    def remove(self, paths: Mapping[str, ChangeTimes]) -> None:
        """Remove paths that were checked; a path that changed again since then stays."""
        with self._lock:
            for path, times in paths.items():
                if self._paths.get(path) == times:
                    del self._paths[path]

    def save(self) -> None:
        """Write the pending paths to the file, unless it already has them."""
        paths = set(self.pending())
        if paths != self._saved and self._file.parent.is_dir():
            with contextlib.suppress(DowseError, OSError):  # a scan at the next start finds the same paths
                text = json.dumps({"version": 1, "files": [path or "." for path in sorted(paths)]}, indent=1)
                write_atomically(self._file, text.encode("utf-8", "surrogateescape"))
                self._saved = paths


def read_pending_paths(folder: Path) -> list[str]:
    """Return the pending paths that another process has written; none when the file is invalid."""
    try:
        files = read_json(folder / PENDING_FILE)["files"]
        return [EVERYWHERE if path == "." else path for path in files if isinstance(path, str)]
    except (SettingsError, KeyError, TypeError):
        return []


QUIET_SECONDS = 0.5
"""A changed path is not read until it has been unchanged for this long: a program may still be writing it."""
MAX_DELAY_SECONDS = 2.0
"""A path that keeps changing is read after this time anyway; other paths do not wait for it."""


def due_paths(
    settings: Settings,
    pending: Mapping[str, ChangeTimes],
    now: float,
    *,
    has_head_moved: bool = False,
    is_searching: bool = False,
) -> dict[str, ChangeTimes]:
    """Return the pending paths that have to be checked now.

    `has_head_moved` is true when git has checked out a commit, `is_searching` when a search waits.
    """
    if not pending:
        return {}
    if settings.indexing_strategy == "realtime":
        return {path: times for path, times in pending.items() if is_searching or _is_due(times, now)}
    if settings.indexing_strategy == "lazy":
        idle = now - max(times.last for times in pending.values())
        return dict(pending) if is_searching or idle >= settings.lazy_idle_threshold else {}
    return dict(pending) if has_head_moved else {}


def _is_due(times: ChangeTimes, now: float) -> bool:
    return now - times.last >= QUIET_SECONDS or now - times.first >= MAX_DELAY_SECONDS
