"""One named index: adding, replacing, deleting, reading and searching its documents."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dowse.errors import NotFound, StoreDamaged, UsageError
from dowse.notes.highlights import find_highlights
from dowse.notes.limits import DEFAULT_K
from dowse.notes.notes_database import DiskDatabase, NotesDatabase, check_note, note_checksum
from dowse.notes.notes_documents import AddedNote, NewNote, StoredNote
from dowse.notes.notes_search import (
    CheckCancelled,
    delete_postings,
    insert_postings,
    note_missing,
    score_documents,
    sort_best,
)
from dowse.notes.notes_tokens import NotesTokenizer, parse_tokenizer_config, tokenize_query
from dowse.text.query_syntax import Query, parse_query

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


@dataclass(frozen=True, slots=True)
class NoteResult:
    """A document that matches, as in a reply."""

    doc_id: str
    score: float
    highlights: list[str]
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class NotesAnswer:
    """A page of results, the total number of matches, and the parsed query."""

    total: int
    query: Query
    ignored: tuple[str, ...]
    """Words that yield no token in this index."""
    results: tuple[NoteResult, ...] = ()


_STORED = "SELECT doc_id, text, metadata, tokens, checksum FROM documents JOIN contents USING (id) WHERE"


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
        tokens = [self.tokenizer.tokens(note.content) for note in notes]
        last = {
            note.doc_id: (note, held) for note, held in zip(notes, tokens, strict=True)
        }  # the last of one id counts
        existing, new = set[str](), list[tuple[NewNote, list[str]]]()
        find = "SELECT metadata, text FROM documents JOIN contents USING (id) WHERE doc_id = ?"
        with self.database.transaction() as connection:
            for doc_id, (note, held) in last.items():
                stored = connection.execute(find, (doc_id,)).fetchone()
                if stored:
                    existing.add(doc_id)
                if stored != (note.metadata, note.content):  # an identical document is not written
                    new.append((note, held))
            for note, _ in new:
                if note.doc_id in existing:
                    self._delete(connection, note.doc_id)
            if new:
                self._insert(connection, new)
        added = []
        for note, held in zip(notes, tokens, strict=True):
            added.append(AddedNote("re-indexed" if note.doc_id in existing else "indexed", note.doc_id, len(held)))
            existing.add(note.doc_id)
        return added

    def _insert(self, connection: sqlite3.Connection, new: Sequence[tuple[NewNote, list[str]]]) -> None:
        row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'documents'").fetchone()
        numbered = list(enumerate(new, (row[0] if row else 0) + 1))
        connection.executemany(
            "INSERT INTO documents VALUES (?, ?, ?, ?)",
            ((number, note.doc_id, len(tokens), note.metadata) for number, (note, tokens) in numbered),
        )
        connection.executemany(
            "INSERT INTO contents VALUES (?, ?, ?)",
            (
                (number, note.content, note_checksum(note.doc_id, note.content, note.metadata))
                for number, (note, _) in numbered
            ),
        )
        insert_postings(connection, self.tokenizer, {number: tokens for number, (_, tokens) in numbered})
        sizes = (len(note.content if note.content.isascii() else note.content.encode()) for note, _ in new)
        _count(connection, len(new), sum(len(tokens) for _, tokens in new), sum(sizes))

    def delete(self, doc_id: str) -> None:
        with self.database.transaction() as connection:
            if not self._delete(connection, doc_id):
                raise NotFound(f"Document not found: {doc_id}")

    def _delete(self, connection: sqlite3.Connection, doc_id: str) -> bool:
        """Delete a document; return whether it existed."""
        find = "SELECT id, text FROM documents JOIN contents USING (id) WHERE doc_id = ?"
        row = connection.execute(find, (doc_id,)).fetchone()
        if row is None:
            return False
        number, text = row
        tokens = self.tokenizer.tokens(text)
        connection.execute("DELETE FROM documents WHERE id = ?", (number,))
        connection.execute("DELETE FROM contents WHERE id = ?", (number,))
        delete_postings(connection, number, tokens)
        _count(connection, -1, -len(tokens), -len(text.encode()))
        return True

    # Reading the index

    def search(
        self,
        text: str,
        k: int = DEFAULT_K,
        offset: int = 0,
        *,
        check_cancelled: CheckCancelled = lambda: None,
    ) -> NotesAnswer:
        """Return the documents that match a query, best first; equal scores come in order of id."""
        parsed = parse_query(text)
        query = tokenize_query(parsed, self.tokenizer)
        with self.database.snapshot() as connection:
            documents, _, _ = _read_counts(connection)
            if not query.positive:
                return NotesAnswer(0, parsed, query.ignored)
            found = score_documents(connection, self.tokenizer, documents, query, check_cancelled)
            results = []
            for score, number in sort_best(connection, found, documents, offset + k)[offset:]:
                check_cancelled()
                row = connection.execute(f"{_STORED} id = ?", (number,)).fetchone()
                if row is None:
                    raise note_missing()
                note = _make_stored(row)
                highlights = find_highlights(note.content, query, found.weights, self.tokenizer)
                results.append(NoteResult(note.doc_id, score, highlights, note.metadata))
            return NotesAnswer(len(found.ids), parsed, query.ignored, tuple(results))

    def document(self, doc_id: str) -> StoredNote:
        """Return a document as it was added."""
        with self.database.snapshot() as connection:
            if row := connection.execute(f"{_STORED} doc_id = ?", (doc_id,)).fetchone():
                return _make_stored(row)  # in the snapshot, which recognizes damage by an odd value
        raise NotFound(f"Document not found: {doc_id}")

    def every_document(self) -> Iterator[StoredNote]:
        """Yield all documents of one consistent state, by id."""
        find = f"{_STORED} doc_id > ? ORDER BY doc_id LIMIT ?"
        with self.database.snapshot() as connection:
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
    """Return the documents, tokens and bytes of an index."""
    row = connection.execute("SELECT documents, tokens, text_bytes FROM state").fetchone()
    if row is None or set(map(type, row)) != {int}:
        raise StoreDamaged(f"An index of notes is damaged: its counts cannot be read. {DiskDatabase.remedy}")
    documents, tokens, text_bytes = row
    return documents, tokens, text_bytes


def _count(connection: sqlite3.Connection, documents: int, tokens: int, text_bytes: int) -> None:
    connection.execute(
        "UPDATE state SET documents = documents + ?, tokens = tokens + ?, text_bytes = text_bytes + ?",
        (documents, tokens, text_bytes),
    )


def _make_stored(row: tuple[Any, ...]) -> StoredNote:
    doc_id, content, metadata, tokens, checksum = row
    check_note(doc_id, content, metadata, tokens, checksum)
    return StoredNote(doc_id, content, json.loads(metadata), tokens)
