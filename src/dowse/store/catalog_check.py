"""The check of a catalog: what SQLite finds in its file, its rows against their checksums, and its rows against each other.

SQLite notices no byte that changes within a value. So a document has one checksum for all of its rows: its own without
the stat, which changes and which the next scan compares anyway, its chunks, its links and its text. Each vector has one
of its own.
"""

import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dowse.column_types import find_mistyped_columns
from dowse.sqlite_database import SqliteDatabase

_CHECKED_COLUMNS = (
    "path, kind, language, title, description, tags, content_hash, encoding, text_start, is_verbatim, is_truncated, "
    "chunk_count, recipe, problem"
)
_STAT = slice(6, 11)
"""The stat and the time of the check, in a row that is about to be written; its last column is the views."""
_PAGE_ROWS = 1000
_LISTED_ROWS = 20

Row = Sequence[Any]


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
    if not found:
        with catalog.snapshot() as connection:
            found = find_mistyped_columns(connection)
        paths, vectors = list(_damaged_documents(catalog)), sum(_damaged_vectors(catalog))
        found += [f"a row of {path} is not what was written" for path in paths[:_LISTED_ROWS]]
        found += [f"{vectors} vectors are not what was written"] if vectors else []
    return [
        *found,
        *("there are changes after the last transaction" for _ in later),
        *(f"a row of {row[0]} refers to a missing document" for row in orphans),
        *(f"{row[0]} has a wrong number of chunks" for row in miscounted),
    ]


def new_document_checksum(document_row: Row, chunks: Iterable[Row], links: Iterable[Row], text: bytes | None) -> int:
    """Return the checksum of the rows of a document that is about to be written."""
    values = list(document_row[:-1])
    del values[_STAT]
    stored = [int(value) if isinstance(value, bool) else value for value in values]  # as SQLite will return them
    return _document_checksum(stored, chunks, links, text)


def vector_checksum(vector: bytes) -> int:
    """Return the checksum of a packed vector."""
    return zlib.crc32(_as_bytes(vector))


def _document_checksum(document: Row, chunks: Iterable[Row], links: Iterable[Row], text: bytes | None) -> int:
    rows = repr((tuple(document), [tuple(row) for row in chunks], [tuple(row) for row in links]))
    return zlib.crc32(_as_bytes(text), zlib.crc32(_as_bytes(rows)))


def _as_bytes(value: object) -> bytes:
    """Return a value as bytes, also one of a type that dowse never writes."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def _damaged_documents(catalog: SqliteDatabase) -> Iterator[str]:
    """Compare all documents with their checksums, a page at a time; yield the paths of those that differ."""
    query = (
        f"SELECT id, checksum, checks.views, documents.views, {_CHECKED_COLUMNS} FROM documents "  # noqa: S608 - constants
        f"JOIN checks ON document_id = id WHERE id > ? ORDER BY id LIMIT {_PAGE_ROWS}"
    )
    after = 0
    while True:
        with catalog.snapshot() as connection:
            rows = connection.execute(query, (after,)).fetchall()
            if not rows:
                return
            ids, after = (rows[0][0], rows[-1][0]), rows[-1][0]
            chunks, links = (
                _rows_of(connection, table, column, ids) for table, column in (("chunks", 1), ("links", 0))
            )
            texts = dict(connection.execute("SELECT * FROM texts WHERE document_id BETWEEN ? AND ?", ids))
        for number, checksum, views, own_views, *document in rows:
            found = _document_checksum(document, chunks[number], links[number], texts.get(number))
            if views != own_views or found != checksum:
                yield str(document[0])


def _rows_of(connection: sqlite3.Connection, table: str, column: int, ids: Row) -> defaultdict[int, list[Row]]:
    """Return the rows of a table by their document, whose id is in a column."""
    rows = defaultdict[int, list[Row]](list)
    query = f"SELECT * FROM {table} WHERE document_id BETWEEN ? AND ? ORDER BY document_id, ordinal"  # noqa: S608 - constants
    for row in connection.execute(query, ids):
        rows[row[column]].append(row)
    return rows


def _damaged_vectors(catalog: SqliteDatabase) -> Iterator[bool]:
    """Compare all vectors with their checksums, a page at a time."""
    query = (
        "SELECT encoder, input_hash, vector, checksum FROM vectors WHERE (encoder, input_hash) > (?, ?) "
        "ORDER BY encoder, input_hash LIMIT ?"
    )
    after: Row = ("", b"")
    while rows := catalog.rows(query, (*after, _PAGE_ROWS)):
        yield from (checksum is not None and vector_checksum(vector) != checksum for *_, vector, checksum in rows)
        after = rows[-1][:2]
