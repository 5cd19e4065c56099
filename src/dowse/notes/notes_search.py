"""The postings of an index, and the notes that match a query by them, with their scores.

One table has, for each token, the places where it occurs. A place is one number, the document's id in its high half and
the position of the token in its low half. A row has all places of a token in one batch of documents, ascending; places of
later batches are greater. The newest documents are not posted until they make a batch: a row for each word of each
document would take ten times as long to write.

The score of a document is the sum over the query's positive tokens of tf · (ln(N / (df + 1)) + 1), exact to the last bit.
The terms are added in the order of the tokens, starting from 0. The scores therefore do not depend on the order of the
words, the order in which documents were added, or the batches they are stored in.
"""

import json
import math
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dowse.errors import StoreDamaged
from dowse.notes.limits import BATCH_TOKENS
from dowse.notes.notes_database import DiskDatabase
from dowse.notes.notes_tokens import NotesQuery, NotesTokenizer, TokenSequence

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
    find = "SELECT id, text FROM contents WHERE id > (SELECT posted FROM state) ORDER BY id"
    documents = {}
    for number, text in connection.execute(find):
        documents[number] = known[number] if number in known else tokenizer.tokens(text)
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


CheckCancelled = Callable[[], None]
"""Called regularly during a search; raises when the caller has given up."""


class ScoredNotes(NamedTuple):
    """The documents that match, ascending by id, and their scores."""

    ids: Numbers
    scores: npt.NDArray[np.float64]
    weights: dict[str, float]
    """The weight of each token."""


def score_documents(
    connection: sqlite3.Connection,
    tokenizer: NotesTokenizer,
    documents: int,
    query: NotesQuery,
    check_cancelled: CheckCancelled,
) -> ScoredNotes:
    """Return every document that matches, of this many in the index."""
    new = read_new_places(connection, tokenizer)
    places: dict[str, Numbers] = {}

    def read(token: str) -> Numbers:
        if token not in places:
            check_cancelled()
            places[token] = read_places(connection, token, new)
        return places[token]

    def find(tokens: TokenSequence) -> Numbers:
        """Return the documents that contain tokens next to each other."""
        starts = read(tokens[0])
        for distance, token in enumerate(tokens[1:], 1):
            if not len(starts):
                break
            starts = starts[is_in(starts + distance, read(token))]
        return count_places(starts)[0]

    counts = {token: count_places(read(token)) for token in query.positive}
    if not documents:
        return ScoredNotes(np.zeros(0, np.int64), np.zeros(0), {})
    weights = {token: math.log(documents / (len(held) + 1)) + 1 for token, (held, _) in counts.items()}
    ids = np.sort(np.concatenate([held for held, _ in counts.values()]), kind="stable")
    ids = ids[np.diff(ids, prepend=-1) > 0]  # a fifth of the time of `np.unique`
    for tokens in sorted(query.required, key=len):
        ids = ids[is_in(ids, find(tokens))]
    for tokens in query.excluded:
        ids = ids[~is_in(ids, find(tokens))]
    scores = np.zeros(len(ids))
    for token, (held, occurrences) in counts.items():
        is_found = is_in(held, ids)
        scores[np.searchsorted(ids, held[is_found])] += occurrences[is_found] * weights[token]
    return ScoredNotes(ids, scores, weights)


def sort_best(
    connection: sqlite3.Connection, found: ScoredNotes, documents: int, limit: int
) -> list[tuple[float, int]]:
    """Return the scores and ids of the best documents, in order."""
    ids, scores = found.ids, found.scores
    if len(ids) > limit:
        min_score = np.partition(scores, -limit)[-limit]
        is_above, is_equal = scores > min_score, scores == min_score
        equal = _first_by_doc_id(connection, ids[is_equal], documents, limit - int(np.count_nonzero(is_above)))
        is_best = is_above | is_in(ids, equal)
        ids, scores = ids[is_best], scores[is_best]
    doc_ids = dict(_read_doc_ids(connection, ids))
    if len(doc_ids) < len(ids):
        raise note_missing()
    matches = zip(scores.tolist(), ids.tolist(), strict=True)
    return sorted(matches, key=lambda match: (-match[0], doc_ids[match[1]]))


def _first_by_doc_id(connection: sqlite3.Connection, ids: Numbers, documents: int, count: int) -> Numbers:
    """Return the documents with the lowest doc_id: of few, all ids are read; of many, some of the first have them."""
    if len(ids) ** 2 < count * documents:
        by_doc_id = sorted((doc_id, number) for number, doc_id in _read_doc_ids(connection, ids))
        chosen: Iterable[int] = (number for _, number in by_doc_id)
    else:
        wanted = set(ids.tolist())
        in_order = connection.execute("SELECT id FROM documents ORDER BY doc_id")
        chosen = (number for (number,) in in_order if number in wanted)
    return np.sort(np.fromiter(islice(chosen, count), np.int64))


def note_missing() -> StoreDamaged:
    """Return the error of a note that the postings name and that is not there."""
    return StoreDamaged(f"An index of notes is damaged: its words are in a note that is gone. {DiskDatabase.remedy}")


def _read_doc_ids(connection: sqlite3.Connection, ids: Numbers) -> Iterator[tuple[int, str]]:
    query = "SELECT id, doc_id FROM documents WHERE id IN (SELECT value FROM json_each(?))"
    return connection.execute(query, (json.dumps(ids.tolist()),))
