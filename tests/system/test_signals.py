"""Signals, whose handlers every test restores. The consoles of Windows, which send only Ctrl-C and Ctrl-Break, were not seen."""

import os
import signal
from collections.abc import Iterator

import pytest

from dowse.system import signals


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_a_stop_signal_calls_the_handler_and_an_ignored_one_stays_ignored() -> None:
    seen: list[int] = []
    signals.ignore_interrupts()
    signals.on_stop_signals(lambda number, _: seen.append(number))
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGTERM)
    assert seen == [signal.SIGTERM]
    signals.on_stop_signals(None)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_sigterm_interrupts_like_ctrl_c() -> None:
    signals.interrupt_on_terminate()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGTERM)


def test_ctrl_c_interrupts_unless_a_shell_ignores_it() -> None:
    signals.ignore_interrupts()
    signals.raise_on_interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signals.raise_on_interrupt()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
