"""Detection of a suspended process, as by a debugger or a closed laptop. The system may lose file events meanwhile."""

import time

STALL_SECONDS = 2.0
"""A thread that is this much later than planned was suspended. Linux keeps up to 16,384 events meanwhile."""
WORKING_REPORT_SECONDS = 60.0
"""The minimum time between two reports of a suspension while working. A working thread may only have waited for
another thread, so such reports are less certain."""


class SuspendDetector:
    """The record of a thread's time, which it spends either waiting for a known time or working."""

    def __init__(self) -> None:
        self._wait_seconds = 0.0
        """The maximum length of the current wait; 0 while working."""
        self._reported_at = -WORKING_REPORT_SECONDS
        self._mark()

    def begin_wait(self, seconds: float) -> bool:
        """Begin a wait of at most `seconds`, and return whether the thread was suspended while working before it."""
        lost, now = self._lost_seconds(), time.monotonic()
        was_suspended = lost > STALL_SECONDS and now - self._reported_at >= WORKING_REPORT_SECONDS
        if was_suspended:
            self._reported_at = now
        self._wait_seconds = seconds
        self._mark()
        return was_suspended

    def end_wait(self) -> bool:
        """End the wait, and return whether the thread was suspended during it."""
        lost = self._lost_seconds()
        self._wait_seconds = 0.0
        self._mark()
        return lost > STALL_SECONDS

    def _mark(self) -> None:
        self._since, self._thread_time = time.monotonic(), time.thread_time()

    def _lost_seconds(self) -> float:
        """Return the time that neither the wait nor the work of the thread explains."""
        return time.monotonic() - self._since - self._wait_seconds - (time.thread_time() - self._thread_time)
