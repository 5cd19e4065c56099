"""The order of commits for a query: how often its words occur in the message, the changed symbols and the paths."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dowse.text.analysis import terms_of

SUBJECT_WEIGHT, BODY_WEIGHT, SYMBOL_WEIGHT, PATH_WEIGHT = 4.0, 1.0, 1.0, 1.0
SATURATION = 1.5
"""How often a word has to occur, weighted, for a commit to get 40 % of its score."""
COVERAGE_POWER = 0.5
"""How much less a commit counts that lacks some of the words."""
LONG_BODY_TERMS = 60
"""The words of a longer body count less, in proportion to its length."""
MANY_SYMBOLS, MANY_PATHS = 8, 5
"""The words of more symbols or paths count less, in proportion: a commit that changes all of them is about none."""
MAX_BODY_CHARACTERS = 4000
MAX_PATHS = 50
"""The words of further paths are not looked at."""
WITHOUT_FILES = 0.7
"""A factor for merges, so that the commits come first that they merge."""


@dataclass(frozen=True, slots=True)
class CommitText:
    """The texts of a commit that are compared with a query."""

    number: int
    message: str
    paths: Sequence[str]
    symbols: Sequence[str]


def rank_commits(texts: Iterable[CommitText], weights: Mapping[str, float]) -> list[tuple[float, CommitText]]:
    """Return commits with their scores, best first; of equal ones, the newest first. `weights` has the terms of the query."""
    total = sum(weights.values()) or 1.0
    scored = [(score_commit(text, weights, total), text) for text in texts]
    return sorted(scored, key=lambda one: (-round(one[0], 4), -one[1].number))


def score_commit(text: CommitText, weights: Mapping[str, float], total: float) -> float:
    """Return the score of a commit: between 0 and 1."""
    subject, _, body = text.message.partition("\n")
    body_terms = terms_of(body[:MAX_BODY_CHARACTERS])
    body_weight = BODY_WEIGHT * _share(LONG_BODY_TERMS, body_terms)
    counts: dict[str, float] = {}
    for weight, terms in (
        (SUBJECT_WEIGHT, terms_of(subject)),
        (body_weight, body_terms),
        (SYMBOL_WEIGHT * _share(MANY_SYMBOLS, text.symbols), set(terms_of(" ".join(text.symbols)))),
        (PATH_WEIGHT * _share(MANY_PATHS, text.paths), set(terms_of(" ".join(text.paths[:MAX_PATHS])))),
    ):
        for term in terms:
            if term in weights:
                counts[term] = counts.get(term, 0.0) + weight
    score = sum(weights[term] * count / (count + SATURATION) for term, count in counts.items())
    covered = sum(weights[term] for term in counts) / total
    return score / total * float(covered**COVERAGE_POWER) * (1.0 if text.paths else WITHOUT_FILES)


def _share(usual: int, found: Sequence[str]) -> float:
    return min(1.0, usual / max(len(found), 1))


def term_weight(frequency: int, commits: int) -> float:
    """Return how much a term says that this many commits have."""
    return math.log(1 + (commits - frequency + 0.5) / (frequency + 0.5))
