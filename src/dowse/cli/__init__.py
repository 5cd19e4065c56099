"""The command line: results on stdout, messages on stderr, one line per error, never a traceback."""

import os
import signal
import sys

from dowse.cli.exit_codes import INTERRUPTED

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code. Without arguments, run as the program of this process."""
    if arguments is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop_at_once)
    if "serve" not in sys.argv:  # a command multiplies too little for NumPy's threads, whose start takes 40 ms
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imported after setting that handler, so that Ctrl-C while modules load prints no traceback.
    from dowse.cli.program import run

    return run(arguments)


def _stop_at_once(*_: object) -> None:
    """Exit before any command has started."""
    try:
        if "--json" in sys.argv:
            os.write(1, b'{"error": {"code": "INTERRUPTED", "message": "Interrupted before anything was done."}}\n')
        os.write(2, b"dowse: Interrupted before anything was done.\n")
    finally:
        os._exit(INTERRUPTED)
