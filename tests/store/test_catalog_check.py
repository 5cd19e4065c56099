"""Damage that leaves a catalog well-formed is noticed."""

import sqlite3
from pathlib import Path

import pytest

from dowse.errors import StoreDamaged
from dowse.store.local import LocalStore
from tests.sample_data import World

DAMAGES = {
    "a title": "UPDATE documents SET title = 'Bapple' WHERE path = 'apple.py'",
    "a path": "UPDATE documents SET path = 'bpple.py' WHERE path = 'apple.py'",
    "views": "UPDATE documents SET views = 2 WHERE path = 'apple.py'",
    "a hash": "UPDATE documents SET content_hash = x'00' WHERE path = 'apple.py'",
    "a line": "UPDATE chunks SET start_line = start_line + 1",
    "a name": 'UPDATE chunks SET symbols = \'[["wrong", "function", 1, 1]]\' WHERE ordinal = 0',
    "a hash of a chunk": "UPDATE chunks SET text_hash = x'01'",
    "a link": "INSERT INTO links VALUES ((SELECT min(id) FROM documents), 0, 'a.md', 'text', 1)",
    "a text": "INSERT INTO texts VALUES ((SELECT min(id) FROM documents), x'00')",
    "a vector": "UPDATE vectors SET vector = x'010203040506'",
    "a text in place of a vector": "UPDATE vectors SET vector = 'three'",
    "a text in a column of numbers": "UPDATE documents SET text_start = 'three'",
}


def change(folder: Path, statement: str) -> None:
    with sqlite3.connect(folder / "catalog.sqlite") as connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_check_notices(folder: Path, world: World, damage: str) -> None:
    store = LocalStore(folder, world.read_text)
    assert store.check() == []
    change(folder, damage)
    assert {finding.part for finding in store.check()} == {"catalog"}
    store.close()


@pytest.mark.parametrize("table", ["documents SET text_start", "documents SET path", "chunks SET start_line"])
def test_a_value_of_another_type_is_noticed_where_it_is_read(folder: Path, world: World, table: str) -> None:
    """It once ended in a TypeError."""
    change(folder, f"UPDATE {table} = x'0102' WHERE id = 1")
    store = LocalStore(folder, world.read_text)
    with pytest.raises(StoreDamaged, match=r"another type|no text"):
        [store.chunks(document) for document, _ in store.ids_by_path() if store.documents_by_id([document])]
    store.close()


def test_rows_that_were_written_without_checksums_are_not_blamed(folder: Path, world: World) -> None:
    change(folder, "DELETE FROM checks")
    change(folder, "UPDATE vectors SET checksum = NULL")
    store = LocalStore(folder, world.read_text)
    assert store.check() == []
    store.close()
