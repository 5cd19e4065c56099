"""A thread that was stopped knows it, whether it waited or worked; one that is busy or waits as meant was not."""

import pytest

from dowse.freshness import suspend_detection
from dowse.freshness.suspend_detection import STALL_SECONDS, WORKING_REPORT_SECONDS, SuspendDetector

LONG = STALL_SECONDS + 0.5


class Clock:
    """Time that passes when it is told to: on a busy machine the real one passes for many reasons."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.worked = 0.0

    def monotonic(self) -> float:
        return self.now

    def thread_time(self) -> float:
        return self.worked

    def passes(self, seconds: float) -> None:
        """We wait, or do not run at all."""
        self.now += seconds

    def end_wait(self, seconds: float) -> None:
        """We run."""
        self.now += seconds
        self.worked += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(suspend_detection, "time", clock)
    return clock


def test_a_wait_that_takes_longer_than_meant_was_a_stop(clock: Clock) -> None:
    account = SuspendDetector()
    account.begin_wait(0.05)
    clock.passes(LONG)
    assert account.end_wait()


def test_a_wait_that_ends_in_time_or_early_was_none(clock: Clock) -> None:
    account = SuspendDetector()
    account.begin_wait(LONG)
    clock.passes(LONG)
    assert not account.end_wait()
    account.begin_wait(10.0)
    clock.passes(0.1)
    assert not account.end_wait()


def test_a_stop_between_two_waits_is_noticed_and_work_is_not_taken_for_one(clock: Clock) -> None:
    account = SuspendDetector()
    clock.end_wait(LONG)
    assert not account.begin_wait(0.0)
    account.end_wait()
    clock.passes(LONG)
    assert account.begin_wait(0.0)


def test_what_may_be_another_thread_counts_once_in_a_while(clock: Clock) -> None:
    account = SuspendDetector()
    clock.passes(LONG)
    assert account.begin_wait(0.0)
    account.end_wait()
    clock.passes(LONG)
    assert not account.begin_wait(0.0)
    account.end_wait()
    clock.passes(WORKING_REPORT_SECONDS)
    assert account.begin_wait(0.0)
