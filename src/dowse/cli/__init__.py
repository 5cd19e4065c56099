"""The command line: results on stdout, messages on stderr, one line per error, never a traceback."""

import atexit
import contextlib
import gc
import os
import signal
import sys
import threading

__all__ = ["main"]

COLLECT_AFTER = 20_000
"""Objects after which the garbage collector looks for garbage. With 700, it takes 40 ms while a command imports its modules."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code. Without arguments, run as the program of this process."""
    if arguments is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop_at_once)
    gc.set_threshold(COLLECT_AFTER)
    if "serve" not in sys.argv:  # a command multiplies too little for NumPy's threads, whose start takes 40 ms
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imported after setting that handler, so that Ctrl-C while modules load prints no traceback.
    from dowse.cli.program import run

    exit_code = run(arguments)
    if arguments is None:
        _leave(exit_code)
    return exit_code


def _leave(exit_code: int) -> None:
    """End the process now, unless a thread still works: taking all modules apart takes the interpreter 70 ms."""
    if all(thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        atexit._run_exitfuncs()
        with contextlib.suppress(OSError, ValueError, AttributeError):  # it may be closed, or missing
            sys.stderr.flush()
        os._exit(exit_code)


def _stop_at_once(*_: object) -> None:
    """Exit before any command has started."""
    try:
        if "--json" in sys.argv:
            os.write(1, b'{"error": {"code": "INTERRUPTED", "message": "Interrupted before anything was done."}}\n')
        os.write(2, b"dowse: Interrupted before anything was done.\n")
    finally:
        os._exit(128 + signal.SIGINT)  # as a shell expects of a command that was interrupted
