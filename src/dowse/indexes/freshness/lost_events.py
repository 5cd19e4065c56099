"""When a whole root is scanned although no event says so: events can be lost, and some file systems send none."""

import time
from pathlib import Path

from dowse.indexes.freshness.filesystems import has_remote_writers, poll_seconds

POLL_SECONDS = 5.0
"""Time between two scans of a root that cannot be watched."""
POLL_SHARE = 20
"""Polling spends at most one twentieth of the time on scanning."""
INSURANCE_SECONDS = 10.0
INSURANCE_EVERY_SECONDS = 300.0
"""The system can lose events without saying so. Ten quiet seconds after the last event the root is scanned once
more, at most every five minutes: 0.35 s on 10,000 files."""
QUICK_SCAN_SECONDS = 0.1
"""A scan that takes no longer, which means about 3,000 files, may be done before an answer."""
STORM_EVENTS = 200
"""After this many events since the last scan, some were probably lost: the next scan does not wait five minutes."""
STORM_QUIET_SECONDS = 2.0
"""Quiet time before the scan that follows a storm of events."""


class LostEventDetector:
    """Counts the events of one root and says when a scan of the whole root is due."""

    def __init__(self, root: Path) -> None:
        self.poll_seconds = poll_seconds(root)
        """Time between two scans that happen whatever the events say; 0 where events can be relied on."""
        self.has_remote_writers = has_remote_writers(root)
        """Other machines may change files, which no event reports."""
        self.last_event_at = 0.0
        self.scan_seconds = float("inf")
        """How long the last scan of the whole root took."""
        self._events_since_scan = 0
        self._scanned_at = 0.0

    def note_events(self, count: int) -> None:
        """Record that events named this many paths just now."""
        self.last_event_at = time.monotonic()
        self._events_since_scan += count

    @property
    def is_scan_quick(self) -> bool:
        """Whether the last scan of the whole root was so quick that a search may wait for one."""
        return self.scan_seconds <= QUICK_SCAN_SECONDS

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
        is_stormy = self._events_since_scan >= STORM_EVENTS
        quiet_seconds = STORM_QUIET_SECONDS if is_stormy else INSURANCE_SECONDS
        is_quiet = self._scanned_at < self.last_event_at <= now - quiet_seconds
        is_recent = not is_stormy and now - self._scanned_at < INSURANCE_EVERY_SECONDS
        is_poll_due = bool(self.poll_seconds) and now - self._scanned_at >= self.poll_seconds
        return is_poll_due or (is_quiet and not is_recent)
