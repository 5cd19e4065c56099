"""One named index: documents are added, replaced and deleted in it, and it is searched."""

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dowse.errors import DowseError, NotFound
from dowse.notes import segments
from dowse.notes.filters import Filter
from dowse.notes.limits import BULK_TOKENS, DEFAULT_K, TAIL_TOKENS
from dowse.notes.notes_database import NotesDatabase
from dowse.notes.notes_documents import AddedNote, NewNote, StoredNote
from dowse.notes.notes_search import Fits, NotesAnswer, NotesSearch, retrieve
from dowse.notes.notes_tokens import NotesTokenizer, tokenizer_of
from dowse.notes.notes_writer import NotesWriter
from dowse.notes.scoring import Pause
from dowse.notes.snapshots import Views, state_of

_PAGE = 500
"""Documents that an export reads at once."""


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What there is to say of an index."""

    name: str
    backend: str
    tokenizer: NotesTokenizer
    documents: int
    tokens: int
    text_bytes: int
    size_bytes: int
    created: str

    def as_json(self) -> dict[str, Any]:
        """The index as a list of them shows it."""
        return {
            "index_name": self.name,
            "backend": self.backend,
            "documents": self.documents,
            "tokens": self.tokens,
            "text_bytes": self.text_bytes,
            "size_bytes": self.size_bytes,
            "tokenizer_config": self.tokenizer.as_json(),
            "created": self.created,
        }


class NamedIndex:
    """An open index; any thread may call it."""

    def __init__(self, name: str, backend: str, database: NotesDatabase) -> None:
        self.name = name
        self.backend = backend
        self.database = database
        with database.reading() as connection:
            state_of(connection)
            facts = dict(connection.execute("SELECT key, value FROM facts").fetchall())
        self._created = facts["created"]
        self.tokenizer = tokenizer_of(json.loads(facts["tokenizer"]))
        self._views = Views(self.tokenizer)
        self._tidying = threading.Lock()
        self.is_tidy = True
        """As far as this process knows, there is nothing to merge."""

    # Changing it

    def add(self, notes: Sequence[NewNote]) -> list[AddedNote]:
        """Add or replace documents, all or none; durable and visible to everybody at the end."""
        last = {note.doc_id: note for note in notes}
        cut = {doc_id: self.tokenizer.tokens(note.content) for doc_id, note in last.items()}
        with self.database.writing() as connection:
            state = state_of(connection)
            writer = NotesWriter(connection, state)
            there, known = writer.put([(note, cut[note.doc_id]) for note in last.values()])
            if writer.tail_tokens > TAIL_TOKENS or sum(map(len, known.values())) > BULK_TOKENS:
                writer.flushed = segments.flush(connection, self.tokenizer, state.flushed, known)
                writer.tail_tokens = 0
            writer.finish()
        self.is_tidy = self.is_tidy and writer.is_tidy
        return _added(notes, there, self.tokenizer, cut)

    def delete(self, doc_id: str) -> None:
        """Delete a document."""
        with self.database.writing() as connection:
            writer = NotesWriter(connection, state_of(connection))
            if not writer.drop(doc_id):
                raise NotFound(f"Document not found: {doc_id}")
            writer.finish()
        self.is_tidy = self.is_tidy and writer.is_tidy

    def tidy(self) -> None:
        """Merge segments where it pays; what it costs nobody has to wait for, and it may fail without harm."""
        if self.is_tidy or not self._tidying.acquire(blocking=False):
            return
        self.is_tidy = True
        try:
            while self._merged():
                pass
        except (DowseError, sqlite3.Error):
            pass  # no space, or deleted meanwhile: the next change tries again
        finally:
            self._tidying.release()

    def _merged(self) -> bool:
        with self.database.reading() as connection:
            shape = self._views.shape(connection)
            wanted = segments.wanted_merge(shape.sizes())
            if not wanted:
                return False
            merge = segments.prepared(connection, wanted, shape.dead)
        with self.database.writing() as connection:
            state = state_of(connection)
            is_applied = segments.apply(connection, merge)
            if is_applied:
                writer = NotesWriter(connection, state)
                writer.is_changed = True
                writer.finish()
        return is_applied

    def mark_deleted(self) -> None:
        """Tell everybody who has it open that it is gone."""
        with self.database.writing() as connection:
            state_of(connection)
            connection.execute("UPDATE state SET is_deleted = 1")

    # Asking it

    def search(
        self,
        text: str,
        k: int = DEFAULT_K,
        offset: int = 0,
        conditions: Filter = (),
        *,
        pause: Pause = lambda: None,
        fits: Fits = lambda _: True,
    ) -> NotesAnswer:
        """The documents that answer a query, best first; as many as fit."""
        with self.database.reading() as connection:
            view = self._views.view(connection)
            return retrieve(
                connection, view, self.tokenizer, NotesSearch(text, k, offset, conditions), pause=pause, fits=fits
            )

    def document(self, doc_id: str) -> StoredNote:
        """A document as it was added."""
        find = "SELECT doc_id, text, metadata, tokens FROM documents JOIN contents USING (id) WHERE doc_id = ?"
        with self.database.reading() as connection:
            state_of(connection)
            row = connection.execute(find, (doc_id,)).fetchone()
        if row is None:
            raise NotFound(f"Document not found: {doc_id}")
        return _stored(row)

    def every_document(self) -> Iterator[StoredNote]:
        """All documents of one moment, by id."""
        find = (
            "SELECT doc_id, text, metadata, tokens FROM documents JOIN contents USING (id) "
            "WHERE doc_id > ? ORDER BY doc_id LIMIT ?"
        )
        with self.database.reading() as connection:
            state_of(connection)
            after = ""
            while rows := connection.execute(find, (after, _PAGE)).fetchall():
                yield from map(_stored, rows)
                after = rows[-1][0]

    def info(self) -> IndexInfo:
        """What there is to say of it."""
        with self.database.reading() as connection:
            state = state_of(connection)
        return IndexInfo(
            self.name, self.backend, self.tokenizer, state.documents, state.tokens, state.text_bytes,
            self.database.size_bytes(), self._created,
        )  # fmt: skip

    def rest(self) -> None:
        """Give back memory and files that the next question can have again."""
        self._views.forget()
        self.database.rest()

    def close(self) -> None:
        """Close it; one in memory is gone."""
        self.database.close()


def _added(
    notes: Sequence[NewNote], seen: set[str], tokenizer: NotesTokenizer, cut: dict[str, list[str]]
) -> list[AddedNote]:
    """What became of each; one whose id comes twice replaces the first."""
    added = []
    is_single = len(cut) == len(notes)
    for note in notes:
        count = len(cut[note.doc_id] if is_single else tokenizer.tokens(note.content))
        added.append(AddedNote("re-indexed" if note.doc_id in seen else "indexed", note.doc_id, count))
        seen.add(note.doc_id)
    return added


def _stored(row: tuple[Any, ...]) -> StoredNote:
    doc_id, content, metadata, tokens = row
    return StoredNote(doc_id, content, json.loads(metadata), tokens)
