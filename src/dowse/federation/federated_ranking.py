"""One order of what many sources found: pure functions over values.

The sources' own relevances are not on one scale: a document's text counts at most 0.79, a note has none at all. So
every hit is also measured the same way, by how much of the query its passage and its names hold, and both count half.
Of the eight rules that `python -m bench.federation` compares (docs/benchmarks.md) this one is the best: nDCG@10 of 0.75
over five kinds of sources, where the right one alone gives 0.77, relevance as it is 0.48 and reciprocal ranks 0.34.

The figures beside the constants are of the same queries over 23 sources, with seven hits of each (20 notes) put in
order anew; as they are they give 0.747, and no step of one of them from there gains more than 0.002.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from math import log
from typing import NamedTuple

from dowse.federation.federation_types import Item
from dowse.searching.passages import terms_in
from dowse.searching.query_terms import SearchQuery
from dowse.store.analysis import terms_of

OWN_WEIGHT = 0.5
"""What the source's own relevance counts, beside what is measured here. 0.3 gives 0.745, 0.7 gives 0.740; with none,
which loses misspelled queries, it is 0.700, with nothing else 0.719."""
PASSAGE_WEIGHT, NAMES_WEIGHT = 0.6, 0.4
"""The query's words in passage or names, and in names alone: title, path, headings, definitions. 0.9 and 0.1: 0.740."""
RANK_DISCOUNT = 0.05
"""How much less each further place in its source counts. Without it 0.742, with 0.2 0.733."""
MIN_SCORE = 0.05
"""What scores less is no answer: of 713 that were judged to be one, 2 do."""


@dataclass(frozen=True, slots=True)
class RankedItem:
    """A thing in its place."""

    item: Item
    score: float
    also: tuple[str, ...] = ()
    """Its ids under other sources."""


class ShownTerms(NamedTuple):
    """Which terms of a query a hit shows."""

    names: Set[str]
    anywhere: Set[str]


@dataclass(frozen=True, slots=True)
class HeldItems:
    """What the caller has and does not want again."""

    ids: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()

    def has(self, items: Iterable[Item]) -> bool:
        """Whether any of some items, which are one thing, is held."""
        return any(item.id in self.ids or not self.keys.isdisjoint(item.keys) for item in items)


def merge_results(
    query: SearchQuery, sources: Sequence[Sequence[Item]], held: HeldItems = HeldItems()
) -> list[RankedItem]:
    """Everything in one order, each thing once, without what is held."""
    terms = frozenset(term for word in query.positive for term in terms_of(word))
    shown = [[find_shown_terms(item, terms) for item in items] for items in sources]
    weights = weigh_terms(terms, [one for each in shown for one in each])
    scored = [
        (score, item)
        for items, each in zip(sources, shown, strict=True)
        for item, score in zip(items, score_items(items, each, weights), strict=True)
    ]
    scored.sort(key=lambda one: (-one[0], one[1].id))
    best = {item.id: score for score, item in reversed(scored)}
    return [
        RankedItem(
            group[0], best[group[0].id], tuple(dict.fromkeys(item.id for item in group if item.id != group[0].id))
        )
        for group in group_duplicates([item for _, item in scored])
        if best[group[0].id] >= MIN_SCORE and not held.has(group)
    ]


def find_shown_terms(item: Item, terms: frozenset[str]) -> ShownTerms:
    """The terms of a query that a hit shows: in its names, and anywhere."""
    names = terms_in(f"{item.title} {item.names}") & terms
    rest = terms - names
    return ShownTerms(names, names | (terms_in(item.text) & rest if rest else rest))


def score_items(items: Sequence[Item], shown: Sequence[ShownTerms], weights: Mapping[str, float]) -> list[float]:
    """The score of each hit of one source, between 0 and 1; a source that has an order of its own keeps it.

    Were it put in order anew, the figure would be 0.741, of code 0.64 instead of 0.67.
    """
    found, ceiling = [], 1.0
    for rank, (item, one) in enumerate(zip(items, shown, strict=True)):
        measured = query_coverage(one, weights)
        if item.relevance is None:
            score = measured
        else:
            score = ceiling = min(ceiling, OWN_WEIGHT * item.relevance + (1 - OWN_WEIGHT) * measured)
        found.append(round(score / (1 + RANK_DISCOUNT * rank), 4))
    return found


def query_coverage(shown: ShownTerms, weights: Mapping[str, float]) -> float:
    """How much of a query, by weight, a hit shows."""
    total = sum(weights.values())
    if not total:
        return 0.0
    in_all, in_names = (sum(map(weights.__getitem__, terms)) / total for terms in (shown.anywhere, shown.names))
    return PASSAGE_WEIGHT * in_all + NAMES_WEIGHT * in_names


def weigh_terms(terms: Iterable[str], shown: Sequence[ShownTerms]) -> dict[str, float]:
    """The terms of a query, and how rare each is among what was found: that much a hit with it stands out."""
    return {term: log(1 + (len(shown) + 1) / (0.5 + sum(term in one.anywhere for one in shown))) for term in terms}


def group_duplicates(items: Sequence[Item]) -> list[list[Item]]:
    """Items that are one thing together, in the order of the first of each."""
    groups: list[list[Item]] = []
    of_key: dict[str, list[Item]] = {}
    for item in items:
        keys = (item.id, *item.keys)
        group = next((of_key[key] for key in keys if key in of_key), None)
        if group is None:
            group = []
            groups.append(group)
        group.append(item)
        of_key |= dict.fromkeys(keys, group)
    return groups


def collect_held(ids: Collection[str], keys: Iterable[frozenset[str]]) -> HeldItems:
    """What a caller holds, by its ids and by what is known of them."""
    return HeldItems(frozenset(ids), frozenset().union(*keys))
