"""The changes of one transaction: adding, replacing and deleting documents, and updating the counts."""

import sqlite3
from collections.abc import Sequence

from dowse.notes.notes_documents import NewNote
from dowse.notes.snapshots import IndexState

_ROWS_PER_QUERY = 500
TokenizedNote = tuple[NewNote, list[str]]
"""A document and its tokens."""


class NotesWriter:
    """Changes documents within one transaction; `finish` writes the counts."""

    def __init__(self, connection: sqlite3.Connection, state: IndexState) -> None:
        self._connection = connection
        self._flushed_before = state.flushed
        self.is_changed = False
        self.is_tidy = True
        """Whether no segment needs a merge because of these changes."""
        self.flushed = state.flushed
        self.documents = state.documents
        self.tokens = state.tokens
        self.tail_tokens = state.tail_tokens
        self.text_bytes = state.text_bytes

    def put(self, notes: Sequence[TokenizedNote]) -> tuple[set[str], dict[int, list[str]]]:
        """Add or replace documents. Return the ids that existed before, and the tokens of the new rows.

        A document that is identical to the stored one is not written.
        """
        existing: set[str] = set()
        known: dict[int, list[str]] = {}
        for start in range(0, len(notes), _ROWS_PER_QUERY):
            batch = notes[start : start + _ROWS_PER_QUERY]
            unchanged = self._find_unchanged(batch, existing)
            new = [(note, tokens) for note, tokens in batch if note.doc_id not in unchanged]
            for note, _ in new:
                if note.doc_id in existing:
                    self.delete(note.doc_id)
            known |= self._insert(new)
        return existing, known

    def _find_unchanged(self, batch: Sequence[TokenizedNote], existing: set[str]) -> set[str]:
        """Return the ids of documents that are identical to the stored ones. Add every stored id to `existing`."""
        marks = ", ".join("?" * len(batch))
        query = f"SELECT doc_id, id, metadata FROM documents WHERE doc_id IN ({marks})"  # noqa: S608 - marks alone
        rows = self._connection.execute(query, [note.doc_id for note, _ in batch]).fetchall()
        existing |= {doc_id for doc_id, _, _ in rows}
        notes = {note.doc_id: note for note, _ in batch} if rows else {}
        read = "SELECT text FROM contents WHERE id = ?"
        return {
            doc_id
            for doc_id, number, metadata in rows
            if notes[doc_id].metadata == metadata
            and self._connection.execute(read, (number,)).fetchone()[0] == notes[doc_id].content
        }

    def _insert(self, new: Sequence[TokenizedNote]) -> dict[int, list[str]]:
        row = self._connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'documents'").fetchone()
        numbered = list(enumerate(new, (row[0] if row else 0) + 1))
        self._connection.executemany(
            "INSERT INTO documents VALUES (?, ?, ?, ?)",
            ((number, note.doc_id, len(tokens), note.metadata) for number, (note, tokens) in numbered),
        )
        self._connection.executemany(
            "INSERT INTO contents VALUES (?, ?)", ((number, note.content) for number, (note, _) in numbered)
        )
        for note, tokens in new:
            size = len(note.content) if note.content.isascii() else len(note.content.encode())
            self._count(1, len(tokens), size, is_in_tail=True)
        return {number: tokens for number, (_, tokens) in numbered}

    def delete(self, doc_id: str) -> bool:
        """Delete a document; return whether it existed."""
        find = "SELECT id, tokens, length(CAST(text AS BLOB)) FROM documents JOIN contents USING (id) WHERE doc_id = ?"
        row = self._connection.execute(find, (doc_id,)).fetchone()
        if row is None:
            return False
        number, tokens, size = row
        self._connection.execute("DELETE FROM documents WHERE id = ?", (number,))
        self._connection.execute("DELETE FROM contents WHERE id = ?", (number,))
        if number <= self._flushed_before:
            self._connection.execute("INSERT INTO dead VALUES (?)", (number,))
            self.is_tidy = False
        self._count(-1, -tokens, -size, is_in_tail=number > self._flushed_before)
        return True

    def _count(self, documents: int, tokens: int, text_bytes: int, *, is_in_tail: bool) -> None:
        self.is_changed = True
        self.documents += documents
        self.tokens += tokens
        self.text_bytes += text_bytes
        self.tail_tokens += tokens if is_in_tail else 0

    def finish(self) -> None:
        """Write the counts and a new version, unless nothing changed."""
        if not self.is_changed:
            return
        self.is_tidy = self.is_tidy and self.flushed == self._flushed_before
        counts = (self.flushed, self.documents, self.tokens, self.tail_tokens, self.text_bytes)
        self._connection.execute(
            "UPDATE state SET version = version + 1, flushed = ?, documents = ?, tokens = ?, tail_tokens = ?, "
            "text_bytes = ?",
            counts,
        )
