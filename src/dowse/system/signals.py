"""The end of a process: the signals that interrupt and stop it, and an end in any case.

The signals are Ctrl-C and, where another process can send it, SIGTERM.
"""

import os
import signal
from collections.abc import Callable

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C, which reaches every process of a terminal: the parent decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def interrupt_on_terminate() -> None:
    """Handle SIGTERM like Ctrl-C, so that an interrupted command keeps its finished work."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def raise_on_interrupt() -> None:
    """Let Ctrl-C raise KeyboardInterrupt, unless it is ignored, as in a background job of a shell."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def on_stop_signals(handle: Callable[..., None] | None) -> None:
    """Call a function for Ctrl-C and SIGTERM, except for one that is ignored; None lets them end the process at once."""
    for number in _STOP_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handle or signal.SIG_DFL)


def exit_after(seconds: float, code: int) -> None:
    """End this process after some seconds, whatever still runs or hangs."""
    from threading import Timer  # a parser process needs no threads

    timer = Timer(seconds, os._exit, (code,))
    timer.daemon = True
    timer.start()
