"""The limits of a parser process: how much processor time and memory one file may cost."""

import contextlib
import signal
from collections.abc import Iterator
from mmap import PAGESIZE

from dowse.system.platform import IS_LINUX

MAX_PROCESSES = 2
"""Parsing is half of the work of indexing, so two processes keep the one that stores busy; more would need more memory
than the 300 MB that all of them may take together."""

CPU_SECONDS = 1.5
"""Processor time for a file of at most 1 MB. Real files of 460 to 510 KB take 0.12 s in Python, TypeScript and
JavaScript and 0.7 s in C (headers full of macros); 1 MB of Markdown takes 0.26 s."""
CPU_SECONDS_PER_MEGABYTE = 1.0
"""More for each further megabyte, which only PDF, Word and archive files have."""

MEMORY_BYTES = 100 * 1024 * 1024
"""Memory for a file of at most 1 MB, beyond that of the idle process; the files above take 10 to 23 MB."""
MEMORY_PER_BYTE = 10
"""More memory for each further byte of a larger file."""

KEPT_BYTES = 64 * 1024 * 1024
"""A process that holds more than this after a file is replaced: grammars and freed memory add up. One that encodes too
holds 40 MB."""

HAS_TIMER = hasattr(signal, "setitimer")
"""Whether the system limits processor time. Where it does not, real time is limited instead."""
WALL_SECONDS = 20.0 if HAS_TIMER else 0.0
"""How much longer than its processor time a process may take to answer. One that takes longer hangs or was stopped,
and the file is tried again with another one."""

_LARGE_BYTES = 1024 * 1024


def cpu_seconds(size: int) -> float:
    """Return the processor time for a file of this size."""
    return CPU_SECONDS + CPU_SECONDS_PER_MEGABYTE * max(0, size - _LARGE_BYTES) / _LARGE_BYTES


def memory_bytes(size: int) -> int:
    """Return the memory for a file of this size, beyond that of the idle process."""
    return MEMORY_BYTES + MEMORY_PER_BYTE * max(0, size - _LARGE_BYTES)


@contextlib.contextmanager
def limited(size: int) -> Iterator[None]:
    """Let the system end this process if the work on a file of this size takes too much time; refuse too much memory.

    The system's own timer ends the process whatever code runs: a library that never returns cannot prevent it.
    """
    _limit_memory(memory_bytes(size))
    if HAS_TIMER:
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds(size))
    try:
        yield
    finally:
        if HAS_TIMER:
            signal.setitimer(signal.ITIMER_PROF, 0)
        _limit_memory(None)


def forbid_core_dumps() -> None:
    """Write no core file when the process is ended."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def kept_bytes() -> int:
    """Return the memory of this process that is not shared with a file; 0 where the system does not tell."""
    status = _read_statm()
    return (status[1] - status[2]) * PAGESIZE if status else 0


def _limit_memory(more: int | None) -> None:
    """Allow this many bytes of writable memory beyond those in use, or any number. Only Linux counts them."""
    status = _read_statm()
    if status is None:
        return
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = hard if more is None else status[5] * PAGESIZE + more
        resource.setrlimit(resource.RLIMIT_DATA, (soft if hard < 0 else min(soft, hard), hard))


def _read_statm() -> list[int] | None:
    if not IS_LINUX:
        return None
    try:
        with open("/proc/self/statm", "rb") as file:
            return [int(number) for number in file.read().split()]
    except (OSError, ValueError):
        return None
