"""The standard streams, made usable even if they are closed, full, or not in UTF-8."""

import contextlib
import os
import sys


def prepare_streams() -> None:
    """Open streams that are closed, and make them escape characters that they cannot encode."""
    _fill_descriptors()
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8")
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def silence_streams() -> None:
    """Discard all further output, including what is flushed at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        _redirect(stream, devnull)
    os.close(devnull)


def flush_or_silence() -> bool:
    """Flush stdout and return whether that succeeds. If it fails, discard further output."""
    try:
        sys.stdout.flush()
    except OSError:
        devnull = os.open(os.devnull, os.O_WRONLY)
        _redirect(sys.stdout, devnull)
        os.close(devnull)
        return False
    return True


def _redirect(stream: object, target: int) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # a stream may have no descriptor
        os.dup2(target, stream.fileno())  # type: ignore[attr-defined]  # suppressed above


def _fill_descriptors() -> None:
    """Occupy the descriptors 0 to 2 if they are closed, or a database could get one and receive the output."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
