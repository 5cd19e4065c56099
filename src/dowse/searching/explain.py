"""Why a file stands where it stands: each signal with its number."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from dowse.protocols import Store
from dowse.searching import ranking_constants
from dowse.searching.candidates import QueryVector, Scope, gather_evidence
from dowse.searching.query_terms import SearchQuery, parse_search_query
from dowse.searching.ranking import leg_scores, rank_files, shortlist


@dataclass(frozen=True, slots=True)
class RankExplanation:
    """Where a file came in for a query, and what put it there."""

    query: SearchQuery
    path: str
    rank: int | None
    """From 1; None when nothing was found for it."""
    of: int
    score: float = 0.0
    signals: dict[str, float] = field(default_factory=dict)
    best_path: str | None = None
    best_score: float = 0.0
    terms: dict[str, float] = field(default_factory=dict)


def explain_ranking(store: Store, text: str, path: str, meanings: Sequence[QueryVector] = ()) -> RankExplanation:
    """Rank for a query and look at one file."""
    query = parse_search_query(text)
    document = store.document(path)
    evidence = gather_evidence(store, query, Scope(), meanings)
    if evidence is None or document is None:
        return RankExplanation(query, path, None, 0)
    scores = leg_scores(evidence.legs)
    ids = shortlist(evidence, scores, ranking_constants.RANKED_FILES)
    if document.id not in ids:
        ids.append(document.id)
    paths = {number: held.path for number, held in store.documents_by_id(ids).items()}
    ranked = rank_files(evidence, scores, paths)
    position = next(index for index, file in enumerate(ranked) if file.document_id == document.id)
    own, best = ranked[position], ranked[0]
    found = position + 1 if own.signals else None
    return RankExplanation(
        query, path, found, len(ranked), own.score, dict(own.signals),
        paths[best.document_id], best.score, dict(evidence.terms),
    )  # fmt: skip
