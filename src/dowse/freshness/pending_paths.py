"""The paths that may differ from the index and wait to be looked at; they survive a restart."""

import contextlib
import json
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from dowse.errors import DowseError, SettingsError
from dowse.freshness.watcher import EVERYWHERE
from dowse.platform import write_atomically
from dowse.settings import read_json

PENDING_FILE = "dirty-files.json"

MAX_PATHS = 5000
"""With more, everything is looked at."""


class ChangeTimes(NamedTuple):
    """When a path was first and last said to have changed."""

    first: float
    last: float


class PendingPaths:
    """Pending paths. Several threads add and take; what changes while it is worked on stays."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / PENDING_FILE
        self._lock = threading.Lock()
        self._paths: dict[str, ChangeTimes] = {}
        self._saved: set[str] = set()

    def load(self, now: float) -> None:
        """Take up what was pending when the last process ended."""
        self._saved = set(read_pending_paths(self._file.parent))
        self.add(self._saved, now)

    def add(self, paths: Iterable[str], now: float) -> None:
        """Paths that may have changed now."""
        with self._lock:
            for path in paths:
                known = self._paths.get(path)
                self._paths[path] = ChangeTimes(known.first if known else now, now)
            if len(self._paths) > MAX_PATHS:
                self._paths = {EVERYWHERE: ChangeTimes(min(times.first for times in self._paths.values()), now)}

    def pending(self) -> dict[str, ChangeTimes]:
        """What waits, as it is now."""
        with self._lock:
            return dict(self._paths)

    def done(self, paths: Mapping[str, ChangeTimes]) -> None:
        """These were looked at; one that changed again since stays."""
        with self._lock:
            for path, times in paths.items():
                if self._paths.get(path) == times:
                    del self._paths[path]

    def save(self) -> None:
        """Write what waits, if it is not what is written."""
        paths = set(self.pending())
        if paths != self._saved and self._file.parent.is_dir():
            with contextlib.suppress(DowseError, OSError):  # a scan at the next start finds the same
                text = json.dumps({"version": 1, "files": [path or "." for path in sorted(paths)]}, indent=1)
                write_atomically(self._file, text.encode("utf-8", "surrogateescape"))
                self._saved = paths


def read_pending_paths(folder: Path) -> list[str]:
    """What another process has written as pending; nothing where that makes no sense."""
    try:
        files = read_json(folder / PENDING_FILE)["files"]
        return [EVERYWHERE if path == "." else path for path in files if isinstance(path, str)]
    except (SettingsError, KeyError, TypeError):
        return []
