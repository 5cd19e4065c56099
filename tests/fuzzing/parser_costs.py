"""The processor time and memory that a file costs, in the parser processes and in the process that uses them."""

import os
import resource
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from tests.parsing.child_processes import children_of

SAMPLE_SECONDS = 0.01
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Cost(NamedTuple):
    """The cost of some work."""

    seconds: float
    """Processor time of this process and its children."""
    peak_bytes: int
    """The most memory that all children took at one moment, without what they share with files."""


class CostMeter:
    """Measures the work inside the block."""

    def __init__(self) -> None:
        self._peak = self._idle = 0  # processes of tests are forked, and have the memory of the tests from the start
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._started = self._own_seconds = 0.0

    def __enter__(self) -> Self:
        self._started = _processor_seconds()
        self._idle = max(map(private_bytes, descendants(os.getpid())), default=0)
        self._thread.start()
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()
        self.cost = Cost(_processor_seconds() - self._started - self._own_seconds, self._peak)

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLE_SECONDS):
            taken = (private_bytes(child) - self._idle for child in descendants(os.getpid()))
            self._peak = max(self._peak, sum(max(0, one) for one in taken))
            self._own_seconds = time.thread_time()


def descendants(process: int) -> list[int]:
    """Return the processes that a process has started, and theirs."""
    return [one for child in children_of(process) for one in (child, *descendants(child))]


def private_bytes(process: int) -> int:
    """Return the memory of a process that it does not share with a file; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * _PAGE


def _processor_seconds() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = time.process_time() + ended.ru_utime + ended.ru_stime
    for child in descendants(os.getpid()):
        try:
            fields = Path(f"/proc/{child}/stat").read_text(encoding="latin-1").rpartition(")")[2].split()
        except OSError:
            continue
        # With the children that it has waited for: a PDF file is read by a copy of the parser process.
        total += sum(map(int, fields[11:15])) / _TICKS
    return total
