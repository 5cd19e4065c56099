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
    rows = ((first, token, places) for token, places in _group_places(documents))
    connection.executemany("INSERT INTO postings VALUES (?, ?, ?)", rows)
    connection.execute("UPDATE state SET posted = ?", (last,))


def _group_places(documents: dict[int, list[str]]) -> Iterator[tuple[str, bytes]]:
    """Yield each token with its places, in the order of the tokens."""
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
    return dict(_group_places(documents)) if documents else {}


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
