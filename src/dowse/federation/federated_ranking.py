"""Merging the results of many sources into one ranking, by pure functions.

The relevance scores of the sources are not on one scale: a document's text scores at most 0.79, a note has no score.
So every hit is also scored in one way, by the share of the query that its passage and its names contain, and both
scores count half. Of the archives' hits only the names count: their passages are cut for the results that are shown.
Of the eight rules that `python -m bench.federation` compares (bench/FIGURES.md) this one is the
best: nDCG@10 is 0.75 over five kinds of sources. The right source alone gives 0.77, the unchanged relevance 0.48 and
reciprocal ranks 0.34.

The figures beside the constants come from the same queries over 23 sources, with seven hits of each (20 notes) ranked
again. The present values give 0.747, and no single step of a constant gains more than 0.002.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from math import log
from typing import NamedTuple

from dowse.federation.federation_types import AS_DOCUMENT, Item
from dowse.searching.query_terms import SearchQuery
from dowse.searching.term_positions import terms_among
from dowse.text.analysis import terms_of

OWN_WEIGHT = 0.5
"""Weight of the source's own relevance. nDCG@10 is 0.745 with 0.3 and 0.740 with 0.7; with 0, which loses misspelled
queries, 0.700; with 1, 0.719."""
UNSEEN_OWN_WEIGHT = 0.6
"""The same for a hit whose passage is cut only if it is shown, as those of archives are: nDCG@10 is 0.769, with 0.5 0.766
and with 0.7 0.763. If their passages were ranked, it would be 0.764; without passages of any source, 0.733."""
PASSAGE_WEIGHT, NAMES_WEIGHT = 0.6, 0.4
"""Weights of query words in the passage or the names, and in the names alone: title, path, headings, definitions.
0.9 and 0.1 give 0.740."""
RANK_DISCOUNT = 0.05
"""Discount for each further rank in a source. Without it nDCG@10 is 0.742, with 0.2 0.733."""
MIN_SCORE = 0.05
"""Items with a lower score are dropped: of 713 items that were judged relevant, 2 score less."""


@dataclass(frozen=True, slots=True)
class RankedItem:
    """An item with its score in the merged ranking."""

    item: Item
    score: float
    also: tuple[str, ...] = ()
    """The ids of the same thing in other sources."""


class ShownTerms(NamedTuple):
    """The terms of a query that a hit shows."""

    names: Set[str]
    anywhere: Set[str]


def merge_results(
    query: SearchQuery, sources: Sequence[Sequence[Item]], held: Set[str] = frozenset()
) -> list[RankedItem]:
    """Return the items of all sources in one ranking, each thing once, without those that are held under any of their ids."""
    terms = frozenset(term for word in query.positive for term in terms_of(word))
    shown = [[find_shown_terms(item, terms) for item in items] for items in sources]
    weights = weigh_terms(terms, [hit for hits in shown for hit in hits])
    scored = [
        (score, item)
        for items, hits in zip(sources, shown, strict=True)
        for item, score in zip(items, score_items(items, hits, weights), strict=True)
    ]
    scored.sort(key=lambda pair: (-pair[0], pair[1].id))
    best = {item.id: score for score, item in reversed(scored)}
    return [
        RankedItem(group[0], best[group[0].id], _other_ids(group))
        for group in group_duplicates([item for _, item in scored])
        if best[group[0].id] >= MIN_SCORE and held.isdisjoint(item.id.removesuffix(AS_DOCUMENT) for item in group)
    ]


def _other_ids(group: Sequence[Item]) -> tuple[str, ...]:
    """Return the ids of the items of a group that are not the first one, nor the same file as a document."""
    ids = list(dict.fromkeys(item.id.removesuffix(AS_DOCUMENT) for item in group))
    return tuple(ids[1:])


def find_shown_terms(item: Item, terms: frozenset[str]) -> ShownTerms:
    """Return the terms of a query that a hit shows, in its names and anywhere."""
    names = terms_among(f"{item.title} {item.names}", terms)
    return ShownTerms(names, names | terms_among(item.text, terms - names))


def score_items(items: Sequence[Item], shown: Sequence[ShownTerms], weights: Mapping[str, float]) -> list[float]:
    """Return the score of each hit of one source, between 0 and 1. A source with an order of its own keeps it.

    Without that rule nDCG@10 would be 0.741, and 0.64 instead of 0.67 for code.
    """
    found, ceiling = [], 1.0
    for rank, (item, terms) in enumerate(zip(items, shown, strict=True)):
        if item.relevance is None:
            score = query_coverage(terms, weights)
        else:
            own = UNSEEN_OWN_WEIGHT if item.add_passage else OWN_WEIGHT
            score = own * item.relevance + (1 - own) * query_coverage(terms, weights)
            score = ceiling = min(ceiling, score)
        found.append(round(score / (1 + RANK_DISCOUNT * rank), 4))
    return found


def query_coverage(shown: ShownTerms, weights: Mapping[str, float]) -> float:
    """Return the share of a query, by weight, that a hit shows."""
    total = sum(weights.values())
    if not total:
        return 0.0
    in_all, in_names = (sum(map(weights.__getitem__, terms)) / total for terms in (shown.anywhere, shown.names))
    return PASSAGE_WEIGHT * in_all + NAMES_WEIGHT * in_names


def weigh_terms(terms: Iterable[str], shown: Sequence[ShownTerms]) -> dict[str, float]:
    """Return the weight of each term of a query: the rarer among the hits, the higher."""
    return {term: log(1 + (len(shown) + 1) / (0.5 + sum(term in hit.anywhere for hit in shown))) for term in terms}


def group_duplicates(items: Sequence[Item]) -> list[list[Item]]:
    """Group the items that are the same thing, in the order of the first item of each group."""
    groups: list[list[Item]] = []
    group_by_key: dict[str, list[Item]] = {}
    for item in items:
        keys = (item.id, *item.keys)
        group = next((group_by_key[key] for key in keys if key in group_by_key), None)
        if group is None:
            group = []
            groups.append(group)
        group.append(item)
        group_by_key |= dict.fromkeys(keys, group)
    return groups
