"""Ways to make one order of what several sources found, to compare the one in use with."""

from collections.abc import Callable, Mapping, Sequence

from dowse.federation import federated_ranking
from dowse.federation.federation_types import Item
from dowse.searching.query_terms import parse_search_query
from dowse.store.analysis import terms_of

Sources = Mapping[str, Sequence[Item]]
Rule = Callable[[str, Sources], list[Item]]


def in_use(text: str, sources: Sources) -> list[Item]:
    """The rule that the product has."""
    return [one.item for one in federated_ranking.merge_results(parse_search_query(text), list(sources.values()))]


def relevance_as_it_is(_text: str, sources: Sources) -> list[Item]:
    """Every source's own relevance; notes, which have none, by their place."""
    return _ordered(
        sources, lambda item, rank, _items: item.relevance if item.relevance is not None else 1 / (1 + rank)
    )


def scaled(_text: str, sources: Sources) -> list[Item]:
    """Every source's relevance between its own highest and lowest."""

    def score(item: Item, rank: int, items: Sequence[Item]) -> float:
        known = [one.relevance for one in items if one.relevance is not None]
        if item.relevance is None or max(known) == min(known):
            return 1 - rank / len(items)
        return (item.relevance - min(known)) / (max(known) - min(known))

    return _ordered(sources, score)


def reciprocal_ranks(_text: str, sources: Sources) -> list[Item]:
    """Places alone."""
    return _ordered(sources, lambda _item, rank, _items: 1 / (60 + rank))


def relevance_and_rank(_text: str, sources: Sources) -> list[Item]:
    """Relevance, less for each further place."""

    def score(item: Item, rank: int, _items: Sequence[Item]) -> float:
        return (item.relevance if item.relevance is not None else 0.5) / (1 + 0.1 * rank)

    return _ordered(sources, score)


def words_alone(text: str, sources: Sources) -> list[Item]:
    """How much of the query each hit shows, and nothing else."""
    measured = _measured(text, sources)
    return _ordered(sources, lambda item, _rank, _items: measured[item.id])


def words_and_rank(text: str, sources: Sources) -> list[Item]:
    """The same, less for each further place."""
    measured = _measured(text, sources)
    return _ordered(sources, lambda item, rank, _items: measured[item.id] / (1 + 0.1 * rank))


def words_unweighted(text: str, sources: Sources) -> list[Item]:
    """The same with all words of the query alike."""
    measured = _measured(text, sources, are_alike=True)
    return _ordered(sources, lambda item, rank, _items: measured[item.id] / (1 + 0.1 * rank))


RULES: dict[str, Rule] = {
    "**words and relevance, half each, each source in its order (in use)**": in_use,
    "words of the query shown, rare ones more, by rank": words_and_rank,
    "the same, all words alike": words_unweighted,
    "the same, without rank": words_alone,
    "relevance by rank": relevance_and_rank,
    "relevance as it is": relevance_as_it_is,
    "relevance scaled within each source": scaled,
    "reciprocal ranks": reciprocal_ranks,
}


def _measured(text: str, sources: Sources, *, are_alike: bool = False) -> dict[str, float]:
    terms = frozenset(term for word in parse_search_query(text).positive for term in terms_of(word))
    shown = {item.id: federated_ranking.find_shown_terms(item, terms) for items in sources.values() for item in items}
    weights = federated_ranking.weigh_terms(terms, list(shown.values()))
    if are_alike:
        weights = dict.fromkeys(weights, 1.0)
    return {name: federated_ranking.query_coverage(one, weights) for name, one in shown.items()}


def _ordered(sources: Sources, score: Callable[[Item, int, Sequence[Item]], float]) -> list[Item]:
    scored = [
        (score(item, rank, items), item) for items in sources.values() for rank, item in enumerate(items)
    ]  # fmt: skip
    scored.sort(key=lambda one: (-one[0], one[1].id))
    return [group[0] for group in federated_ranking.group_duplicates([item for _, item in scored])]
