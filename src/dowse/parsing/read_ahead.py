"""Reading ahead: files are parsed by the parser processes while the results of earlier files are used."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

READ_AHEAD_FILES = 16
READ_AHEAD_BYTES = 8_000_000
"""Files, and their bytes, that are read and parsed ahead."""

Result = TypeVar("Result")


def read_ahead(started: Iterable[tuple[Callable[[], Result], int]]) -> Iterator[Result]:
    """Yield the results of jobs, in order.

    Each item is a function that waits for the result of a job, and the number of bytes of the job. Taking an item
    starts its job; some are taken ahead.
    """
    waiting = deque[tuple[Callable[[], Result], int]]()
    total = 0
    for job in started:
        waiting.append(job)
        total += job[1]
        while len(waiting) > READ_AHEAD_FILES or total > READ_AHEAD_BYTES:
            first, first_size = waiting.popleft()
            total -= first_size
            yield first()
    while waiting:
        yield waiting.popleft()[0]()
