"""The terms, names and lines of a query that decide which lines of a file answer it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import nlargest

from dowse.searching import ranking_constants
from dowse.searching.pasted_text import Frame
from dowse.searching.query_terms import SearchQuery

_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True)
class WantedLines:
    """The terms, names and lines of a query that decide which lines of a file answer it."""

    terms: Mapping[str, float]
    """The rarest terms of the query, each with its rarity."""
    title_terms: Mapping[str, float] = field(default_factory=dict)
    """Those of the title of pasted text."""
    words: frozenset[str] = frozenset()
    """The words of the query as they are written, which may be names."""
    symbols: frozenset[str] = frozenset()
    """The names in a query that is a name."""
    frames: tuple[Frame, ...] = ()
    """The lines that a traceback in the query names."""
    all_terms: Mapping[str, float] = field(default_factory=dict)
    """All its terms, for a document that has none of the rarest."""

    @property
    def definition_terms(self) -> Mapping[str, float]:
        """The weights of the terms for definitions: in pasted text those of the title count as much as all others."""
        if not self.title_terms:
            return self.terms
        total, of_title = sum(self.terms.values()) or 1.0, sum(self.title_terms.values())
        return {
            term: self.terms.get(term, 0.0) / total + self.title_terms.get(term, 0.0) / of_title
            for term in {**self.terms, **self.title_terms}
        }

    @classmethod
    def of(
        cls,
        query: SearchQuery,
        terms: Mapping[str, float],
        title_terms: Mapping[str, float] | None = None,
        *,
        ranks_definitions: bool = False,
    ) -> "WantedLines":
        """Return what a query with these terms says; of each set of terms the rarest count, more for definitions."""
        limit = ranking_constants.DEFINITION_TERMS if ranks_definitions else ranking_constants.UNIT_TERMS
        return cls(
            _rarest(
                terms, ranking_constants.MIN_UNIT_RARITY if title_terms else ranking_constants.MIN_TITLE_RARITY, limit
            ),
            _rarest(title_terms or {}, ranking_constants.MIN_TITLE_RARITY, limit),
            frozenset(_WORD.findall(query.text)),
            frozenset(query.names if query.shape == "symbol" else ()),
            query.pasted.frames if query.pasted else (),
            terms,
        )


def _rarest(terms: Mapping[str, float], share: float, limit: int) -> dict[str, float]:
    """Return the terms that count within a file: those that are less rare than a share of the rarest say little."""
    least = share * max(terms.values(), default=0.0)
    best = nlargest(limit, terms, key=terms.__getitem__)
    return {term: terms[term] for term in best if terms[term] >= least}
