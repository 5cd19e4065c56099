"""Rows of the catalog that were read by their ids, and are kept until the catalog changes."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Row = TypeVar("Row")

MAX_KEPT_ROWS = 2_000
"""Rows of one kind that are kept, 1 to 2 MB. The files that answer one query mostly answer others, too."""


class KeptRows(Generic[Row]):
    """Rows of one kind. Any thread may use it."""

    def __init__(self, state: Callable[[], object], read: Callable[[list[int]], dict[int, Row]]) -> None:
        """`state` returns another value after every change, or None; `read` reads rows by their ids."""
        self._state, self._read = state, read
        self._kept: tuple[object, dict[int, Row]] = (None, {})

    def by_id(self, ids: Iterable[int]) -> dict[int, Row]:
        """Return those of the rows that exist, by id, in the order of the ids."""
        state, (known_state, known) = self._state(), self._kept
        if state is None or state != known_state or len(known) > MAX_KEPT_ROWS:
            known = {}
        wanted = sorted(set(ids))
        if missing := [number for number in wanted if number not in known]:
            known |= self._read(missing)
        self._kept = state, known
        return {number: known[number] for number in wanted if number in known}
