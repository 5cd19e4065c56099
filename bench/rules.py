"""Rules that merge the results of several sources, to compare with the rule in use."""

from collections.abc import Callable, Mapping, Sequence

from dowse.federation import federated_ranking
from dowse.federation.federation_types import Item
from dowse.searching.query_terms import parse_search_query
from dowse.text.analysis import terms_of

Sources = Mapping[str, Sequence[Item]]
Rule = Callable[[str, Sources], list[Item]]


def current_rule(text: str, sources: Sources) -> list[Item]:
    """Rank by the rule in use."""
    return [one.item for one in federated_ranking.merge_results(parse_search_query(text), list(sources.values()))]


def plain_relevance(_text: str, sources: Sources) -> list[Item]:
    """Rank by the relevance of each source; notes, which have none, by their rank."""
    return _sort(sources, lambda item, rank, _items: item.relevance if item.relevance is not None else 1 / (1 + rank))


def scaled_relevance(_text: str, sources: Sources) -> list[Item]:
    """Rank by relevance, scaled between the highest and lowest of its source."""

    def score(item: Item, rank: int, items: Sequence[Item]) -> float:
        known = [one.relevance for one in items if one.relevance is not None]
        if item.relevance is None or max(known) == min(known):
            return 1 - rank / len(items)
        return (item.relevance - min(known)) / (max(known) - min(known))

    return _sort(sources, score)


def reciprocal_ranks(_text: str, sources: Sources) -> list[Item]:
    """Rank by reciprocal ranks alone."""
    return _sort(sources, lambda _item, rank, _items: 1 / (60 + rank))


def relevance_and_rank(_text: str, sources: Sources) -> list[Item]:
    """Rank by relevance, discounted by rank."""

    def score(item: Item, rank: int, _items: Sequence[Item]) -> float:
        return (item.relevance if item.relevance is not None else 0.5) / (1 + 0.1 * rank)

    return _sort(sources, score)


def words_alone(text: str, sources: Sources) -> list[Item]:
    """Rank by the share of the query that each hit shows."""
    measured = _coverage(text, sources)
    return _sort(sources, lambda item, _rank, _items: measured[item.id])


def words_and_rank(text: str, sources: Sources) -> list[Item]:
    """Rank by the share of the query, discounted by rank."""
    measured = _coverage(text, sources)
    return _sort(sources, lambda item, rank, _items: measured[item.id] / (1 + 0.1 * rank))


def words_unweighted(text: str, sources: Sources) -> list[Item]:
    """Rank by the unweighted share of the query, discounted by rank."""
    measured = _coverage(text, sources, are_alike=True)
    return _sort(sources, lambda item, rank, _items: measured[item.id] / (1 + 0.1 * rank))


RULES: dict[str, Rule] = {
    "**words and relevance, half each, each source in its order (in use)**": current_rule,
    "words of the query shown, rare ones more, by rank": words_and_rank,
    "the same, all words alike": words_unweighted,
    "the same, without rank": words_alone,
    "relevance by rank": relevance_and_rank,
    "relevance as it is": plain_relevance,
    "relevance scaled within each source": scaled_relevance,
    "reciprocal ranks": reciprocal_ranks,
}


def _coverage(text: str, sources: Sources, *, are_alike: bool = False) -> dict[str, float]:
    terms = frozenset(term for word in parse_search_query(text).positive for term in terms_of(word))
    shown = {item.id: federated_ranking.find_shown_terms(item, terms) for items in sources.values() for item in items}
    weights = federated_ranking.weigh_terms(terms, list(shown.values()))
    if are_alike:
        weights = dict.fromkeys(weights, 1.0)
    return {name: federated_ranking.query_coverage(one, weights) for name, one in shown.items()}


def _sort(sources: Sources, score: Callable[[Item, int, Sequence[Item]], float]) -> list[Item]:
    scored = [
        (score(item, rank, items), item) for items in sources.values() for rank, item in enumerate(items)
    ]  # fmt: skip
    scored.sort(key=lambda one: (-one[0], one[1].id))
    return [group[0] for group in federated_ranking.group_duplicates([item for _, item in scored])]
