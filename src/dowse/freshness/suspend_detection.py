"""Whether we were stopped, as by a debugger or a laptop's lid: the system keeps only so many events meanwhile."""

import time

STALL_SECONDS = 2.0
"""Who is so much later than meant was stopped; Linux keeps 16,384 events until then."""
WORKING_REPORT_SECONDS = 60.0
"""At work one may also just have waited for another thread, so that counts so often at most."""


class SuspendDetector:
    """A thread's account of its time: it waits as long as it says, and otherwise it works."""

    def __init__(self) -> None:
        self._waits = 0.0
        """How long the wait that goes on may take; 0 while at work."""
        self._noticed = -WORKING_REPORT_SECONDS
        self._mark()

    def begin_wait(self, seconds: float) -> bool:
        """A wait of at most so long begins; whether we were stopped at work before it."""
        lost, now = self._lost(), time.monotonic()
        was_stopped = lost > STALL_SECONDS and now - self._noticed >= WORKING_REPORT_SECONDS
        if was_stopped:
            self._noticed = now
        self._waits = seconds
        self._mark()
        return was_stopped

    def end_wait(self) -> bool:
        """The wait has ended; whether we were stopped during it."""
        lost = self._lost()
        self._waits = 0.0
        self._mark()
        return lost > STALL_SECONDS

    def _mark(self) -> None:
        self._since, self._worked = time.monotonic(), time.thread_time()

    def _lost(self) -> float:
        """Time that neither the wait nor our own work explains."""
        return time.monotonic() - self._since - self._waits - (time.thread_time() - self._worked)
