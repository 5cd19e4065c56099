"""Which documents answer a question, and how well: TF-IDF, exact to the last bit.

The score of a document is the sum over the question's positive tokens of tf · (ln(N / (df + 1)) + 1). It is added
up token after token in their order, starting from 0, so the same documents have the same scores whatever the order
of the words, the order in which documents came, or the parts they are kept in.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dowse.notes.notes_postings import Flags, Numbers
from dowse.notes.notes_query import NotesQuery
from dowse.notes.notes_query import Sequence as Tokens
from dowse.notes.segment_readers import Ids, SegmentReader

Keep = Callable[[Ids], Flags]
"""Which of these documents a filter lets through."""
Pause = Callable[[], None]
"""Called now and then; raises when nobody waits for the answer any more."""

_DENSE = 8
"""Where one of eight documents has a token, adding to all of them is faster than picking those."""
Scores = npt.NDArray[np.float64]
Postings = dict[str, tuple[Numbers, Numbers]]


@dataclass(frozen=True, slots=True)
class Match:
    """A document that answers."""

    score: float
    id: int


@dataclass(frozen=True, slots=True)
class ScoredNote:
    """How many documents answer, and the best, with some others, in no order."""

    total: int
    best: tuple[Match, ...]
    weights: dict[str, float]
    """What each token counts."""


def find(
    parts: Sequence[SegmentReader], documents: int, question: NotesQuery, most: int, *, keep: Keep | None, pause: Pause
) -> ScoredNote:
    """The `most` best documents; among equals those whose `doc_id` comes first."""
    read = [_postings(part, question.positive, pause) for part in parts]
    weights = {
        token: weight(
            documents, sum(_alive(part, postings[token][0]) for part, postings in zip(parts, read, strict=True))
        )
        for token in question.positive
    }
    total, best, bar = 0, [], _Bar(most)
    for part, postings in zip(parts, read, strict=True):
        scores = _scores(len(part.ids), question.positive, postings, weights)
        _silence(scores, part, question, postings, pause)
        answering = np.flatnonzero(scores)
        if keep is not None and len(answering):
            answering = answering[keep(part.ids[answering])]
        total += len(answering)
        chosen = _best(answering[scores[answering] >= bar.score], scores, part.ranks, most)
        bar.raise_by(scores[chosen])
        best += [
            Match(score, number)
            for score, number in zip(scores[chosen].tolist(), part.ids[chosen].tolist(), strict=True)
        ]
    return ScoredNote(total, tuple(best), weights)


class _Bar:
    """The score that a document needs to be among the best, as far as they are known."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._scores: Scores = np.zeros(0)
        self.score = 0.0

    def raise_by(self, scores: Scores) -> None:
        """Learn of more documents."""
        self._scores = np.sort(np.concatenate([self._scores, scores]))[-self._most :]
        if len(self._scores) == self._most:
            self.score = float(self._scores[0])


def weight(documents: int, holders: int) -> float:
    """What one occurrence of a token counts: ln(N / (df + 1)) + 1."""
    return math.log(documents / (holders + 1)) + 1 if documents else 0.0


def _postings(part: SegmentReader, tokens: Sequence[str], pause: Pause) -> Postings:
    found = {}
    for token in tokens:
        pause()
        found[token] = part.postings(token)
    return found


def _alive(part: SegmentReader, documents: Numbers) -> int:
    return len(documents) if part.is_alive is None else int(np.count_nonzero(part.is_alive[documents]))


def _scores(size: int, tokens: Sequence[str], postings: Postings, weights: dict[str, float]) -> Scores:
    scores = np.zeros(size, dtype=np.float64)
    for token in tokens:
        documents, counts = postings[token]
        if len(documents) * _DENSE > size:
            scores += np.bincount(documents, counts * weights[token], size)
        else:
            scores[documents] += counts * weights[token]
    return scores


def _silence(scores: Scores, part: SegmentReader, question: NotesQuery, postings: Postings, pause: Pause) -> None:
    """Take the score from documents that do not answer. Each occurrence counts more than nothing: the others have one."""
    if part.is_alive is not None:
        scores[~part.is_alive] = 0
    for tokens in sorted(question.required, key=len):
        if not scores.any():
            break
        holders = postings[tokens[0]][0] if len(tokens) == 1 else _with_sequence(part, tokens, pause)
        scores[~_flags(len(scores), holders)] = 0
    for tokens in question.excluded:
        if not scores.any():
            break
        holders = part.postings(tokens[0])[0] if len(tokens) == 1 else _with_sequence(part, tokens, pause)
        scores[holders] = 0


def _with_sequence(part: SegmentReader, tokens: Tokens, pause: Pause) -> Numbers:
    """Documents in which tokens stand next to each other, by positions that all of them lead to."""
    places: list[tuple[int, Numbers]] = []
    known: dict[str, Numbers] = {}
    for distance, token in enumerate(tokens):
        pause()
        if token not in known:
            known[token] = part.positions(token)
        if not len(known[token]):
            return known[token]
        places.append((distance, known[token]))
    places.sort(key=lambda place: len(place[1]))
    distance, positions = places[0]
    starts = positions[positions >= distance].astype(np.uint32) - np.uint32(distance)
    for distance, positions in places[1:]:
        pause()
        starts = starts[_are_among(starts + np.uint32(distance), positions)]
    return np.unique(np.searchsorted(part.ends, starts)).astype(np.uint32)


def _are_among(wanted: Numbers, positions: Numbers) -> Flags:
    near = np.minimum(np.searchsorted(positions, wanted), len(positions) - 1)
    flags: Flags = positions[near] == wanted
    return flags


def _flags(size: int, documents: Numbers) -> Flags:
    flags = np.zeros(size, dtype=bool)
    flags[documents] = True
    return flags


def _best(answering: Ids, scores: Scores, ranks: Numbers, most: int) -> Ids:
    """Of the documents that answer those with the highest scores, of equals those of the lowest ranks."""
    if len(answering) <= most:
        return answering
    found = scores[answering]
    least = np.partition(found, len(found) - most)[len(found) - most]
    above, equal = answering[found > least], answering[found == least]
    wanted = most - len(above)
    if wanted < len(equal):
        equal = equal[np.argpartition(ranks[equal], wanted - 1)[:wanted]]
    return np.concatenate([above, equal])
