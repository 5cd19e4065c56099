"""The postings of an index: one table that has, for each token, the places where it occurs.

A place is one number, the document's id in its high half and the position of the token in its low half. A row has all
places of a token in one batch of documents, ascending; places of later batches are greater. The newest documents are
not posted until they make a batch: a row for each word of each document would take ten times as long to write.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from dowse.notes.limits import BATCH_TOKENS
from dowse.notes.notes_database import note_checksum
from dowse.notes.notes_documents import NewNote
from dowse.notes.notes_tokens import NotesTokenizer

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_PLACE = np.dtype("<i8")
_ID_SHIFT = 32
_DOCUMENT_TOKENS = 20
"""The number of tokens that a document without tokens counts as in a batch."""


def insert_postings(connection: sqlite3.Connection, tokenizer: NotesTokenizer, known: dict[int, list[str]]) -> None:
    """Post the documents that are not posted yet, if they make a batch. `known` has tokens already computed."""
    measure = "SELECT sum(tokens + ?) FROM documents WHERE id > (SELECT posted FROM state)"
    if connection.execute(measure, (_DOCUMENT_TOKENS,)).fetchone()[0] < BATCH_TOKENS:
        return
    find = "SELECT id FROM documents WHERE id > (SELECT posted FROM state) ORDER BY id"
    documents = {}
    for (number,) in connection.execute(find).fetchall():
        documents[number] = known[number] if number in known else _read_tokens(connection, tokenizer, number)
    first, last = min(documents), max(documents)
    connection.execute("INSERT INTO batches VALUES (?)", (first,))
    rows = ((first, token, places) for token, places in group_places(documents))
    connection.executemany("INSERT INTO postings VALUES (?, ?, ?)", rows)
    connection.execute("UPDATE state SET posted = ?", (last,))


def group_places(documents: dict[int, list[str]]) -> Iterator[tuple[str, bytes]]:
    """Yield each token with its places, in the order of the tokens."""
    if not any(documents.values()):
        return
    vocabulary = defaultdict[str, int]()
    vocabulary.default_factory = vocabulary.__len__
    numbers = np.fromiter(map(vocabulary.__getitem__, chain.from_iterable(documents.values())), np.int64)
    tokens = sorted(vocabulary)
    ranks = np.empty(len(tokens), dtype=np.int64)
    ranks[np.fromiter(map(vocabulary.__getitem__, tokens), np.int64)] = np.arange(len(tokens))
    ranked = ranks[numbers]
    places = np.concatenate([np.arange(len(held)) + (number << _ID_SHIFT) for number, held in documents.items()])
    data = places[np.argsort(ranked, kind="stable")].astype(_PLACE).tobytes()
    ends = _PLACE.itemsize * np.cumsum(np.bincount(ranked, minlength=len(tokens)))
    for token, (start, end) in zip(tokens, pairwise([0, *ends.tolist()]), strict=True):
        yield token, data[start:end]


def _read_tokens(connection: sqlite3.Connection, tokenizer: NotesTokenizer, document: int) -> list[str]:
    text: str = connection.execute("SELECT text FROM contents WHERE id = ?", (document,)).fetchone()[0]
    return tokenizer.tokens(text)


def delete_postings(connection: sqlite3.Connection, document: int, tokens: Sequence[str]) -> None:
    """Remove the tokens of a document, if it is posted."""
    if document > connection.execute("SELECT posted FROM state").fetchone()[0]:
        return
    batch = connection.execute("SELECT max(first) FROM batches WHERE first <= ?", (document,)).fetchone()[0]
    for token in set(tokens):
        key = (batch, token)
        row = connection.execute("SELECT places FROM postings WHERE batch = ? AND token = ?", key).fetchone()
        places = np.frombuffer(row[0], _PLACE) if row else np.zeros(0, _PLACE)
        start, end = np.searchsorted(places, [document << _ID_SHIFT, document + 1 << _ID_SHIFT]).tolist()
        if end - start < len(places):
            kept = np.delete(places, slice(start, end)).tobytes()
            connection.execute("UPDATE postings SET places = ? WHERE batch = ? AND token = ?", (kept, *key))
        else:
            connection.execute("DELETE FROM postings WHERE batch = ? AND token = ?", key)
    if not connection.execute("SELECT 1 FROM postings WHERE batch = ?", (batch,)).fetchone():
        connection.execute("DELETE FROM batches WHERE first = ?", (batch,))


def read_new_places(connection: sqlite3.Connection, tokenizer: NotesTokenizer) -> dict[str, bytes]:
    """Return the places of all tokens in the documents that are not posted yet."""
    rows = connection.execute("SELECT id, text FROM contents WHERE id > (SELECT posted FROM state) ORDER BY id")
    documents = {number: tokenizer.tokens(text) for number, text in rows}
    return dict(group_places(documents))


def read_places(connection: sqlite3.Connection, token: str, new: dict[str, bytes]) -> Numbers:
    """Return all places of a token, ascending."""
    find = "SELECT places FROM batches CROSS JOIN postings ON batch = first WHERE token = ? ORDER BY first"
    data = [places for (places,) in connection.execute(find, (token,))]
    return np.frombuffer(b"".join([*data, new.get(token, b"")]), _PLACE)


def count_places(places: Numbers) -> tuple[Numbers, Numbers]:
    """Return the documents of ascending places, ascending, and the number of places in each."""
    documents = places >> _ID_SHIFT
    starts = np.flatnonzero(np.diff(documents, prepend=-1))
    return documents[starts], np.diff(starts, append=len(documents))


def is_in(wanted: Numbers, numbers: Numbers) -> Flags:
    """Return which of the wanted numbers are among others, which ascend."""
    if not len(numbers):
        return np.zeros(len(wanted), dtype=bool)
    flags: Flags = numbers[np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)] == wanted
    return flags


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
        "INSERT INTO contents VALUES (?, ?, ?)",
        (
            (number, note.content, note_checksum(note.doc_id, note.content, note.metadata))
            for number, (note, _) in numbered
        ),
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
