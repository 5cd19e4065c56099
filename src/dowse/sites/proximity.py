"""Proximity scores: how close together the words of a query stand in the body of a page."""

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
    """A word of the query, the words of the site that match it, and its importance."""

    word: str
    matches: WordMatches
    importance: float


def proximity_scores(postings: Postings, pages: Sequence[int], terms: list[Term], order: list[str]) -> list[float]:
    """Return a score from 0 to 1 for each page: how close together its body has the adjacent words of the query."""
    term_numbers = {term.word: number for number, term in enumerate(terms, 1)}
    pairs = [(term_numbers[a], term_numbers[b]) for a, b in pairwise(order)]
    if not pairs or not pages:
        return [0.0] * len(pages)
    word_terms = map_words_to_terms(postings, terms, weights.TWO_TYPOS_WEIGHT)
    importances = [terms[a - 1].importance + terms[b - 1].importance for a, b in pairs]
    total = sum(importances) or 1.0
    scores = []
    for page in pages:
        found = word_terms[postings.texts.word_ids(page, BODY)]
        positions = np.flatnonzero(found)
        closeness = _pair_closeness(positions.tolist(), found[positions].tolist(), pairs, len(terms))
        scores.append(sum(importance * close for importance, close in zip(importances, closeness, strict=True)) / total)
    return scores


def map_words_to_terms(
    postings: Postings, terms: list[Term], min_weight: float
) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    """Return, for each word of the site, the number of the term it matches best, from 1; 0 for none."""
    word_terms = np.zeros(len(postings.words), np.int16)
    matches = [
        (weight, word_id, term_number)
        for term_number, term in enumerate(terms, 1)
        for word_id, weight in term.matches.items()
        if weight >= min_weight
    ]
    for _, word_id, term_number in sorted(matches):
        word_terms[word_id] = term_number
    return word_terms


def _pair_closeness(
    positions: list[int], term_numbers: list[int], pairs: list[tuple[int, int]], count: int
) -> list[float]:
    """Return the closeness of each pair of terms: 1 if the second follows directly, less if apart or reversed."""
    after: list[list[int]] = [[] for _ in range(count + 1)]
    before: list[list[int]] = [[] for _ in range(count + 1)]
    for number, (first, second) in enumerate(pairs):
        after[second].append(number)
        before[first].append(number)
    last = [-_NOT_SEEN] * (count + 1)
    ahead, behind = [_NOT_SEEN] * len(pairs), [_NOT_SEEN] * len(pairs)
    for position, term in zip(positions, term_numbers, strict=True):
        for number in after[term]:
            ahead[number] = min(ahead[number], position - last[pairs[number][0]])
        for number in before[term]:
            behind[number] = min(behind[number], position - last[pairs[number][1]])
        last[term] = position
    return [
        max(_closeness(a), weights.REVERSED_ORDER_FACTOR * _closeness(b)) for a, b in zip(ahead, behind, strict=True)
    ]


def _closeness(distance: int) -> float:
    return weights.PROXIMITY_HALF_WORDS / (weights.PROXIMITY_HALF_WORDS + distance - 1)
