"""A thread that was stopped knows it, whether it waited or worked; one that is busy or waits as meant was not."""

import time

import pytest

from dowse.freshness import stalls
from dowse.freshness.stalls import Stalls


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalls, "STALL_SECONDS", 0.2)


def work(seconds: float) -> None:
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass


def test_a_wait_that_takes_longer_than_meant_was_a_stop() -> None:
    account = Stalls()
    account.waits(0.05)
    time.sleep(0.3)  # as long as a process that does not run
    assert account.works()


def test_a_wait_that_ends_in_time_or_early_was_none() -> None:
    account = Stalls()
    account.waits(0.3)
    time.sleep(0.3)
    assert not account.works()
    account.waits(10.0)
    assert not account.works()


def test_a_stop_between_two_waits_is_noticed_and_work_is_not_taken_for_one() -> None:
    account = Stalls()
    work(0.3)
    assert not account.waits(0.0)
    account.works()
    time.sleep(0.25)
    assert account.waits(0.0)


def test_what_may_be_another_thread_counts_once_in_a_while() -> None:
    account = Stalls()
    time.sleep(0.25)
    assert account.waits(0.0)
    account.works()
    time.sleep(0.25)
    assert not account.waits(0.0)
