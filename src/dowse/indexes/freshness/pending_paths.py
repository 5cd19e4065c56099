"""The paths that may differ from the index and wait to be checked, and when they are due. They survive a restart.

Events name most of them. Events can be lost, and some file systems send none, because another machine or another layer
may change files: then a whole root is checked.
"""

import contextlib
import json
import math
import os
import threading
import time
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
        self.has_added = False
        """Whether paths were added since `take_added`."""

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
                self.has_added = True
            self._limit(now)

    def take_added(self) -> dict[str, ChangeTimes]:
        """Return all pending paths if some were added since the last call, else none."""
        with self._lock:
            has_added, self.has_added = self.has_added, False
            return dict(self._paths) if has_added else {}

    def pending(self) -> dict[str, ChangeTimes]:
        with self._lock:
            return dict(self._paths)

    def remove(self, paths: Mapping[str, ChangeTimes]) -> None:
        """Remove paths that were checked; a path that changed again since then stays."""
        with self._lock:
            for path, times in paths.items():
                if self._paths.get(path) == times:
                    del self._paths[path]

    def replace(self, paths: Mapping[str, ChangeTimes], found: Iterable[str], now: float) -> dict[str, ChangeTimes]:
        """Replace paths that were compared by those that differ, and return these; a path that changed since then stays."""
        with self._lock:
            for path, times in paths.items():
                if self._paths.get(path) == times:
                    del self._paths[path]
            named = {path: paths.get(path, ChangeTimes(now, now)) for path in found if path not in self._paths}
            self._paths |= named
            return self._paths.copy() if self._limit(now) else named

    def _limit(self, now: float) -> bool:
        is_too_much = len(self._paths) > MAX_PATHS
        if is_too_much:
            self._paths = {EVERYWHERE: ChangeTimes(min(times.first for times in self._paths.values()), now)}
        return is_too_much

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
    checked_out: float = -math.inf,
    is_searching: bool = False,
) -> dict[str, ChangeTimes]:
    """Return the pending paths that have to be checked now.

    Up to the time `checked_out`, changes belong to the last commit or checkout. `is_searching` is true when a search waits.
    """
    if not pending:
        return {}
    if settings.indexing_strategy == "realtime":
        return {path: times for path, times in pending.items() if is_searching or _is_due(times, now)}
    if settings.indexing_strategy == "lazy":
        idle = now - max(times.last for times in pending.values())
        return dict(pending) if is_searching or idle >= settings.lazy_idle_threshold else {}
    return {path: times for path, times in pending.items() if times.last <= checked_out and _is_due(times, now)}


def _is_due(times: ChangeTimes, now: float) -> bool:
    return now - times.last >= QUIET_SECONDS or now - times.first >= MAX_DELAY_SECONDS


NETWORK_POLL_SECONDS = 5.0
LAYERED_POLL_SECONDS = 60.0
"""How often all files are checked: often on a network, seldom on layers, which report most changes."""

_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "vboxsf", "virtiofs", "drvfs"}
_LAYERED = {"overlay", "aufs", "unionfs"}
_MOUNTS = Path("/proc/self/mounts")


def poll_seconds(root: Path) -> float:
    """Return how often the files of a watched root have to be checked; 0 where events are reliable."""
    if has_remote_writers(root):
        return NETWORK_POLL_SECONDS
    return LAYERED_POLL_SECONDS if file_system_of(root) in _LAYERED else 0.0


def has_remote_writers(root: Path) -> bool:
    """Return whether other machines may change the files of a root, of which this one gets no events."""
    kind = file_system_of(root)
    return kind in _NETWORK or kind.startswith("fuse")


def file_system_of(root: Path, mounts: Path = _MOUNTS) -> str:
    """Return the type of the file system that a folder is on; empty where it is unknown."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    path, best = os.path.realpath(root), ("", "")
    for line in lines:
        _, mount_point, kind, *_ = (*line.split(" "), "", "", "")
        mount_point = mount_point.replace("\\040", " ")
        is_around = path == mount_point or path.startswith(mount_point.rstrip("/") + "/")
        if is_around and len(mount_point) >= len(best[0]):
            best = mount_point, kind
    return best[1]


POLL_SECONDS = 5.0
"""Time between two scans of a root that cannot be watched."""
POLL_SHARE = 20
"""Polling spends at most one twentieth of the time on scanning."""
INSURANCE_EVERY_SECONDS = 300.0
"""The system can lose events without saying so. Once it is quiet after an event, the root is scanned once more, at most
every five minutes: 0.35 s on 10,000 files."""
INSURANCE_QUIET_SECONDS = 2.0
"""Quiet time before that scan."""
STORM_EVENTS = 200
"""After this many events since the last scan, some were probably lost: the next scan does not wait five minutes."""


class LostEventDetector:
    """Says when all files of a root have to be scanned, because events may be missing."""

    def __init__(self, root: Path) -> None:
        self.poll_seconds = poll_seconds(root)
        """Time between two scans that happen whatever the events say; 0 where events can be relied on."""
        self.has_remote_writers = has_remote_writers(root)
        """Other machines may change files, which no event reports."""
        self.last_event_at = 0.0
        self.scan_seconds: float | None = None
        """How long the last scan of the whole root took."""
        self._events_since_scan = 0
        self._scanned_at = 0.0

    def note_events(self, count: int) -> None:
        """Record that events named this many paths just now."""
        self.last_event_at = time.monotonic()
        self._events_since_scan += count

    def note_scan(self, scan_seconds: float) -> None:
        """Record that the whole root was scanned just now; polling slows down where a scan takes long."""
        self._scanned_at, self._events_since_scan, self.scan_seconds = time.monotonic(), 0, scan_seconds
        if self.poll_seconds:
            self.poll_seconds = max(self.poll_seconds, POLL_SHARE * scan_seconds)

    def poll(self) -> None:
        """Scan regularly from now on, because nothing can be watched."""
        self.poll_seconds = self.poll_seconds or POLL_SECONDS

    def is_scan_due(self, now: float) -> bool:
        """Return whether the whole root should be scanned now."""
        if self.poll_seconds and now - self._scanned_at >= self.poll_seconds:
            return True
        is_quiet = self._scanned_at < self.last_event_at <= now - INSURANCE_QUIET_SECONDS
        is_recent = now - self._scanned_at < INSURANCE_EVERY_SECONDS
        return is_quiet and (self._events_since_scan >= STORM_EVENTS or not is_recent)
