"""Changes of an index within one transaction: adding, replacing and deleting documents, and updating the counts."""

import sqlite3
from collections.abc import Sequence

from dowse.notes.notes_documents import NewNote
from dowse.notes.notes_tokens import NotesTokenizer
from dowse.notes.postings import delete_postings, insert_postings

_ROWS_PER_QUERY = 500
TokenizedNote = tuple[NewNote, list[str]]
"""A document and its tokens."""


def put_notes(connection: sqlite3.Connection, tokenizer: NotesTokenizer, notes: Sequence[TokenizedNote]) -> set[str]:
    """Add or replace documents; return the ids that existed before. An identical document is not written."""
    existing: set[str] = set()
    new: list[TokenizedNote] = []
    for start in range(0, len(notes), _ROWS_PER_QUERY):
        batch = notes[start : start + _ROWS_PER_QUERY]
        unchanged = _find_unchanged(connection, [note for note, _ in batch], existing)
        new += [(note, tokens) for note, tokens in batch if note.doc_id not in unchanged]
    for note, _ in new:
        if note.doc_id in existing:
            delete_note(connection, tokenizer, note.doc_id)
    if new:
        _insert_notes(connection, tokenizer, new)
    return existing


def _find_unchanged(connection: sqlite3.Connection, notes: Sequence[NewNote], existing: set[str]) -> set[str]:
    """Return the ids of documents that are identical to the stored ones. Add every stored id to `existing`."""
    marks = ", ".join("?" * len(notes))
    query = f"SELECT doc_id, id, metadata FROM documents WHERE doc_id IN ({marks})"  # noqa: S608 - marks alone
    rows = connection.execute(query, [note.doc_id for note in notes]).fetchall()
    existing |= {doc_id for doc_id, _, _ in rows}
    by_id = {note.doc_id: note for note in notes} if rows else {}
    read = "SELECT text FROM contents WHERE id = ?"
    return {
        doc_id
        for doc_id, number, metadata in rows
        if by_id[doc_id].metadata == metadata
        and connection.execute(read, (number,)).fetchone()[0] == by_id[doc_id].content
    }


def _insert_notes(connection: sqlite3.Connection, tokenizer: NotesTokenizer, new: Sequence[TokenizedNote]) -> None:
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'documents'").fetchone()
    numbered = list(enumerate(new, (row[0] if row else 0) + 1))
    connection.executemany(
        "INSERT INTO documents VALUES (?, ?, ?, ?)",
        ((number, note.doc_id, len(tokens), note.metadata) for number, (note, tokens) in numbered),
    )
    connection.executemany(
        "INSERT INTO contents VALUES (?, ?)", ((number, note.content) for number, (note, _) in numbered)
    )
    insert_postings(connection, tokenizer, {number: tokens for number, (_, tokens) in numbered})
    sizes = (len(note.content if note.content.isascii() else note.content.encode()) for note, _ in new)
    _count(connection, len(new), sum(len(tokens) for _, tokens in new), sum(sizes))


def delete_note(connection: sqlite3.Connection, tokenizer: NotesTokenizer, doc_id: str) -> bool:
    """Delete a document; return whether it existed."""
    find = "SELECT id, tokens, text FROM documents JOIN contents USING (id) WHERE doc_id = ?"
    row = connection.execute(find, (doc_id,)).fetchone()
    if row is None:
        return False
    number, tokens, text = row
    connection.execute("DELETE FROM documents WHERE id = ?", (number,))
    connection.execute("DELETE FROM contents WHERE id = ?", (number,))
    delete_postings(connection, number, tokenizer.tokens(text))
    _count(connection, -1, -tokens, -len(text.encode()))
    return True


def _count(connection: sqlite3.Connection, documents: int, tokens: int, text_bytes: int) -> None:
    connection.execute(
        "UPDATE state SET documents = documents + ?, tokens = tokens + ?, text_bytes = text_bytes + ?",
        (documents, tokens, text_bytes),
    )
