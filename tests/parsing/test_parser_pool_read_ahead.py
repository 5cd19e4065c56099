"""Reading ahead: in order, and never more than a few files or bytes."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from dowse.parsing.parser_pool import FIRST_READ_AHEAD_FILES, READ_AHEAD_BYTES, READ_AHEAD_FILES, read_ahead

JOBS = 3000


@pytest.mark.parametrize(("size", "most"), [(1, READ_AHEAD_FILES + 1), (READ_AHEAD_BYTES // 4, 5), (10**9, 1)])
def test_results_come_in_order_and_few_jobs_are_started_ahead(size: int, most: int) -> None:
    started = list[int]()

    def jobs() -> Iterator[tuple[Callable[[], int], int]]:
        for number in range(JOBS):
            started.append(number)
            yield partial(int, number), size

    ahead = []
    for done, result in enumerate(read_ahead(jobs())):
        assert result == done
        ahead.append(len(started) - done)
    assert len(ahead) == JOBS
    assert max(ahead) == most
    assert ahead[0] <= FIRST_READ_AHEAD_FILES + 1, "the first result is used soon"
