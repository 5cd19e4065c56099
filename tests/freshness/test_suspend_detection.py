"""A suspension is detected during waits and work; work and waits of the planned length are not suspensions."""

import pytest

from dowse.freshness import suspend_detection
from dowse.freshness.suspend_detection import STALL_SECONDS, WORKING_REPORT_SECONDS, SuspendDetector

LONG = STALL_SECONDS + 0.5


class Clock:
    """A clock that the test advances, because the real time of a busy machine is unpredictable."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.worked = 0.0

    def monotonic(self) -> float:
        return self.now

    def thread_time(self) -> float:
        return self.worked

    def advance(self, seconds: float) -> None:
        """Let time pass while the thread waits or is suspended."""
        self.now += seconds

    def work(self, seconds: float) -> None:
        """Let time pass while the thread works."""
        self.now += seconds
        self.worked += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(suspend_detection, "time", clock)
    return clock


def test_a_wait_that_takes_longer_than_meant_was_a_stop(clock: Clock) -> None:
    detector = SuspendDetector()
    detector.begin_wait(0.05)
    clock.advance(LONG)
    assert detector.end_wait()


def test_a_wait_that_ends_in_time_or_early_was_none(clock: Clock) -> None:
    detector = SuspendDetector()
    detector.begin_wait(LONG)
    clock.advance(LONG)
    assert not detector.end_wait()
    detector.begin_wait(10.0)
    clock.advance(0.1)
    assert not detector.end_wait()


def test_a_stop_between_two_waits_is_noticed_and_work_is_not_taken_for_one(clock: Clock) -> None:
    detector = SuspendDetector()
    clock.work(LONG)
    assert not detector.begin_wait(0.0)
    detector.end_wait()
    clock.advance(LONG)
    assert detector.begin_wait(0.0)


def test_what_may_be_another_thread_counts_once_in_a_while(clock: Clock) -> None:
    detector = SuspendDetector()
    clock.advance(LONG)
    assert detector.begin_wait(0.0)
    detector.end_wait()
    clock.advance(LONG)
    assert not detector.begin_wait(0.0)
    detector.end_wait()
    clock.advance(WORKING_REPORT_SECONDS)
    assert detector.begin_wait(0.0)
