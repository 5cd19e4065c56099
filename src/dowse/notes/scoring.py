"""The TF-IDF scores of the documents that match a query, exact to the last bit.

The score of a document is the sum over the query's positive tokens of tf · (ln(N / (df + 1)) + 1). The terms are
added in the order of the tokens, starting from 0. The scores therefore do not depend on the order of the words, the
order in which documents were added, or the batches they are stored in.
"""

import math
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dowse.notes.notes_query import NotesQuery, TokenSequence
from dowse.notes.notes_tokens import NotesTokenizer
from dowse.notes.postings import Numbers, count_places, is_in, read_new_places, read_places

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
