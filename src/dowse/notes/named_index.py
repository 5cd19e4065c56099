"""One named index: adding, replacing, deleting, reading and searching its documents."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dowse.errors import NotFound, SnapshotGone, StoreDamaged, UsageError
from dowse.notes.limits import DEFAULT_K
from dowse.notes.notes_database import DiskDatabase, NotesDatabase, check_note
from dowse.notes.notes_documents import AddedNote, NewNote, StoredNote
from dowse.notes.notes_search import CheckCancelled, Fits, NotesAnswer, delete_note, put_notes, search_notes
from dowse.notes.notes_tokens import NotesTokenizer, parse_tokenizer_config

_EXPORT_PAGE_DOCUMENTS = 500
"""Documents that an export reads with one query."""


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The name, configuration and size of an index, as in a list of indexes."""

    index_name: str
    backend: str
    documents: int
    tokens: int
    text_bytes: int
    size_bytes: int
    tokenizer_config: NotesTokenizer
    created: str


_STORED = "SELECT doc_id, text, metadata, tokens, checksum FROM documents JOIN contents USING (id) WHERE doc_id"


class NamedIndex:
    """An open index. Safe to use from several threads."""

    def __init__(self, name: str, backend: str, database: NotesDatabase) -> None:
        self.name = name
        self.backend = backend
        self.database = database
        with database.snapshot() as connection:
            _read_counts(connection)
            facts = dict(connection.execute("SELECT key, value FROM facts").fetchall())
        try:
            self._created = facts["created"]
            self.tokenizer = parse_tokenizer_config(json.loads(facts["tokenizer"]))
        except (KeyError, ValueError, TypeError, UsageError) as error:
            raise StoreDamaged(
                f"The index {name} is damaged: its settings cannot be read. {DiskDatabase.remedy}"
            ) from error

    # Changing the index

    def add(self, notes: Sequence[NewNote]) -> list[AddedNote]:
        """Add or replace documents, all or none. On return they are durable and visible to every process."""
        tokenized = [(note, self.tokenizer.tokens(note.content)) for note in notes]
        last = {note.doc_id: (note, tokens) for note, tokens in tokenized}  # of two with one id, it replaces the first
        with self.database.transaction() as connection:
            _read_counts(connection)
            existing = put_notes(connection, self.tokenizer, list(last.values()))
        added = []
        for note, tokens in tokenized:
            added.append(AddedNote("re-indexed" if note.doc_id in existing else "indexed", note.doc_id, len(tokens)))
            existing.add(note.doc_id)
        return added

    def delete(self, doc_id: str) -> None:
        with self.database.transaction() as connection:
            _read_counts(connection)
            if not delete_note(connection, self.tokenizer, doc_id):
                raise NotFound(f"Document not found: {doc_id}")

    def mark_deleted(self) -> None:
        """Mark the index as deleted, for every process that has it open."""
        with self.database.transaction() as connection:
            _read_counts(connection)
            connection.execute("UPDATE state SET is_deleted = 1")

    # Reading the index

    def search(
        self,
        text: str,
        k: int = DEFAULT_K,
        offset: int = 0,
        *,
        check_cancelled: CheckCancelled = lambda: None,
        fits: Fits = lambda _: True,
    ) -> NotesAnswer:
        """Return the documents that match a query, best first, as many as fit."""
        with self.database.snapshot() as connection:
            documents, _, _ = _read_counts(connection)
            options: dict[str, Any] = {"k": k, "offset": offset, "check_cancelled": check_cancelled, "fits": fits}
            return search_notes(connection, documents, self.tokenizer, text, **options)

    def document(self, doc_id: str) -> StoredNote:
        """Return a document as it was added."""
        with self.database.snapshot() as connection:
            _read_counts(connection)
            if row := connection.execute(f"{_STORED} = ?", (doc_id,)).fetchone():
                return _make_stored(row)  # in the snapshot, which recognizes damage by an odd value
        raise NotFound(f"Document not found: {doc_id}")

    def every_document(self) -> Iterator[StoredNote]:
        """Yield all documents of one consistent state, by id."""
        find = f"{_STORED} > ? ORDER BY doc_id LIMIT ?"
        with self.database.snapshot() as connection:
            _read_counts(connection)
            after = ""
            while rows := connection.execute(find, (after, _EXPORT_PAGE_DOCUMENTS)).fetchall():
                yield from map(_make_stored, rows)
                after = rows[-1][0]

    def info(self) -> IndexInfo:
        """Return the name, configuration and size of the index."""
        with self.database.snapshot() as connection:
            counts = _read_counts(connection)
        return IndexInfo(self.name, self.backend, *counts, self.database.size_bytes(), self.tokenizer, self._created)

    def close(self) -> None:
        """Close the index. An index in memory is lost."""
        self.database.close()


def _read_counts(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Return the documents, tokens and bytes of an index. Raise SnapshotGone if the index was deleted."""
    query = "SELECT documents, tokens, text_bytes, is_deleted FROM state"
    row = connection.execute(query).fetchone()
    if row is None or set(map(type, row)) != {int}:
        raise StoreDamaged(f"An index of notes is damaged: its counts cannot be read. {DiskDatabase.remedy}")
    if row[3]:
        raise SnapshotGone("The index was deleted.")
    return row[0], row[1], row[2]


def _make_stored(row: tuple[Any, ...]) -> StoredNote:
    doc_id, content, metadata, tokens, checksum = row
    check_note(doc_id, content, metadata, checksum)
    return StoredNote(doc_id, content, json.loads(metadata), tokens)
