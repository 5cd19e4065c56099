"""Evidence for ranking, gathered from a store by every leg that applies."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from dowse.protocols import Store, TextSearcher, VectorStore
from dowse.searching import ranking_constants
from dowse.searching.query_terms import SearchQuery
from dowse.searching.ranking import Evidence, Leg, rarity
from dowse.store.analysis import restore_underscores, terms_of, whole_terms_of
from dowse.types import Kind, Scored, TextQuery

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowse.types import Field, Vectors


Mode = Literal["hybrid", "vector", "lexical"]

_WORD = re.compile(r"\w+")

MAX_TERMS = 64
"""Terms of a query that count."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where is searched: one kind, some documents, or everything."""

    kind: Kind | None = None
    among: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query as an encoder sees it, and how much of the index it has seen the same way."""

    encoder: str
    vector: "Vectors"
    coverage: float
    """The share of chunks that have a vector."""
    is_model: bool = False
    """It was made by the model, not by the table: where a file has both, this one counts."""


@dataclass(frozen=True, slots=True)
class SearchMethod:
    """Which ways of searching count, and how much of it is meaning; without `alpha` as the constants say."""

    mode: Mode = "hybrid"
    alpha: float | None = None

    def balance(self, query: SearchQuery, kind: Kind | None, covered: float) -> ranking_constants.Balance:
        """The weights, where the model has seen so much of the index."""
        if self.mode == "lexical":
            return ranking_constants.WORDS_ONLY
        if self.mode == "vector":
            return ranking_constants.Balance(0.0, 1.0)
        if self.alpha is not None:
            return ranking_constants.Balance(2 * (1 - self.alpha), 2 * self.alpha)
        if query.shape != "prose":
            return ranking_constants.NAME_BALANCE
        model, table = ranking_constants.MODEL_BALANCE[kind or "code"], ranking_constants.TABLE_BALANCE[kind or "code"]
        return ranking_constants.Balance(
            *(covered * one + (1 - covered) * other for one, other in zip(model, table, strict=True))
        )


def gather_evidence(
    store: Store,
    query: SearchQuery,
    scope: Scope,
    meanings: Sequence[QueryVector] = (),
    manner: SearchMethod | None = None,
) -> Evidence | None:
    """Everything found for a query; None when it cannot find anything."""
    manner = manner or SearchMethod()
    terms = list(dict.fromkeys(terms_of(" ".join(query.positive))))[:MAX_TERMS]
    scope = _narrow_scope(store, query, scope)
    if not terms or (scope.among is not None and not scope.among):
        return None
    extent = store.entry_count()
    weights = {term: rarity(store.chunk_frequency(term), extent) for term in terms}
    corrected = corrections(store, query.positive)
    words = (*query.positive, *corrected.values())
    covered = max((meaning.coverage for meaning in meanings if meaning.is_model), default=0.0)
    balance = manner.balance(query, scope.kind, covered) if meanings else ranking_constants.WORDS_ONLY
    near = _near_legs(store, meanings, scope, balance.meaning) if balance.meaning else []
    if manner.mode == "vector":
        near = [_drop_distant(leg, ()) for leg in near]
        return Evidence(near, paths={}, definers=[], terms=weights, nearness=_best_nearness(near))
    by_words = store.find_chunks(_text_query(words, _field_weights(query), scope), ranking_constants.CHUNK_CANDIDATES)
    by_path = store.find_documents(
        _text_query(words, ranking_constants.PATH_WEIGHTS, scope), ranking_constants.DOCUMENT_CANDIDATES
    )
    named = _text_query(query.names, {"names": 1.0}, scope)
    definers = store.find_chunks(named, ranking_constants.DOCUMENT_CANDIDATES) if query.names else []
    found = {hit.document_id for hit in (*by_words, *by_path, *definers)}
    missing = 0.0
    for asked, known in corrected.items():
        for term in terms_of(asked):
            weight = weights.pop(term, 0.0)
            missing += weight * (1 - ranking_constants.CORRECTION_WEIGHT)
            for stand_in in terms_of(known):
                weights.setdefault(stand_in, weight * ranking_constants.CORRECTION_WEIGHT)
    near = [_drop_distant(leg, found) for leg in near]
    return Evidence(
        legs=[Leg("words", by_words, balance.words), *near],
        paths={hit.document_id: hit.score for hit in by_path},
        definers=definers,
        terms=weights,
        path=query.text if query.shape == "path" else None,
        missing=missing,
        corrected=corrected,
        unknown=tuple(word for word in unknown_words(store, query.positive) if word.lower() not in corrected),
        nearness=_best_nearness(near),
    )


def _near_legs(store: VectorStore, meanings: Sequence[QueryVector], scope: Scope, weight: float) -> list[Leg]:
    """What is near in meaning: by the model where it has seen a file, by the table elsewhere."""
    legs: list[Leg] = []
    by_model = next((meaning for meaning in meanings if meaning.is_model and meaning.coverage), None)
    if by_model:
        legs.append(Leg("meaning", _nearest(store, by_model, scope), weight, is_near=True))
    by_table = next((meaning for meaning in meanings if not meaning.is_model), None)
    if by_table and (by_model is None or by_model.coverage < 1):
        hits = _nearest(store, by_table, scope)
        documents = frozenset(hit.document_id for hit in hits)
        left = documents - store.encoded_documents(by_model.encoder, documents) if by_model else documents
        legs.append(Leg("meaning by table", hits, weight, is_near=True, among=left))
    return legs


def _nearest(store: VectorStore, meaning: QueryVector, scope: Scope) -> list[Scored]:
    return store.nearest(
        meaning.encoder, meaning.vector, ranking_constants.NEAR_CANDIDATES, kind=scope.kind, among=scope.among
    )


def _drop_distant(leg: Leg, found: Collection[int]) -> Leg:
    """Without documents that no word leads to and that are not near either."""
    held = {
        hit.document_id for hit in leg.hits if hit.score >= ranking_constants.MIN_NEARNESS or hit.document_id in found
    }
    return replace(leg, among=frozenset(held if leg.among is None else held & leg.among))


def _best_nearness(legs: Iterable[Leg]) -> dict[int, float]:
    """Of each document how near its nearest chunk is."""
    nearness: dict[int, float] = {}
    for leg in legs:
        for hit in leg.hits:
            if leg.among is None or hit.document_id in leg.among:
                nearness[hit.document_id] = max(hit.score, nearness.get(hit.document_id, 0.0))
    return nearness


def corrections(store: TextSearcher, words: Iterable[str]) -> dict[str, str]:
    """For words that are nowhere, the nearest known one, where one is near enough."""
    found: dict[str, str] = {}
    for word in unknown_words(store, words):
        for whole in whole_terms_of(word):
            near = (
                _closest_word(whole, store.words_with_prefix(whole[:2], ranking_constants.CORRECTION_CANDIDATES))
                if len(whole) >= ranking_constants.MIN_CORRECTED_LENGTH
                else None
            )
            if near and near != whole:
                found[restore_underscores(whole)] = restore_underscores(near)
    return found


def unknown_words(store: TextSearcher, words: Iterable[str]) -> list[str]:
    """Words none of whose parts is anywhere."""
    each = dict.fromkeys(word for text in words for word in _WORD.findall(text))
    return [word for word in each if terms_of(word) and not any(store.chunk_frequency(term) for term in terms_of(word))]


def _closest_word(word: str, known: list[tuple[str, int]]) -> str | None:
    """The known word with the fewest letters changed; of equals the more frequent one."""
    # 25 ms, which only a misspelled query pays for.
    from rapidfuzz.distance import OSA

    most = 1 if len(word) < 2 * ranking_constants.MIN_CORRECTED_LENGTH else 2
    near = [
        (distance, -frequency, candidate)
        for candidate, frequency in known
        if (distance := OSA.distance(word, candidate, score_cutoff=most)) <= most
    ]
    return min(near)[2] if near else None


def _text_query(words: tuple[str, ...], weights: "Mapping[Field, float]", scope: Scope) -> TextQuery:
    return TextQuery(words, weights, scope.kind, scope.among)


def _field_weights(query: SearchQuery) -> "Mapping[Field, float]":
    return ranking_constants.CHUNK_WEIGHTS if query.shape == "prose" else ranking_constants.SYMBOL_CHUNK_WEIGHTS


def _narrow_scope(store: Store, query: SearchQuery, scope: Scope) -> Scope:
    """The scope without documents that lack a required word or hold an excluded one.

    A phrase is checked in the text itself before it is shown; here all its words must be there.
    """
    required = (*query.must, *(word for phrase in query.phrases for word in phrase.split()))
    among = scope.among
    for word in required:
        if terms_of(word):
            held = store.documents_with_word(word)
            among = held if among is None else among & held
    excluded = frozenset[int]().union(*(store.documents_with_word(word) for word in query.must_not))
    if excluded:
        every = frozenset(document.id for document in store.documents()) if among is None else among
        among = every - excluded
    return replace(scope, among=among)
