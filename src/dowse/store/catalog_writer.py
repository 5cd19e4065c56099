"""Writes to the catalog, each inside a transaction that the caller has begun."""

import sqlite3
import zlib
from collections.abc import Iterable
from typing import NamedTuple

from dowse.encoding.packing import pack_vectors
from dowse.store.catalog_rows import DOCUMENT_COLUMNS, chunk_row, document_row, input_hash, stat_row
from dowse.types import Batch, Put

MAX_KEPT_CHANGES = 100_000
"""Number of changes that are kept. A derived part that is further behind is rebuilt, which costs about the same."""

_ADD_DOCUMENT = f"INSERT INTO documents ({DOCUMENT_COLUMNS}) VALUES (NULL{', ?' * 19})"  # noqa: S608 - constant columns
_ADD_CHUNK = "INSERT INTO chunks VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_DOCUMENT_CHANGES = (("added", "horizon"), ("removed", "horizon"))
_VECTOR_CHANGES = (("encoded", "encoded_horizon"),)


class AppliedBatch(NamedTuple):
    """The ids of the documents that a batch removed, and of the document and chunks of each put."""

    sequence: int
    removed: list[int]
    added: list[tuple[int, list[int]]]


def apply_batch(connection: sqlite3.Connection, batch: Batch, now_ns: int) -> AppliedBatch:
    """Write a batch: removed documents, added documents, stats and refusals."""
    sequence = _next_sequence(connection)
    replaced_paths = (*batch.drops, *(put.document.path for put in batch.puts))
    connection.executemany("DELETE FROM refusals WHERE path = ?", [(path,) for path in replaced_paths])
    twin_vectors = [_find_twin_vectors(connection, put) for put in batch.puts]
    removed = [document_id for path in replaced_paths for document_id in _remove_document(connection, path, sequence)]
    added = [_add_document(connection, put, now_ns, sequence) for put in batch.puts]
    for put, vectors, (document_id, _) in zip(batch.puts, twin_vectors, added, strict=True):
        _add_vectors(connection, put, batch.encoder)
        _borrow_vectors(connection, document_id, vectors)
    connection.executemany(
        "UPDATE documents SET size = ?, mtime_ns = ?, inode = ?, ctime_ns = ?, checked_ns = ? WHERE path = ?",
        [(*stat_row(stat), stat.seen_ns or now_ns, path) for path, stat in batch.touches],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO refusals VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(verdict.path, *stat_row(stat), verdict.reason, verdict.detail) for stat, verdict in batch.refusals],
    )
    _forget_old_changes(connection, _DOCUMENT_CHANGES)
    return AppliedBatch(sequence, removed, added)


def put_vectors(connection: sqlite3.Connection, encoder: str, rows: Iterable[tuple[int, bytes]]) -> None:
    """Store packed vectors of the chunks that still exist."""
    sequence = _next_sequence(connection)
    for chunk_id, vector in rows:
        kept = connection.execute(
            "INSERT OR REPLACE INTO vectors SELECT ?, input_hash, ?, 0 FROM chunks WHERE id = ?",
            (encoder, vector, chunk_id),
        ).rowcount
        if kept:
            # Several chunks may have the same content; all of them have a vector now.
            connection.execute(
                "INSERT INTO changes SELECT ?, 'encoded', id FROM chunks WHERE input_hash = "
                "(SELECT input_hash FROM chunks WHERE id = ?)",
                (sequence, chunk_id),
            )
    _forget_old_changes(connection, _VECTOR_CHANGES)


def _next_sequence(connection: sqlite3.Connection) -> int:
    row = connection.execute("UPDATE facts SET value = value + 1 WHERE key = 'sequence' RETURNING value").fetchone()
    return int(row[0])


def _remove_document(connection: sqlite3.Connection, path: str, sequence: int) -> list[int]:
    ids = [row[0] for row in connection.execute("DELETE FROM documents WHERE path = ? RETURNING id", (path,))]
    connection.executemany(
        "INSERT INTO changes VALUES (?, 'removed', ?)", [(sequence, document_id) for document_id in ids]
    )
    return ids


def _add_document(connection: sqlite3.Connection, put: Put, now_ns: int, sequence: int) -> tuple[int, list[int]]:
    reading, path = put.document.reading, put.document.path
    document_id = connection.execute(_ADD_DOCUMENT, document_row(put, now_ns)).lastrowid or 0
    connection.execute("INSERT INTO changes VALUES (?, 'added', ?)", (sequence, document_id))
    if not reading.is_verbatim:
        connection.execute("INSERT INTO texts VALUES (?, ?)", (document_id, zlib.compress(reading.text.encode(), 1)))
    links = [(document_id, ordinal, link.target, link.text, link.line) for ordinal, link in enumerate(reading.links)]
    connection.executemany("INSERT INTO links VALUES (?, ?, ?, ?, ?)", links)
    return document_id, [
        connection.execute(_ADD_CHUNK, chunk_row(document_id, path, ordinal, chunk)).lastrowid or 0
        for ordinal, chunk in enumerate(put.chunks)
    ]


def _add_vectors(connection: sqlite3.Connection, put: Put, encoder: str) -> None:
    if put.vectors is not None:
        path = put.document.path
        rows = zip(put.chunks, pack_vectors(put.vectors), strict=True)
        connection.executemany(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, 0)",
            [(encoder, input_hash(path, chunk.text), vector) for chunk, vector in rows],
        )


def _find_twin_vectors(connection: sqlite3.Connection, put: Put) -> list[tuple[str, int, bytes]]:
    """Return the vectors of another document with the same content: encoder, position of the chunk, vector."""
    query = (
        "SELECT encoder, ordinal, vector FROM chunks JOIN vectors ON vectors.input_hash = chunks.input_hash "
        "WHERE document_id = (SELECT id FROM documents WHERE content_hash = ? AND recipe = ? AND path != ? LIMIT 1)"
    )
    return connection.execute(query, (put.document.content_hash, put.recipe, put.document.path)).fetchall()


def _borrow_vectors(connection: sqlite3.Connection, document_id: int, vectors: list[tuple[str, int, bytes]]) -> None:
    """Give a document that was moved or copied the vectors of its twin until it has its own."""
    connection.executemany(
        "INSERT OR IGNORE INTO vectors SELECT ?, input_hash, ?, 1 FROM chunks WHERE document_id = ? AND ordinal = ?",
        [(encoder, vector, document_id, ordinal) for encoder, ordinal, vector in vectors],
    )


def _forget_old_changes(connection: sqlite3.Connection, kinds: Iterable[tuple[str, str]]) -> None:
    """Remove all but the newest `MAX_KEPT_CHANGES` changes of each kind, and record where the kept ones begin."""
    for change, horizon in kinds:
        query = "SELECT sequence FROM changes WHERE what = ? ORDER BY sequence DESC LIMIT 1 OFFSET ?"
        oldest = connection.execute(query, (change, MAX_KEPT_CHANGES)).fetchone()
        if oldest:
            connection.execute("DELETE FROM changes WHERE what = ? AND sequence <= ?", (change, *oldest))
            connection.execute("UPDATE facts SET value = max(value + 0, ?) WHERE key = ?", (*oldest, horizon))
