"""A search from the query to the page of results, in one transaction."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dowse.notes.filters import Filter, holds
from dowse.notes.highlights import highlights
from dowse.notes.notes_postings import Flags
from dowse.notes.notes_query import ask
from dowse.notes.notes_tokens import NotesTokenizer
from dowse.notes.scoring import Keep, Match, Pause, find
from dowse.notes.segment_readers import Ids
from dowse.notes.snapshots import View
from dowse.query_syntax import Query, parse

_AT_ONCE = 500
_EVERY = 4
"""Where every fourth document is asked for, reading all of them in a row is faster."""


@dataclass(frozen=True, slots=True)
class NoteResult:
    """A document that was found."""

    doc_id: str
    score: float
    highlights: tuple[str, ...]
    metadata: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The document as a reply tells of it."""
        return {
            "doc_id": self.doc_id,
            "score": self.score,
            "highlights": list(self.highlights),
            "metadata": self.metadata,
        }


@dataclass(frozen=True, slots=True)
class NotesSearch:
    """What is asked, and which page of the answer."""

    text: str
    k: int
    offset: int
    conditions: Filter


@dataclass(frozen=True, slots=True)
class NotesAnswer:
    """A page of results, how many there are in all, and what was asked."""

    total: int
    query: Query
    ignored: tuple[str, ...]
    """Words of which the index keeps no token."""
    results: tuple[NoteResult, ...] = ()


Fits = Callable[[NoteResult], bool]
"""Whether one more result has room in the reply; after the first that has not, none is made."""


def retrieve(
    connection: sqlite3.Connection,
    view: View,
    tokenizer: NotesTokenizer,
    wanted: NotesSearch,
    *,
    pause: Pause,
    fits: Fits,
) -> NotesAnswer:
    """The documents that answer a query, from `offset` on, best first and equals by id."""
    query = parse(wanted.text)
    question = ask(query, tokenizer)
    if not question.positive:
        return NotesAnswer(0, query, question.ignored)
    documents = view.state.documents
    keep = _keeper(connection, wanted.conditions, documents, pause) if wanted.conditions else None
    most = wanted.offset + wanted.k
    found = find(view.parts(connection), documents, question, most, keep=keep, pause=pause)
    page = _in_order(connection, found.best, most)[wanted.offset : most]
    results = []
    for score, doc_id, number in page:
        pause()
        text, metadata = _row(connection, number)
        shown = highlights(text, question, found.weights, tokenizer)
        result = NoteResult(doc_id, score, tuple(shown), json.loads(metadata))
        if not fits(result):
            break
        results.append(result)
    return NotesAnswer(found.total, query, question.ignored, tuple(results))


def _in_order(connection: sqlite3.Connection, best: Sequence[Match], most: int) -> list[tuple[float, str, int]]:
    """The best, equals by id; only who may be among the `most` is asked for it."""
    scores = sorted((match.score for match in best), reverse=True)
    least = scores[most - 1] if len(scores) > most else 0.0
    among = {match.id: match.score for match in best if match.score >= least}
    named = [(among[number], doc_id, number) for number, doc_id in _columns(connection, "doc_id", list(among))]
    return sorted(named, key=lambda each: (-each[0], each[1]))


def _row(connection: sqlite3.Connection, number: int) -> tuple[str, str]:
    query = "SELECT text, metadata FROM documents JOIN contents USING (id) WHERE id = ?"
    row: tuple[str, str] = connection.execute(query, (number,)).fetchone()
    return row


def _keeper(connection: sqlite3.Connection, conditions: Filter, documents: int, pause: Pause) -> Keep:
    """Which documents the conditions let through; metadata that many share is judged once."""
    verdicts: dict[str, bool] = {}

    def keep(ids: Ids) -> Flags:
        let = np.zeros(len(ids), dtype=bool)
        wanted = {number: place for place, number in enumerate(ids.tolist())}
        is_dense = len(ids) * _EVERY > documents
        rows = _range(connection, ids) if is_dense else _columns(connection, "metadata", list(wanted))
        for count, (number, metadata) in enumerate(rows):
            if count % 1000 == 0:
                pause()
            place = wanted.get(number)
            if place is not None:
                if metadata not in verdicts:
                    verdicts[metadata] = holds(conditions, json.loads(metadata))
                let[place] = verdicts[metadata]
        return let

    return keep


def _range(connection: sqlite3.Connection, ids: Ids) -> Iterator[tuple[int, str]]:
    query = "SELECT id, metadata FROM documents WHERE id BETWEEN ? AND ?"
    return iter(connection.execute(query, (int(ids.min()), int(ids.max()))))


def _columns(connection: sqlite3.Connection, column: str, ids: Sequence[int]) -> Iterator[tuple[int, str]]:
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        query = f"SELECT id, {column} FROM documents WHERE id IN ({marks})"  # noqa: S608 - our own words
        yield from connection.execute(query, some)
