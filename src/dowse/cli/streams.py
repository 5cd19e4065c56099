"""The three standard streams, whatever the process was started with: closed, full, or in an old encoding."""

import contextlib
import os
import sys


def prepare_streams() -> None:
    """Make every stream one that can be used and that no character can break."""
    _fill_descriptors()
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8")
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def silence_streams() -> None:
    """Let what is still written, even at exit, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        _point(stream, nowhere)
    os.close(nowhere)


def flush_or_silence() -> bool:
    """Write out what stdout holds; False when that is impossible, and then nothing tries it again."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        _point(sys.stdout, nowhere)
        os.close(nowhere)
        return False
    return True


def _point(stream: object, target: int) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # a stream need not have a descriptor
        os.dup2(target, stream.fileno())  # type: ignore[attr-defined]  # the reason for the line above


def _fill_descriptors() -> None:
    """Take the numbers 0 to 2 where they are free, or an index would be opened as stdout and printed into."""
    while (taken := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(taken)
