"""Rows that were read by their ids are kept until the catalog changes."""

from dowse.store.catalog_rows import MAX_KEPT_ROWS, KeptRows


class Table:
    """A table of the squares of even numbers, which counts what is read."""

    def __init__(self) -> None:
        self.state: int | None = 1
        self.read: list[list[int]] = []
        self.rows = KeptRows(lambda: self.state, self._read)

    def _read(self, ids: list[int]) -> dict[int, int]:
        self.read.append(ids)
        return {number: number**2 for number in ids if number % 2 == 0}


def test_a_row_is_read_once_and_a_missing_one_again() -> None:
    table = Table()
    assert list(table.rows.by_id([4, 2, 2, 3]).items()) == [(2, 4), (4, 16)]
    assert table.rows.by_id(iter([2, 3, 6])) == {2: 4, 6: 36}
    assert table.read == [[2, 3, 4], [3, 6]]


def test_rows_are_read_again_after_a_change_and_in_an_unknown_state() -> None:
    table = Table()
    for state in (1, 2, None, None, 2):
        table.state = state
        assert table.rows.by_id([2]) == {2: 4}
    assert len(table.read) == 5


def test_the_kept_rows_are_bounded() -> None:
    table = Table()
    table.rows.by_id(range(0, 4 * MAX_KEPT_ROWS, 2))
    assert table.rows.by_id([2]) == {2: 4}
    assert table.read[1:] == [[2]]
