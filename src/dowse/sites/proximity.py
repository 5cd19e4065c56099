"""Proximity: how close together the words of a query stand in a text."""

from collections.abc import Sequence

from dowse.sites import site_constants as weights

_NOT_SEEN = 1 << 40


def proximity(
    places: Sequence[tuple[int, int]], pairs: Sequence[tuple[int, int]], importances: Sequence[float]
) -> float:
    """Return from 0 to 1 how close together a text has the adjacent terms of a query.

    `places` are the position and the term of each word that matches, `pairs` the terms that follow each other in the
    query.
    """
    after: list[list[int]] = [[] for _ in importances]
    before: list[list[int]] = [[] for _ in importances]
    for number, (first, second) in enumerate(pairs):
        after[second].append(number)
        before[first].append(number)
    last = [-_NOT_SEEN] * len(importances)
    ahead, behind = [_NOT_SEEN] * len(pairs), [_NOT_SEEN] * len(pairs)
    for position, term in places:
        for number in after[term]:
            ahead[number] = min(ahead[number], position - last[pairs[number][0]])
        for number in before[term]:
            behind[number] = min(behind[number], position - last[pairs[number][1]])
        last[term] = position
    close = total = 0.0
    for (first, second), distance, reverse_distance in zip(pairs, ahead, behind, strict=True):
        importance = importances[first] + importances[second]
        total += importance
        close += importance * max(_closeness(distance), weights.REVERSED_ORDER_FACTOR * _closeness(reverse_distance))
    return close / (total or 1.0)


def _closeness(distance: int) -> float:
    """Return 1 if a word follows directly, less if it is apart."""
    return weights.PROXIMITY_HALF_WORDS / (weights.PROXIMITY_HALF_WORDS + distance - 1)
