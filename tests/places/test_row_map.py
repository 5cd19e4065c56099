"""The map of rows: the documents of candidates and the paths of files, without a request."""

from typing import Any

import pytest

pa = pytest.importorskip("pyarrow", reason="needs the extra lance")
np = pytest.importorskip("numpy")

from dowse.places.row_map import RowMap  # noqa: E402 - after the line above


def rows(*listed: tuple[int, int | None, int | None, str | None]) -> Any:
    """Return rows by number, document, ordinal and path, whose length is the content."""
    columns = [list(column) for column in zip(*listed, strict=True)] if listed else [[], [], [], []]
    columns.append([len(path) if path else None for path in columns[3]])
    types = (pa.uint64(), pa.int64(), pa.int32(), pa.string(), pa.int64())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    return pa.table(dict(zip(("_rowid", "document", "ordinal", "file", "content"), arrays, strict=True)))


def find(rows: RowMap, *numbers: int) -> list[tuple[int, int, int]]:
    """Return the numbers, documents and ordinals of the rows that are known."""
    wanted = np.array(numbers, np.int64)
    known, documents, ordinals = rows.find(wanted)
    return list(zip(wanted[known].tolist(), documents.tolist(), ordinals.tolist(), strict=True))


FIRST = rows((2, 70, 0, None), (0, None, None, None), (1, 70, None, "a/x.py"), (3, 50, None, "a/y.py"))


def test_candidates_are_found_by_the_numbers_of_their_rows() -> None:
    found = RowMap.of(FIRST)
    assert find(found, 3, 2, 0, 99) == [(3, 50, -1), (2, 70, 0)]
    assert found.files_of([50, 70, 60, 99]) == {50: (3, 6, "a/y.py"), 70: (1, 6, "a/x.py")}
    assert (found.document_at("a/y.py"), found.document_at("a/z.py")) == (50, None)


def test_the_newer_row_of_a_file_counts() -> None:
    found = RowMap.of(
        rows((8, 70, None, "a/x.py"), (9, 60, None, "a/y.py"), (1, 70, None, "a/x.py"), (3, 50, None, "a/y.py"))
    )
    assert {number: one.row for number, one in found.files_of([70, 60]).items()} == {70: 8, 60: 9}
    assert found.document_at("a/y.py") == 60


def test_a_place_without_rows_has_an_empty_map() -> None:
    found = RowMap.of(rows())
    assert find(found, 1) == []
    assert (found.files_of([1]), found.document_at("a")) == ({}, None)


def test_files_that_differ_in_their_project_alone_are_copies() -> None:
    listed = ("a/x.py", "b/x.py", "b/y.py", "c/src/x.py", "c/x.py")
    found = RowMap.of(rows(*((at, at + 10, None, path) for at, path in enumerate(listed))))
    numbers = found.copies_of(np.array([14, 13, 12, 11, 10])).tolist()
    assert numbers[0] == numbers[3] == numbers[4]
    assert len(set(numbers)) == 3
    assert found.copies_of(np.array([9, 99])).tolist() == [9, 99]
    assert RowMap.of(rows()).copies_of(np.array([9])).tolist() == [9]
    assert RowMap.of(rows((0, 9, None, "damaged"))).document_at("damaged") == 9, "no publisher writes such a path"
