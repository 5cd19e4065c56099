"""Scores that are equal but for their last digits, and the best entries of a search by them.

Tantivy adds up numbers of seven digits, and multiplies them by a rarity that deleted entries change. So equal entries may
get scores whose last digits differ, in another way after each update of the index. A rounded score is no help: digits
just below and just above a limit are rounded apart.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from operator import neg
from typing import Any

SAME_SCORE = 1e-5
"""Scores belong to one level if they differ by less than this share: 40 sums of numbers of seven digits differ by 2e-6 at
the most. Scores of entries that differ are rarely so near to each other."""

_MORE_HITS = 4
"""If the last level of scores is not whole, this many times as many entries are fetched."""


def level_scores(scores: Iterable[float]) -> Iterator[float]:
    """Replace scores, best first, by the highest score of the level that each belongs to."""
    highest: float | None = None
    for score in scores:
        if highest is None or score < highest - abs(highest) * SAME_SCORE:
            highest = score
        yield highest


def best_hits(searcher: Any, query: Any, limit: int, *, counts: bool = False) -> tuple[list[tuple[float, Any]], int]:
    """Return the best entries with the scores of their levels, and how many entries match; 0 unless it `counts` them.

    Of the last level, those with the lowest places are returned.
    Tantivy would choose those of the last level by their addresses, which depend on the updates that led to the index.
    """
    wanted = limit + 1
    while True:
        result = searcher.search(query, wanted, count=counts)
        hits = result.hits
        levels = list(level_scores(score for score, _ in hits))
        is_level_whole = len(hits) < wanted or levels[-1] < levels[limit - 1]
        if is_level_whole or not levels[-1]:  # without a score, no order counts
            break
        wanted *= _MORE_HITS
    addresses = [address for _, address in hits]
    if len(hits) > limit and levels[limit] == levels[limit - 1] > 0:
        first, end = bisect_left(levels, -levels[limit], key=neg), bisect_right(levels, -levels[limit], key=neg)
        tied = addresses[first:end]
        places = searcher.fast_field_values("place", tied)
        addresses[first:end] = [tied[at] for at in sorted(range(len(tied)), key=places.__getitem__)]
    return list(zip(levels, addresses, strict=True))[:limit], int(result.count or 0)
