"""The command line: data on stdout, talk on stderr, one line for an error, never a traceback."""

import os
import signal
import sys

from dowse.cli.exit_codes import INTERRUPTED

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code. Without arguments we are the program and own the process."""
    if arguments is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop_at_once)
    # Imported under that handler: a Ctrl-C while modules load is then no traceback either.
    from dowse.cli.program import run

    return run(arguments)


def _stop_at_once(*_: object) -> None:
    """End a process that has done nothing yet."""
    try:
        if "--json" in sys.argv:
            os.write(1, b'{"error": {"code": "INTERRUPTED", "message": "Interrupted before anything was done."}}\n')
        os.write(2, b"dowse: Interrupted before anything was done.\n")
    finally:
        os._exit(INTERRUPTED)
