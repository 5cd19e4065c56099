"""Reading ahead: files are parsed by the parser processes while the results of earlier files are used."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from dowse.memory_plan import scaled

READ_AHEAD_FILES = 1000
READ_AHEAD_BYTES = 8_000_000
"""Files, and their bytes, that are read and parsed ahead: as many as are parsed while a batch is stored."""
FIRST_READ_AHEAD_FILES = 16
"""Files that are read ahead before the first result is used, so that it is used soon."""

Result = TypeVar("Result")


def read_ahead(started: Iterable[tuple[Callable[[], Result], int]]) -> Iterator[Result]:
    """Yield the results of jobs, in order.

    Each item is a function that waits for the result of a job, and the number of bytes of the job. Taking an item
    starts its job; some are taken ahead.
    """
    waiting = deque[tuple[Callable[[], Result], int]]()
    total, most_files, most_bytes = 0, FIRST_READ_AHEAD_FILES, scaled(READ_AHEAD_BYTES)
    for job in started:
        waiting.append(job)
        total += job[1]
        while len(waiting) > most_files or total > most_bytes:
            first, first_size = waiting.popleft()
            total -= first_size
            yield first()
            most_files = min(scaled(READ_AHEAD_FILES), most_files + 1)
    while waiting:
        yield waiting.popleft()[0]()
