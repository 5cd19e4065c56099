"""Ways to make one order of what several sources found, to compare the one in use with."""

from collections.abc import Callable, Mapping, Sequence

from dowse.serving.federation import merging
from dowse.serving.federation.values import Item

Sources = Mapping[str, Sequence[Item]]
Rule = Callable[[str, Sources], list[Item]]


def in_use(text: str, sources: Sources) -> list[Item]:
    """The rule that the product has."""
    return [one.item for one in merging.merged(text, list(sources.values()))]


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
    weights = merging.weights_of(text, list(sources.values()))
    return _ordered(sources, lambda item, _rank, _items: merging.coverage(item, weights))


def words_and_rank(text: str, sources: Sources) -> list[Item]:
    """The same, less for each further place."""
    weights = merging.weights_of(text, list(sources.values()))
    return _ordered(sources, lambda item, rank, _items: merging.coverage(item, weights) / (1 + 0.1 * rank))


def words_unweighted(text: str, sources: Sources) -> list[Item]:
    """The same with all words of the query alike."""
    weights = dict.fromkeys(merging.weights_of(text, list(sources.values())), 1.0)
    return _ordered(sources, lambda item, rank, _items: merging.coverage(item, weights) / (1 + 0.1 * rank))


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


def _ordered(sources: Sources, score: Callable[[Item, int, Sequence[Item]], float]) -> list[Item]:
    scored = [
        (score(item, rank, items), item) for items in sources.values() for rank, item in enumerate(items)
    ]  # fmt: skip
    scored.sort(key=lambda one: (-one[0], one[1].id))
    return [group[0] for group in merging.one_each([item for _, item in scored])]
