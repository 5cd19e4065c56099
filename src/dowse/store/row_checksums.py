"""Checksums of the rows of a catalog: SQLite notices no byte that changes within a value.

A document has one checksum for all of its rows: its own without the stat, which changes and which the next scan compares
anyway, its chunks, its links and its text. Each vector has one of its own.
"""

import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

CHECKED_COLUMNS = (
    "path, kind, language, title, description, tags, content_hash, encoding, text_start, is_verbatim, is_truncated, "
    "chunk_count, recipe, problem"
)
_SKIPPED = slice(6, 11)
"""The stat and the time of the check, in a row that is about to be written; its last column is the views."""

Row = Sequence[Any]


def checked_values(document_row: Row) -> list[Any]:
    """Return the columns of a new document that count, as SQLite will return them."""
    values = list(document_row[:-1])
    del values[_SKIPPED]
    return [int(value) if isinstance(value, bool) else value for value in values]


def document_checksum(document: Row, chunks: Iterable[Row], links: Iterable[Row], text: bytes | None) -> int:
    """Return the checksum of the rows of a document."""
    rows = repr((tuple(document), [tuple(row) for row in chunks], [tuple(row) for row in links]))
    return zlib.crc32(_as_bytes(text), zlib.crc32(_as_bytes(rows)))


def vector_checksum(vector: bytes) -> int:
    """Return the checksum of a packed vector."""
    return zlib.crc32(_as_bytes(vector))


def _as_bytes(value: object) -> bytes:
    """Return a value as bytes, also one of a type that dowse never writes."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def damaged_documents(connection: sqlite3.Connection, first: int, count: int) -> tuple[list[str], int | None]:
    """Compare a page of documents, by id; return the paths that differ, and where the next page begins."""
    query = (
        f"SELECT id, checks.checksum, checks.views, documents.views, {CHECKED_COLUMNS} FROM documents JOIN checks ON checks.document_id = id "  # noqa: S608
        "WHERE id >= ? ORDER BY id LIMIT ?"
    )
    rows = connection.execute(query, (first, count)).fetchall()
    if not rows:
        return [], None
    last = rows[-1][0]
    chunks, links = defaultdict(list), defaultdict(list)
    between = "document_id BETWEEN ? AND ? ORDER BY document_id, ordinal"
    for row in connection.execute(f"SELECT * FROM chunks WHERE {between}", (rows[0][0], last)):  # noqa: S608 - constant
        chunks[row[1]].append(row)
    for row in connection.execute(f"SELECT * FROM links WHERE {between}", (rows[0][0], last)):  # noqa: S608 - constant
        links[row[0]].append(row)
    texts = dict(connection.execute("SELECT * FROM texts WHERE document_id BETWEEN ? AND ?", (rows[0][0], last)))
    damaged = [
        row[4]
        for row in rows
        if row[2] != row[3] or document_checksum(row[4:], chunks[row[0]], links[row[0]], texts.get(row[0])) != row[1]
    ]
    return [str(path) for path in damaged], last + 1


def damaged_vectors(connection: sqlite3.Connection, after: tuple[str, bytes], count: int) -> tuple[int, Any]:
    """Compare a page of vectors; return how many differ, and after which the next page begins: None at the end."""
    query = (
        "SELECT encoder, input_hash, vector, checksum FROM vectors WHERE (encoder, input_hash) > (?, ?) "
        "ORDER BY encoder, input_hash LIMIT ?"
    )
    rows = connection.execute(query, (*after, count)).fetchall()
    damaged = sum(checksum is not None and vector_checksum(vector) != checksum for *_, vector, checksum in rows)
    return damaged, rows[-1][:2] if rows else None
