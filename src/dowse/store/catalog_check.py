"""The check of a catalog: its pages, its rows against their checksums, and its rows against each other."""

from typing import Any

from dowse.column_types import find_mistyped_columns
from dowse.sqlite_database import SqliteDatabase
from dowse.store.row_checksums import damaged_documents, damaged_vectors

_PAGE_ROWS = 1000
_LISTED_ROWS = 20


def find_problems(catalog: SqliteDatabase) -> list[str]:
    """Return the problems that SQLite finds in the file, rows that are not as written, and chunk counts that are wrong."""
    found = [row[0] for row in catalog.rows("PRAGMA integrity_check(20)") if row[0] != "ok"]
    orphans = catalog.rows("PRAGMA foreign_key_check")
    miscounted = catalog.rows(
        "SELECT path FROM documents WHERE chunk_count != (SELECT count(*) FROM chunks WHERE document_id = documents.id)"
    )
    later = catalog.rows(
        "SELECT 1 FROM changes WHERE sequence > (SELECT value + 0 FROM facts WHERE key = 'sequence') LIMIT 1"
    )
    with catalog.snapshot() as connection:
        mistyped = [] if found else find_mistyped_columns(connection)
    return [
        *found,
        *mistyped,
        *([] if found else find_damaged_rows(catalog)),
        *("there are changes after the last transaction" for _ in later),
        *(f"a row of {row[0]} refers to a missing document" for row in orphans),
        *(f"{row[0]} has a wrong number of chunks" for row in miscounted),
    ]


def find_damaged_rows(catalog: SqliteDatabase) -> list[str]:
    """Compare all rows with their checksums, a page at a time; return what differs."""
    paths, vectors = list[str](), 0
    first: int | None = 0
    while first is not None:
        with catalog.snapshot() as connection:
            damaged, first = damaged_documents(connection, first, _PAGE_ROWS)
        paths += damaged
    after: Any = ("", b"")
    while after is not None:
        with catalog.snapshot() as connection:
            count, after = damaged_vectors(connection, after, _PAGE_ROWS)
        vectors += count
    found = [f"a row of {path} is not what was written" for path in paths[:_LISTED_ROWS]]
    return [*found, *([f"{vectors} vectors are not what was written"] if vectors else [])]
