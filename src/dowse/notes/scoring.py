"""The TF-IDF scores of the documents that match a query, exact to the last bit.

The score of a document is the sum over the query's positive tokens of tf · (ln(N / (df + 1)) + 1). The terms are
added in the order of the tokens, starting from 0. The scores therefore do not depend on the order of the words, the
order in which documents were added, or the segments they are stored in.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dowse.notes.notes_postings import Flags, Numbers
from dowse.notes.notes_query import NotesQuery, TokenSequence
from dowse.notes.segment_readers import Ids, SegmentReader

IdFilter = Callable[[Ids], Flags]
"""Returns which of these documents a filter keeps."""
CheckCancelled = Callable[[], None]
"""Called regularly during a search; raises when the caller has given up."""

_DENSE_FACTOR = 8
"""If more than one document in eight has a token, adding to all scores is faster than to selected ones."""
Scores = npt.NDArray[np.float64]
Postings = dict[str, tuple[Numbers, Numbers]]


@dataclass(frozen=True, slots=True)
class Match:
    """A document that matches."""

    score: float
    id: int


@dataclass(frozen=True, slots=True)
class ScoredNotes:
    """The number of documents that match, and candidates for the best of them, unsorted."""

    total: int
    best: tuple[Match, ...]
    weights: dict[str, float]
    """The weight of each token."""


def score_documents(
    readers: Sequence[SegmentReader],
    documents: int,
    query: NotesQuery,
    limit: int,
    *,
    id_filter: IdFilter | None,
    check_cancelled: CheckCancelled,
) -> ScoredNotes:
    """Return the best documents up to a limit. Among equal scores, the first by `doc_id` win."""
    read = [_read_postings(reader, query.positive, check_cancelled) for reader in readers]
    weights = {
        token: token_weight(
            documents,
            sum(_count_alive(reader, postings[token][0]) for reader, postings in zip(readers, read, strict=True)),
        )
        for token in query.positive
    }
    total, best, threshold = 0, [], _ScoreThreshold(limit)
    for reader, postings in zip(readers, read, strict=True):
        scores = _compute_scores(len(reader.ids), query.positive, postings, weights)
        _zero_non_matching(scores, reader, query, postings, check_cancelled)
        matching = np.flatnonzero(scores)
        if id_filter is not None and len(matching):
            matching = matching[id_filter(reader.ids[matching])]
        total += len(matching)
        chosen = _select_best(matching[scores[matching] >= threshold.score], scores, reader.ranks, limit)
        threshold.update(scores[chosen])
        best += [
            Match(score, number)
            for score, number in zip(scores[chosen].tolist(), reader.ids[chosen].tolist(), strict=True)
        ]
    return ScoredNotes(total, tuple(best), weights)


class _ScoreThreshold:
    """The score that a document needs to be among the best seen so far."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._scores: Scores = np.zeros(0)
        self.score = 0.0

    def update(self, scores: Scores) -> None:
        """Take the scores of more documents into account."""
        self._scores = np.sort(np.concatenate([self._scores, scores]))[-self._limit :]
        if len(self._scores) == self._limit:
            self.score = float(self._scores[0])


def token_weight(documents: int, holders: int) -> float:
    """Return the weight of one occurrence of a token: ln(N / (df + 1)) + 1."""
    return math.log(documents / (holders + 1)) + 1 if documents else 0.0


def _read_postings(reader: SegmentReader, tokens: Sequence[str], check_cancelled: CheckCancelled) -> Postings:
    found = {}
    for token in tokens:
        check_cancelled()
        found[token] = reader.postings(token)
    return found


def _count_alive(reader: SegmentReader, documents: Numbers) -> int:
    return len(documents) if reader.is_alive is None else int(np.count_nonzero(reader.is_alive[documents]))


def _compute_scores(size: int, tokens: Sequence[str], postings: Postings, weights: dict[str, float]) -> Scores:
    scores = np.zeros(size, dtype=np.float64)
    for token in tokens:
        documents, counts = postings[token]
        if len(documents) * _DENSE_FACTOR > size:
            scores += np.bincount(documents, counts * weights[token], size)
        else:
            scores[documents] += counts * weights[token]
    return scores


def _zero_non_matching(
    scores: Scores, reader: SegmentReader, query: NotesQuery, postings: Postings, check_cancelled: CheckCancelled
) -> None:
    """Set the score of documents that do not match to 0. Every document that matches has a score above 0."""
    if reader.is_alive is not None:
        scores[~reader.is_alive] = 0
    for tokens in sorted(query.required, key=len):
        if not scores.any():
            break
        holders = postings[tokens[0]][0] if len(tokens) == 1 else _find_sequence(reader, tokens, check_cancelled)
        scores[~_make_flags(len(scores), holders)] = 0
    for tokens in query.excluded:
        if not scores.any():
            break
        holders = reader.postings(tokens[0])[0] if len(tokens) == 1 else _find_sequence(reader, tokens, check_cancelled)
        scores[holders] = 0


def _find_sequence(reader: SegmentReader, tokens: TokenSequence, check_cancelled: CheckCancelled) -> Numbers:
    """Return the documents that contain tokens next to each other, by intersecting their positions."""
    places: list[tuple[int, Numbers]] = []
    known: dict[str, Numbers] = {}
    for distance, token in enumerate(tokens):
        check_cancelled()
        if token not in known:
            known[token] = reader.positions(token)
        if not len(known[token]):
            return known[token]
        places.append((distance, known[token]))
    places.sort(key=lambda place: len(place[1]))
    distance, positions = places[0]
    starts = positions[positions >= distance].astype(np.uint32) - np.uint32(distance)
    for distance, positions in places[1:]:
        check_cancelled()
        starts = starts[_is_in(starts + np.uint32(distance), positions)]
    return np.unique(np.searchsorted(reader.ends, starts)).astype(np.uint32)


def _is_in(wanted: Numbers, positions: Numbers) -> Flags:
    near = np.minimum(np.searchsorted(positions, wanted), len(positions) - 1)
    flags: Flags = positions[near] == wanted
    return flags


def _make_flags(size: int, documents: Numbers) -> Flags:
    flags = np.zeros(size, dtype=bool)
    flags[documents] = True
    return flags


def _select_best(matching: Ids, scores: Scores, ranks: Numbers, limit: int) -> Ids:
    """Return the matching documents with the highest scores; among equal scores, those with the lowest ranks."""
    if len(matching) <= limit:
        return matching
    found = scores[matching]
    min_score = np.partition(found, len(found) - limit)[len(found) - limit]
    above, equal = matching[found > min_score], matching[found == min_score]
    wanted = limit - len(above)
    if wanted < len(equal):
        equal = equal[np.argpartition(ranks[equal], wanted - 1)[:wanted]]
    return np.concatenate([above, equal])
