"""Explanation of a hit: the signals that rank its file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dowse.searching import ranking_constants
from dowse.searching.candidates import QueryVector, Scope, gather_evidence
from dowse.searching.found_files import IsShown
from dowse.searching.query_terms import SearchQuery
from dowse.searching.ranking import rank_files
from dowse.store.local import LocalStore


@dataclass(frozen=True, slots=True)
class RankExplanation:
    """The rank of a file for a query, and the signals that led to it."""

    query: SearchQuery
    path: str
    rank: int | None
    """From 1; None when the query did not find the file."""
    of: int
    score: float = 0.0
    signals: dict[str, float] = field(default_factory=dict)
    best_path: str | None = None
    best_score: float = 0.0
    terms: dict[str, float] = field(default_factory=dict)


def explain_ranking(
    store: LocalStore, query: SearchQuery, path: str, vectors: Sequence[QueryVector] = (), is_shown: IsShown = bool
) -> RankExplanation:
    """Rank the files for a query and explain the rank of one of them, and name the best one that may be shown."""
    document, evidence = store.document(path), gather_evidence(store, query, Scope(), vectors)
    if document is None or not evidence.terms:
        return RankExplanation(query, path, None, 0)
    ranked = rank_files(evidence, ranking_constants.RANKED_FILES, store.paths_by_id, (document.id,))
    position = next(index for index, file in enumerate(ranked) if file.document_id == document.id)
    own = ranked[position]
    best = next(file for file in ranked if file is own or is_shown(file.path))
    own_rank = position + 1 if own.signals else None
    return RankExplanation(
        query, path, own_rank, len(ranked), own.score, dict(own.signals), best.path, best.score, dict(evidence.terms)
    )


MAX_WORDS = 5
_LABELS = {
    "words": "words",
    "meaning": "meaning",
    "meaning by table": "meaning",
    "path words": "path",
    "share of the query in the name": "path",
    "whole name in the query": "file name",
    "the path itself": "path",
    "definition": "defines it",
    "named in the text": "named there",
}
"""Short names of signals, for places with little room."""


def strongest_signals(signals: Mapping[str, float]) -> str:
    """Return the strongest signals of a file in at most five words, the strongest first."""
    strengths = dict[str, float]()
    for name, value in signals.items():
        label = _LABELS.get(name.removeprefix("title, ").partition(":")[0])
        if label:
            strengths[label] = strengths.get(label, 0.0) + value
    chosen, words = list[str](), 0
    for label in sorted(strengths, key=lambda label: -strengths[label]):
        words += len(label.split())
        if words > MAX_WORDS:
            break
        chosen.append(label)
    return ", ".join(chosen)
