"""The search of one index, from the query text to a page of results, within one transaction.

The score of a document is the sum over the query's positive tokens of tf · (ln(N / (df + 1)) + 1), exact to the last bit.
The terms are added in the order of the tokens, starting from 0. The scores therefore do not depend on the order of the
words, the order in which documents were added, or the batches they are stored in.
"""

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from dowse.errors import StoreDamaged
from dowse.notes.highlights import find_highlights
from dowse.notes.notes_database import DiskDatabase, check_note
from dowse.notes.notes_tokens import NotesQuery, NotesTokenizer, TokenSequence, tokenize_query
from dowse.notes.postings import Numbers, count_places, is_in, read_new_places, read_places
from dowse.text.query_syntax import Query, parse_query

CheckCancelled = Callable[[], None]
"""Called regularly during a search; raises when the caller has given up."""


@dataclass(frozen=True, slots=True)
class ScoredNotes:
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
    weights = {token: token_weight(documents, len(held)) for token, (held, _) in counts.items()}
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


def token_weight(documents: int, holders: int) -> float:
    """Return the weight of one occurrence of a token: ln(N / (df + 1)) + 1."""
    return math.log(documents / (holders + 1)) + 1 if documents else 0.0


_ROWS_PER_QUERY = 500


@dataclass(frozen=True, slots=True)
class NoteResult:
    """A document that matches."""

    doc_id: str
    score: float
    highlights: tuple[str, ...]
    metadata: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return the result as it appears in a reply."""
        return {
            "doc_id": self.doc_id,
            "score": self.score,
            "highlights": list(self.highlights),
            "metadata": self.metadata,
        }


@dataclass(frozen=True, slots=True)
class NotesAnswer:
    """A page of results, the total number of matches, and the parsed query."""

    total: int
    query: Query
    ignored: tuple[str, ...]
    """Words that yield no token in this index."""
    results: tuple[NoteResult, ...] = ()


Fits = Callable[[NoteResult], bool]
"""Tells whether the reply has room for one more result. The search stops at the first that does not fit."""


def search_notes(
    connection: sqlite3.Connection,
    documents: int,
    tokenizer: NotesTokenizer,
    text: str,
    *,
    k: int,
    offset: int,
    check_cancelled: CheckCancelled,
    fits: Fits,
) -> NotesAnswer:
    """Return the documents that match, from `offset` on, best first; equal scores come in order of id."""
    parsed = parse_query(text)
    query = tokenize_query(parsed, tokenizer)
    if not query.positive:
        return NotesAnswer(0, parsed, query.ignored)
    found = score_documents(connection, tokenizer, documents, query, check_cancelled)
    end = offset + k
    page = _sort_best(connection, found, documents, end)[offset:end]
    results = []
    for score, doc_id, number in page:
        check_cancelled()
        content, metadata = _read_document(connection, number)
        highlights = find_highlights(content, query, found.weights, tokenizer)
        result = NoteResult(doc_id, score, tuple(highlights), json.loads(metadata))
        if not fits(result):
            break
        results.append(result)
    return NotesAnswer(len(found.ids), parsed, query.ignored, tuple(results))


def _sort_best(
    connection: sqlite3.Connection, found: ScoredNotes, documents: int, limit: int
) -> list[tuple[float, str, int]]:
    """Return the score, doc_id and id of the best documents, in order."""
    ids, scores = found.ids, found.scores
    if len(ids) > limit:
        min_score = np.partition(scores, -limit)[-limit]
        is_above, is_equal = scores > min_score, scores == min_score
        equal = _first_by_doc_id(connection, ids[is_equal], documents, limit - int(np.count_nonzero(is_above)))
        is_best = is_above | is_in(ids, equal)
        ids, scores = ids[is_best], scores[is_best]
    doc_ids = dict(_read_doc_ids(connection, ids.tolist()))
    if len(doc_ids) < len(ids):
        raise _note_missing()
    matches = [(score, doc_ids[number], number) for score, number in zip(scores.tolist(), ids.tolist(), strict=True)]
    return sorted(matches, key=lambda match: (-match[0], match[1]))


def _first_by_doc_id(connection: sqlite3.Connection, ids: Numbers, documents: int, count: int) -> Numbers:
    """Return the documents with the lowest doc_id: of few, all ids are read; of many, some of the first have them."""
    if len(ids) ** 2 < count * documents:
        by_doc_id = sorted((doc_id, number) for number, doc_id in _read_doc_ids(connection, ids.tolist()))
        chosen: Iterable[int] = (number for _, number in by_doc_id)
    else:
        wanted = set(ids.tolist())
        in_order = connection.execute("SELECT id FROM documents ORDER BY doc_id")
        chosen = (number for (number,) in in_order if number in wanted)
    return np.sort(np.fromiter(islice(chosen, count), np.int64))


def _read_document(connection: sqlite3.Connection, number: int) -> tuple[str, str]:
    query = "SELECT doc_id, text, metadata, checksum FROM documents JOIN contents USING (id) WHERE id = ?"
    row = connection.execute(query, (number,)).fetchone()
    if row is None:
        raise _note_missing()
    doc_id, text, metadata, checksum = row
    check_note(doc_id, text, metadata, checksum)
    return text, metadata


def _note_missing() -> StoreDamaged:
    return StoreDamaged(f"An index of notes is damaged: its words are in a note that is gone. {DiskDatabase.remedy}")


def _read_doc_ids(connection: sqlite3.Connection, ids: Sequence[int]) -> Iterator[tuple[int, str]]:
    for start in range(0, len(ids), _ROWS_PER_QUERY):
        batch = ids[start : start + _ROWS_PER_QUERY]
        marks = ", ".join("?" * len(batch))
        query = f"SELECT id, doc_id FROM documents WHERE id IN ({marks})"  # noqa: S608 - marks alone
        yield from connection.execute(query, batch)
