"""Writes to the catalog, each inside a transaction that the caller has begun, without what another process has overtaken."""

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, repeat
from typing import NamedTuple

from dowse.parsing.source_references import packed_checksums
from dowse.store.catalog_check import new_document_checksum, vector_checksum
from dowse.store.catalog_rows import DOCUMENT_COLUMNS, check_types, chunk_row, document_row, input_hash, stat_row
from dowse.types import Batch, Put, View

MAX_KEPT_CHANGES = 100_000
"""Number of changes that are kept. A derived part that is further behind is rebuilt, which costs about the same."""

_MAX_STEP = 2**32 - 1
"""The highest random step from one number of a transaction to the next: two billion of them fit into SQLite's numbers."""

_ADD_DOCUMENT = f"INSERT INTO documents ({DOCUMENT_COLUMNS}) VALUES (NULL{', ?' * 20})"  # noqa: S608 - constant columns
_ADD_CHUNK = "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_DOCUMENT_CHANGES = (("added", "horizon"), ("removed", "horizon"))
_VECTOR_CHANGES = (("encoded", "encoded_horizon"),)


MAX_LINKS = 20_000
"""Links of one document that are kept. A request for links resolves all of them: of 65,656 in 1.4 MB that took 3.9 s."""

_TwinVector = tuple[str, int, bytes, int | None]
"""An encoder, the position of a chunk, its vector, and the checksum of that."""


class AddedDocument(NamedTuple):
    """A put with the ids of its document and chunks, and the views to which it was added."""

    put: Put
    document_id: int
    chunk_ids: list[int]
    views: int


class AppliedBatch(NamedTuple):
    """The documents that a batch added, and the ids of those that it removed, with their views."""

    sequence: int
    removed: list[tuple[int, int]]
    added: list[AddedDocument]


def apply_batch(connection: sqlite3.Connection, batch: Batch, now_ns: int) -> AppliedBatch:
    """Write a batch: removed documents, added documents, stats and refusals."""
    sequence = _next_sequence(connection)
    replaced_paths = dict.fromkeys((*batch.drops, *(put.document.path for put in batch.puts)))
    connection.executemany("DELETE FROM refusals WHERE path = ?", [(path,) for path in replaced_paths])
    twin_vectors = [_find_twin_vectors(connection, put) for put in batch.puts]
    kept = [_keep_document(connection, put, sequence) for put in batch.puts]
    kept_ids = {document.document_id for document in kept if document}
    removed = [row for path in replaced_paths for row in _remove_documents(connection, path, kept_ids, sequence)]
    touches = [*batch.touches, *((one.put.document.path, one.put.document.stat) for one in kept if one)]
    added, own_vectors = list[AddedDocument](), list[tuple[str, bytes, bytes]]()
    chunk_ids = _unused_chunk_ids(connection)
    for put, vectors, known in zip(batch.puts, twin_vectors, kept, strict=True):
        hashes = [input_hash(put.document.path, chunk.text) for chunk in put.chunks]
        document = known or _add_document(connection, put, list(zip(hashes, chunk_ids, strict=False)), now_ns, sequence)
        _borrow_vectors(connection, document.document_id, vectors)
        if put.vectors is not None:
            own_vectors += zip(repeat(batch.encoder, len(hashes)), hashes, put.vectors, strict=True)
        added.append(document)
    own_vectors.sort()  # neighbours are on one page of the database
    connection.executemany(
        "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, 0, ?)",
        ((*row, vector_checksum(row[2])) for row in own_vectors),
    )
    connection.executemany(
        "UPDATE documents SET size = ?, mtime_ns = ?, inode = ?, ctime_ns = ?, checked_ns = ? WHERE path = ?",
        [(*stat_row(stat), stat.seen_ns or now_ns, path) for path, stat in touches],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO refusals VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(verdict.path, *stat_row(stat), verdict.reason, verdict.detail) for stat, verdict in batch.refusals],
    )
    if removed or any(document.views for document in added):
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('documents', ?)", (str(sequence),))
    _forget_old_changes(connection, _DOCUMENT_CHANGES)
    return AppliedBatch(sequence, removed, added)


def put_vectors(connection: sqlite3.Connection, encoder: str, rows: Iterable[tuple[int, bytes]]) -> None:
    """Store packed vectors of the chunks that still exist."""
    sequence = _next_sequence(connection)
    for chunk_id, vector in rows:
        kept = connection.execute(
            "INSERT OR REPLACE INTO vectors SELECT ?, input_hash, ?, 0, ? FROM chunks WHERE id = ?",
            (encoder, vector, vector_checksum(vector), chunk_id),
        ).rowcount
        if kept:
            # Several chunks may have the same content; all of them have a vector now.
            connection.execute(
                "INSERT INTO changes SELECT ?, 'encoded', id, 3 FROM chunks WHERE input_hash = "
                "(SELECT input_hash FROM chunks WHERE id = ?)",
                (sequence, chunk_id),
            )
    _forget_old_changes(connection, _VECTOR_CHANGES)


def _next_sequence(connection: sqlite3.Connection) -> int:
    """Return the number of a new transaction, which is recorded among the changes, as one of no document and no view.

    Numbers have random steps: of two catalogs that went on from the same copy, neither knows the numbers of the other.
    A derived part of another number than a recorded one is of another content, whichever number is higher.
    """
    query = "UPDATE facts SET value = value + 1 + (random() & ?) WHERE key = 'sequence' RETURNING value"
    sequence = int(connection.execute(query, (_MAX_STEP,)).fetchone()[0])
    connection.execute("INSERT INTO changes VALUES (?, 'added', 0, 0)", (sequence,))
    return sequence


def is_recorded(connection: sqlite3.Connection, sequence: int) -> bool:
    """Return whether a number is one of the transactions of this catalog whose changes are kept, or of an empty one."""
    query = "SELECT 1 FROM changes WHERE what IN ('added', 'removed', 'encoded') AND sequence = ? LIMIT 1"
    return not sequence or connection.execute(query, (sequence,)).fetchone() is not None


def renew_sequence(connection: sqlite3.Connection, distrusted_facts: str) -> None:
    """Begin a new transaction if the last one is not recorded; forget the facts whose keys match a pattern then.

    The number and the changes are in several pages. A copy of the file beside a journal of another moment has pages of
    both, and so does a disk that lost a write. A catalog of an earlier version may lack the record as well.
    """
    sequence = int(connection.execute("SELECT value FROM facts WHERE key = 'sequence'").fetchone()[0])
    if not is_recorded(connection, sequence):
        _next_sequence(connection)
        connection.execute("DELETE FROM facts WHERE key GLOB ?", (distrusted_facts,))


def _keep_document(connection: sqlite3.Connection, put: Put, sequence: int) -> AddedDocument | None:
    """Add a view to the document that is the same representation of the file; None if there is none.

    The lexical index of the other view does not change, and so neither do its answers.
    """
    document = put.document
    values = (document.path, document.content_hash, document.kind, document.language, put.recipe, put.problem)
    query = (
        "SELECT id, views FROM documents WHERE path = ? AND content_hash = ? AND kind = ? AND language = ? "
        "AND recipe = ? AND problem = ? AND is_verbatim = ? AND (views = ? OR ? = 3)"
    )
    views = int(document.views)
    row = connection.execute(query, (*values, document.reading.is_verbatim, views, views)).fetchone()
    if row is None:
        return None
    query = "SELECT id FROM chunks WHERE document_id = ? ORDER BY ordinal"
    chunk_ids = [chunk_id for (chunk_id,) in connection.execute(query, row[:1])]
    if len(chunk_ids) != len(put.chunks) or put.is_repair:
        return None
    new_views = views & ~row[1]
    if new_views:
        connection.execute("UPDATE documents SET views = ? WHERE id = ?", (views, row[0]))
        connection.execute("UPDATE checks SET views = ? WHERE document_id = ?", (views, row[0]))
        connection.execute("INSERT INTO changes VALUES (?, 'added', ?, ?)", (sequence, row[0], new_views))
    return AddedDocument(put, row[0], chunk_ids, new_views)


def _remove_documents(
    connection: sqlite3.Connection, path: str, kept: set[int], sequence: int
) -> list[tuple[int, int]]:
    found = connection.execute("SELECT id, views FROM documents WHERE path = ?", (path,)).fetchall()
    rows = [row for row in found if row[0] not in kept]
    for row in rows:
        check_types(row, (int, int))
    for document_id, _ in rows:
        references = connection.execute("SELECT data FROM source_references WHERE document_id = ?", (document_id,))
        names = [(name, document_id) for (data,) in references for name in packed_checksums(data)]
        connection.executemany("DELETE FROM reference_names WHERE name = ? AND document_id = ?", names)
    connection.executemany("DELETE FROM documents WHERE id = ?", [row[:1] for row in rows])
    connection.executemany("INSERT INTO changes VALUES (?, 'removed', ?, ?)", [(sequence, *row) for row in rows])
    return rows


def _unused_chunk_ids(connection: sqlite3.Connection) -> Iterator[int]:
    """Return the ids of the next chunks; none is used again, as SQLite itself would do."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").fetchone()
    return count(row[0] + 1 if row else 1)


def _add_document(
    connection: sqlite3.Connection, put: Put, numbered: Sequence[tuple[bytes, int]], now_ns: int, sequence: int
) -> AddedDocument:
    """Add a document; `numbered` has the hash of the encoder's input and the id of each chunk."""
    reading, views = put.document.reading, int(put.document.views)
    row, text = document_row(put, now_ns), None
    document_id = connection.execute(_ADD_DOCUMENT, row).lastrowid or 0
    connection.execute("INSERT INTO changes VALUES (?, 'added', ?, ?)", (sequence, document_id, views))
    if not reading.is_verbatim:
        text = zlib.compress(reading.text.encode(), 1)
        connection.execute("INSERT INTO texts VALUES (?, ?)", (document_id, text))
    if reading.details:
        details = zlib.compress(reading.details.encode(), 1)
        connection.execute("INSERT INTO details VALUES (?, ?)", (document_id, details))
    links = [
        (document_id, ordinal, link.target, link.text, link.line)
        for ordinal, link in enumerate(reading.links[:MAX_LINKS])
    ]
    connection.executemany("INSERT INTO links VALUES (?, ?, ?, ?, ?)", links)
    rows = [
        (chunk_id, document_id, ordinal, *chunk_row(chunk, hashed_input))
        for ordinal, (chunk, (hashed_input, chunk_id)) in enumerate(zip(put.chunks, numbered, strict=True))
    ]
    connection.executemany(_ADD_CHUNK, rows)
    checksum = new_document_checksum(row, rows, links, text)
    connection.execute("INSERT INTO checks VALUES (?, ?, ?)", (document_id, checksum, views))
    return AddedDocument(put, document_id, [chunk_id for _, chunk_id in numbered], views)


def _find_twin_vectors(connection: sqlite3.Connection, put: Put) -> list[_TwinVector]:
    """Return the vectors of another document with the same content."""
    query = (
        "SELECT encoder, ordinal, vector, checksum FROM chunks JOIN vectors ON vectors.input_hash = chunks.input_hash "
        "WHERE document_id = (SELECT id FROM documents WHERE content_hash = ? AND recipe = ? AND path != ? "
        "AND views & 1 = ? LIMIT 1)"
    )
    document = put.document
    values = (document.content_hash, put.recipe, document.path, int(document.views & View.PROJECT))
    return connection.execute(query, values).fetchall()


def _borrow_vectors(connection: sqlite3.Connection, document_id: int, vectors: list[_TwinVector]) -> None:
    """Give a document that was moved or copied the vectors of its twin until it has its own."""
    connection.executemany(
        "INSERT OR IGNORE INTO vectors SELECT ?, input_hash, ?, 1, ? FROM chunks WHERE document_id = ? AND ordinal = ?",
        [(encoder, vector, checksum, document_id, ordinal) for encoder, ordinal, vector, checksum in vectors],
    )


def _forget_old_changes(connection: sqlite3.Connection, kinds: Iterable[tuple[str, str]]) -> None:
    """Remove all but the newest `MAX_KEPT_CHANGES` changes of each kind, and record where the kept ones begin."""
    for change, horizon in kinds:
        query = "SELECT sequence FROM changes WHERE what = ? ORDER BY sequence DESC LIMIT 1 OFFSET ?"
        oldest = connection.execute(query, (change, MAX_KEPT_CHANGES)).fetchone()
        if oldest:
            connection.execute("DELETE FROM changes WHERE what = ? AND sequence <= ?", (change, *oldest))
            connection.execute("UPDATE facts SET value = max(value + 0, ?) WHERE key = ?", (*oldest, horizon))


class WorkStart(NamedTuple):
    """The moment at which some work began, before it compared any file with the store; zeros when it is unknown."""

    time_ns: int = 0
    newest_id: int = 0
    """The highest id of a document at that moment."""
    views: int = 0
    """The views that the index had. Files that were compared for other views have to be compared again."""


class CurrentBatch(NamedTuple):
    """The changes of a batch that are still to be made."""

    batch: Batch
    lost: list[str]
    """Paths that were found unchanged, but whose document is not the one that they were compared with."""


def leave_out_overtaken(
    batch: Batch, stored: Mapping[str, tuple[int, int]], start: WorkStart, now_ns: int
) -> CurrentBatch:
    """Leave out the changes to documents that were read later; `stored` has their highest id and when they were checked.

    A stored document from the future says nothing, because the clock was set back.
    """

    def is_outdated(path: str, seen_ns: int) -> bool:
        return path in stored and 0 < seen_ns < stored[path][1] <= now_ns

    touches = [(path, stat) for path, stat in batch.touches if not is_outdated(path, stat.seen_ns)]
    lost = [path for path, _ in touches if path not in stored or 0 < start.newest_id < stored[path][0]]
    current = replace(
        batch,
        puts=[put for put in batch.puts if not is_outdated(put.document.path, put.document.stat.seen_ns)],
        drops=[path for path in batch.drops if not is_outdated(path, start.time_ns)],
        touches=[(path, stat) for path, stat in touches if path not in lost],
    )
    return CurrentBatch(current, lost)
