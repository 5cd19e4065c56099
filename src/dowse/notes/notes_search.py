"""The search of one index, from the query text to a page of results, within one transaction."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dowse.notes.filters import Filter, holds
from dowse.notes.highlights import find_highlights
from dowse.notes.notes_postings import Flags
from dowse.notes.notes_query import tokenize_query
from dowse.notes.notes_tokens import NotesTokenizer
from dowse.notes.scoring import CheckCancelled, IdFilter, Match, score_documents
from dowse.notes.segment_readers import Ids
from dowse.notes.snapshots import IndexSnapshot
from dowse.query_syntax import Query, parse_query

_ROWS_PER_QUERY = 500
_DENSE_FACTOR = 4
"""Reading all documents in sequence is faster if more than one in four is needed."""


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
class NotesSearch:
    """A query, its filter, and the page of results to return."""

    text: str
    k: int
    offset: int
    conditions: Filter


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
    snapshot: IndexSnapshot,
    tokenizer: NotesTokenizer,
    request: NotesSearch,
    *,
    check_cancelled: CheckCancelled,
    fits: Fits,
) -> NotesAnswer:
    """Return the documents that match, from `offset` on, best first; equal scores come in order of id."""
    parsed = parse_query(request.text)
    query = tokenize_query(parsed, tokenizer)
    if not query.positive:
        return NotesAnswer(0, parsed, query.ignored)
    documents = snapshot.state.documents
    id_filter = (
        _make_id_filter(connection, request.conditions, documents, check_cancelled) if request.conditions else None
    )
    end = request.offset + request.k
    found = score_documents(
        snapshot.readers(connection), documents, query, end, id_filter=id_filter, check_cancelled=check_cancelled
    )
    page = _sort_matches(connection, found.best, end)[request.offset : end]
    results = []
    for score, doc_id, number in page:
        check_cancelled()
        text, metadata = _read_document(connection, number)
        highlights = find_highlights(text, query, found.weights, tokenizer)
        result = NoteResult(doc_id, score, tuple(highlights), json.loads(metadata))
        if not fits(result):
            break
        results.append(result)
    return NotesAnswer(found.total, parsed, query.ignored, tuple(results))


def _sort_matches(connection: sqlite3.Connection, best: Sequence[Match], limit: int) -> list[tuple[float, str, int]]:
    """Return the score, doc_id and id of the best matches, in order. Ids are read only for scores within the limit."""
    scores = sorted((match.score for match in best), reverse=True)
    min_score = scores[limit - 1] if len(scores) > limit else 0.0
    candidates = {match.id: match.score for match in best if match.score >= min_score}
    doc_ids = _read_column(connection, "doc_id", list(candidates))
    matches = [(candidates[number], doc_id, number) for number, doc_id in doc_ids]
    return sorted(matches, key=lambda match: (-match[0], match[1]))


def _read_document(connection: sqlite3.Connection, number: int) -> tuple[str, str]:
    query = "SELECT text, metadata FROM documents JOIN contents USING (id) WHERE id = ?"
    row: tuple[str, str] = connection.execute(query, (number,)).fetchone()
    return row


def _make_id_filter(
    connection: sqlite3.Connection, conditions: Filter, documents: int, check_cancelled: CheckCancelled
) -> IdFilter:
    """Return a filter by conditions. Metadata that several documents share is evaluated once."""
    verdicts: dict[str, bool] = {}

    def id_filter(ids: Ids) -> Flags:
        is_kept = np.zeros(len(ids), dtype=bool)
        places = {number: place for place, number in enumerate(ids.tolist())}
        is_dense = len(ids) * _DENSE_FACTOR > documents
        rows = _read_metadata_range(connection, ids) if is_dense else _read_column(connection, "metadata", list(places))
        for count, (number, metadata) in enumerate(rows):
            if count % 1000 == 0:
                check_cancelled()
            place = places.get(number)
            if place is not None:
                if metadata not in verdicts:
                    verdicts[metadata] = holds(conditions, json.loads(metadata))
                is_kept[place] = verdicts[metadata]
        return is_kept

    return id_filter


def _read_metadata_range(connection: sqlite3.Connection, ids: Ids) -> Iterator[tuple[int, str]]:
    query = "SELECT id, metadata FROM documents WHERE id BETWEEN ? AND ?"
    return iter(connection.execute(query, (int(ids.min()), int(ids.max()))))


def _read_column(connection: sqlite3.Connection, column: str, ids: Sequence[int]) -> Iterator[tuple[int, str]]:
    for start in range(0, len(ids), _ROWS_PER_QUERY):
        batch = ids[start : start + _ROWS_PER_QUERY]
        marks = ", ".join("?" * len(batch))
        query = f"SELECT id, {column} FROM documents WHERE id IN ({marks})"  # noqa: S608 - a column name and marks
        yield from connection.execute(query, batch)
