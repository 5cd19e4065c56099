"""How near to each other pages have the words that follow each other in a query."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dowse.sites import site_constants as weights
from dowse.sites.site_postings import BODY, Postings
from dowse.sites.site_vocabulary import WordMatches

_NOT_SEEN = 1 << 40


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the query: what it may mean, and how much it tells."""

    word: str
    meant: WordMatches
    worth: float


def proximity_scores(postings: Postings, pages: Sequence[int], terms: list[Term], order: list[str]) -> list[float]:
    """For each page, from 0 to 1, how near its body has the words of the query, which are given in order."""
    role_of = {term.word: role for role, term in enumerate(terms, 1)}
    pairs = [(role_of[a], role_of[b]) for a, b in pairwise(order)]
    if not pairs or not pages:
        return [0.0] * len(pages)
    roles = map_words_to_terms(postings, terms, weights.TWO_TYPOS_WEIGHT)
    worths = [terms[a - 1].worth + terms[b - 1].worth for a, b in pairs]
    whole = sum(worths) or 1.0
    near = []
    for page in pages:
        met = roles[postings.texts.numbers(page, BODY)]
        places = np.flatnonzero(met)
        closest = _pair_closeness(places.tolist(), met[places].tolist(), pairs, len(terms))
        near.append(sum(worth * close for worth, close in zip(worths, closest, strict=True)) / whole)
    return near


def map_words_to_terms(
    postings: Postings, terms: list[Term], least: float
) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    """For each word of the site which word of the query it stands for, most surely; 0 for none."""
    roles = np.zeros(len(postings.words), np.int16)
    meant = [
        (weight, number, role)
        for role, term in enumerate(terms, 1)
        for number, weight in term.meant.items()
        if weight >= least
    ]
    for _, number, role in sorted(meant):
        roles[number] = role
    return roles


def _pair_closeness(places: list[int], roles: list[int], pairs: list[tuple[int, int]], count: int) -> list[float]:
    """For each pair how near it comes: 1 where the second follows at once, less apart or the other way round."""
    after: list[list[int]] = [[] for _ in range(count + 1)]
    before: list[list[int]] = [[] for _ in range(count + 1)]
    for number, (first, second) in enumerate(pairs):
        after[second].append(number)
        before[first].append(number)
    last = [-_NOT_SEEN] * (count + 1)
    ahead, behind = [_NOT_SEEN] * len(pairs), [_NOT_SEEN] * len(pairs)
    for place, role in zip(places, roles, strict=True):
        for number in after[role]:
            ahead[number] = min(ahead[number], place - last[pairs[number][0]])
        for number in before[role]:
            behind[number] = min(behind[number], place - last[pairs[number][1]])
        last[role] = place
    return [
        max(_closeness(a), weights.REVERSED_ORDER_FACTOR * _closeness(b)) for a, b in zip(ahead, behind, strict=True)
    ]


def _closeness(distance: int) -> float:
    return weights.PROXIMITY_HALF_WORDS / (weights.PROXIMITY_HALF_WORDS + distance - 1)
