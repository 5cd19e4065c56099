"""Scores by BM25 from counted terms, as the lexical index gives them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dowse.store.field_lengths import MEAN_LENGTHS
from dowse.text.vocabulary import rarity
from dowse.types import Field

SATURATION, _LENGTH_SHARE = 1.2, 0.75
"""The constants of BM25, as Tantivy has them."""
_NAMES_LENGTH = 4.0
"""Length of the names and headings of a chunk, relative to the mean; only a parser would know it. Of 1, 2, 4 and 8 the
best on `eval/code-search` (0.847, 0.850, 0.855, 0.848)."""


@dataclass(frozen=True, slots=True)
class FieldCounts:
    """How often each field of an entry has each term of the query, and how many terms the field has in all."""

    counts: Mapping[Field, Mapping[str, int]]
    lengths: Mapping[Field, float]


class FieldStatistics:
    """In how many entries a field has a term, relative to the number of chunks."""

    def __init__(self, chunks: int) -> None:
        self.chunks = chunks
        self._frequencies = Counter[tuple[Field, str]]()

    def add(self, fields: FieldCounts, names: Iterable[Field]) -> None:
        """Count an entry."""
        for name in names:
            self._frequencies.update((name, term) for term in fields.counts[name])

    def estimate(self, name: Field, frequencies: Mapping[str, int]) -> None:
        """Set what is known about a field without looking at every entry."""
        self._frequencies.update({(name, term): count for term, count in frequencies.items()})

    def frequency(self, name: Field, term: str) -> int:
        return min(self.chunks, self._frequencies[name, term])

    def score(self, fields: FieldCounts, name: Field, terms: Iterable[str]) -> float:
        """Return the score of a field by BM25."""
        counts = fields.counts.get(name)
        if not counts:
            return 0.0
        length = fields.lengths.get(name)
        relative_length = _NAMES_LENGTH if length is None else length / MEAN_LENGTHS[name]
        damping = SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * relative_length)
        return sum(
            rarity(self.frequency(name, term), self.chunks) * count * (SATURATION + 1) / (count + damping)
            for term in terms
            if (count := counts.get(term))
        )
