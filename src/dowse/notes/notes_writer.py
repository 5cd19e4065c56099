"""The changes of one transaction: documents come and go, and are counted."""

import sqlite3
from collections.abc import Sequence

from dowse.notes.notes_documents import NewNote
from dowse.notes.snapshots import State

_AT_ONCE = 500
Cut = tuple[NewNote, list[str]]
"""A document and its tokens."""


class NotesWriter:
    """Changes documents, and at the end the counts."""

    def __init__(self, connection: sqlite3.Connection, state: State) -> None:
        self._connection = connection
        self._before = state.flushed
        self.is_changed = False
        self.is_tidy = True
        """Nothing happened to segments."""
        self.flushed = state.flushed
        self.documents = state.documents
        self.tokens = state.tokens
        self.tail_tokens = state.tail_tokens
        self.text_bytes = state.text_bytes

    def put(self, given: Sequence[Cut]) -> tuple[set[str], dict[int, list[str]]]:
        """Add or replace documents; which were there before, and the tokens of those that are new.

        The very same one is left as it is.
        """
        there: set[str] = set()
        known: dict[int, list[str]] = {}
        for start in range(0, len(given), _AT_ONCE):
            some = given[start : start + _AT_ONCE]
            same = self._same(some, there)
            new = [each for each in some if each[0].doc_id not in same]
            for note, _ in new:
                if note.doc_id in there:
                    self.drop(note.doc_id)
            known |= self._insert(new)
        return there, known

    def _same(self, given: Sequence[Cut], there: set[str]) -> set[str]:
        """Ids whose documents are in the index as they are given; all that are in it are added to `there`."""
        marks = ", ".join("?" * len(given))
        query = f"SELECT doc_id, id, metadata FROM documents WHERE doc_id IN ({marks})"  # noqa: S608 - marks alone
        found = self._connection.execute(query, [note.doc_id for note, _ in given]).fetchall()
        there |= {doc_id for doc_id, _, _ in found}
        notes = {note.doc_id: note for note, _ in given} if found else {}
        read = "SELECT text FROM contents WHERE id = ?"
        return {
            doc_id
            for doc_id, number, metadata in found
            if notes[doc_id].metadata == metadata
            and self._connection.execute(read, (number,)).fetchone()[0] == notes[doc_id].content
        }

    def _insert(self, new: Sequence[Cut]) -> dict[int, list[str]]:
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

    def drop(self, doc_id: str) -> bool:
        """Delete a document; whether there was one."""
        find = "SELECT id, tokens, length(CAST(text AS BLOB)) FROM documents JOIN contents USING (id) WHERE doc_id = ?"
        row = self._connection.execute(find, (doc_id,)).fetchone()
        if row is None:
            return False
        number, tokens, size = row
        self._connection.execute("DELETE FROM documents WHERE id = ?", (number,))
        self._connection.execute("DELETE FROM contents WHERE id = ?", (number,))
        if number <= self._before:
            self._connection.execute("INSERT INTO dead VALUES (?)", (number,))
            self.is_tidy = False
        self._count(-1, -tokens, -size, is_in_tail=number > self._before)
        return True

    def _count(self, documents: int, tokens: int, text_bytes: int, *, is_in_tail: bool) -> None:
        self.is_changed = True
        self.documents += documents
        self.tokens += tokens
        self.text_bytes += text_bytes
        self.tail_tokens += tokens if is_in_tail else 0

    def finish(self) -> None:
        """Write the counts, and that something changed; where nothing did, not a bit of the index is touched."""
        if not self.is_changed:
            return
        self.is_tidy = self.is_tidy and self.flushed == self._before
        counts = (self.flushed, self.documents, self.tokens, self.tail_tokens, self.text_bytes)
        self._connection.execute(
            "UPDATE state SET version = version + 1, flushed = ?, documents = ?, tokens = ?, tail_tokens = ?, "
            "text_bytes = ?",
            counts,
        )
