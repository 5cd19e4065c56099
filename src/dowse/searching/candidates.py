"""Evidence for ranking, gathered from a store by every leg that applies."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from dowse.searching import constants
from dowse.searching.query import Query, Shape
from dowse.searching.ranking import Evidence, Leg, rarity
from dowse.store.analysis import terms_of, unjoined, whole_terms_of
from dowse.types import Encoder, Kind, Store, TextQuery

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowse.types import Field


Mode = Literal["hybrid", "vector", "lexical"]

_WORD = re.compile(r"\w+")

MOST_TERMS = 64
"""Terms of a query that count."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where is searched: one kind, some documents, or everything."""

    kind: Kind | None = None
    among: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Balance:
    """Which ways of searching count, and how much of it is meaning; without `alpha` as the constants say."""

    mode: Mode = "hybrid"
    alpha: float | None = None

    def words(self) -> float:
        """The weight of the lexical leg."""
        if self.mode == "vector":
            return 0.0
        return 1.0 if self.alpha is None or self.mode == "lexical" else 2 * (1 - self.alpha)

    def meaning(self, shape: Shape) -> float:
        """The weight of the vector leg."""
        if self.mode == "lexical":
            return 0.0
        if self.mode == "vector":
            return 1.0
        return constants.VECTOR_WEIGHT[shape] if self.alpha is None else 2 * self.alpha


def gather(
    store: Store, query: Query, scope: Scope, encoder: Encoder | None = None, balance: Balance | None = None
) -> Evidence | None:
    """Everything found for a query; None when it cannot find anything."""
    balance = balance or Balance()
    terms = list(dict.fromkeys(terms_of(" ".join(query.positive))))[:MOST_TERMS]
    scope = _narrowed(store, query, scope)
    if not terms or (scope.among is not None and not scope.among):
        return None
    extent = store.extent()
    weights = {term: rarity(store.frequency(term), extent) for term in terms}
    corrected = corrections(store, query.positive)
    words = (*query.positive, *corrected.values())
    legs = []
    if encoder is None or balance.words():
        found = store.find_chunks(_asked(words, _weights(query), scope), constants.CHUNK_CANDIDATES)
        legs.append(Leg("words", found, 1.0 if encoder is None else balance.words()))
    if encoder is not None and balance.meaning(query.shape):
        legs.append(_vector_leg(store, query, scope, encoder, balance.meaning(query.shape)))
    if balance.mode == "vector":
        return Evidence(legs, paths={}, definers=[], terms=weights)
    by_path = store.find_documents(_asked(words, constants.PATH_WEIGHTS, scope), constants.DOCUMENT_CANDIDATES)
    named = _asked(query.names, {"names": 1.0}, scope)
    missing = 0.0
    for asked, known in corrected.items():
        for term in terms_of(asked):
            weight = weights.pop(term, 0.0)
            missing += weight * (1 - constants.CORRECTED)
            for stand_in in terms_of(known):
                weights.setdefault(stand_in, weight * constants.CORRECTED)
    return Evidence(
        legs=legs,
        paths={hit.document_id: hit.score for hit in by_path},
        definers=store.find_chunks(named, constants.DOCUMENT_CANDIDATES) if query.names else [],
        terms=weights,
        path=query.text if query.shape == "path" else None,
        missing=missing,
        corrected=corrected,
        unknown=tuple(word for word in unknown_words(store, query.positive) if word.lower() not in corrected),
    )


def corrections(store: Store, words: Iterable[str]) -> dict[str, str]:
    """For words that are nowhere, the nearest known one, where one is near enough."""
    found: dict[str, str] = {}
    for word in unknown_words(store, words):
        for whole in whole_terms_of(word):
            near = (
                _nearest(whole, store.words_with_prefix(whole[:2], constants.CORRECTION_CANDIDATES))
                if len(whole) >= constants.CORRECTED_LENGTH
                else None
            )
            if near and near != whole:
                found[unjoined(whole)] = unjoined(near)
    return found


def unknown_words(store: Store, words: Iterable[str]) -> list[str]:
    """Words none of whose parts is anywhere."""
    each = dict.fromkeys(word for text in words for word in _WORD.findall(text))
    return [word for word in each if terms_of(word) and not any(store.frequency(term) for term in terms_of(word))]


def _nearest(word: str, known: list[tuple[str, int]]) -> str | None:
    """The known word with the fewest letters changed; of equals the more frequent one."""
    # 25 ms, which only a misspelled query pays for.
    from rapidfuzz.distance import OSA

    most = 1 if len(word) < 2 * constants.CORRECTED_LENGTH else 2
    near = [
        (distance, -frequency, candidate)
        for candidate, frequency in known
        if (distance := OSA.distance(word, candidate, score_cutoff=most)) <= most
    ]
    return min(near)[2] if near else None


def _asked(words: tuple[str, ...], weights: "Mapping[Field, float]", scope: Scope) -> TextQuery:
    return TextQuery(words, weights, scope.kind, scope.among)


def _weights(query: Query) -> "Mapping[Field, float]":
    return constants.CHUNK_WEIGHTS if query.shape == "prose" else constants.SYMBOL_CHUNK_WEIGHTS


def _narrowed(store: Store, query: Query, scope: Scope) -> Scope:
    """The scope without documents that lack a required word or hold an excluded one.

    A phrase is checked in the text itself before it is shown; here all its words must be there.
    """
    required = (*query.must, *(word for phrase in query.phrases for word in phrase.split()))
    among = scope.among
    for word in required:
        if terms_of(word):
            held = store.holders(word)
            among = held if among is None else among & held
    excluded = frozenset[int]().union(*(store.holders(word) for word in query.must_not))
    if excluded:
        every = frozenset(document.id for document in store.documents()) if among is None else among
        among = every - excluded
    return replace(scope, among=among)


def _vector_leg(store: Store, query: Query, scope: Scope, encoder: Encoder, weight: float) -> Leg:
    (vector,) = encoder.encode([query.text])
    hits = store.nearest(encoder.version, vector, constants.CHUNK_CANDIDATES, kind=scope.kind, among=scope.among)
    return Leg("meaning", hits, weight)
