"""Collection of the evidence for ranking: every search method that applies runs on the store."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest
from itertools import islice
from math import log
from typing import TYPE_CHECKING, Literal

from dowse.protocols import Searchable
from dowse.searching import ranking_constants
from dowse.searching.pasted_text import PastedText, mentioned_documents
from dowse.searching.query_terms import (
    NO_CORRECTIONS,
    SearchQuery,
    Spelling,
    check_spelling,
    term_frequencies,
)
from dowse.searching.ranking import Evidence, HalfWay, Leg
from dowse.text.analysis import rarity, terms_of
from dowse.types import Kind, Scored, TextQuery

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowse.types import Field, Vectors


Mode = Literal["hybrid", "vector", "lexical"]

_WORD = re.compile(r"\w+")

MAX_TERMS = 64
"""Number of terms of a query that count."""
MAX_NAME_TERMS = 4
"""Number of terms up to which a query may be the name of a definition in other words."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents to search: one kind, some documents, or all."""

    kind: Kind | None = None
    among: frozenset[int] | None = None
    documents_only: bool = False
    """Whether the documents are for readers, whatever their kind."""

    @property
    def has_code(self) -> bool:
        """Whether code may be among the documents."""
        return self.kind != "docs" and not self.documents_only


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a query, and how much of the index its encoder has encoded."""

    encoder: str
    vector: "Vectors"
    coverage: float
    """The share of chunks that have a vector of this encoder."""
    is_model: bool = False
    """Whether the model made it, not the table. Where a file has vectors of both, those of the model count."""


def gather_evidence(
    store: Searchable,
    query: SearchQuery,
    scope: Scope,
    vectors: Sequence[QueryVector] = (),
    *,
    mode: Mode = "hybrid",
    alpha: float | None = None,
    spelling: Spelling | None = None,
) -> Evidence:
    """Run the search methods that count for a query and return what they found.

    `alpha` is the share of meaning; without it the constants decide. The spelling is checked unless it was before.
    """
    scope = _narrow_scope(store, query, scope)
    if scope.has_code:
        query = _without_given_words(store, query)
    gathering = _Gathering(store, query, scope, vectors, mode=mode, alpha=alpha)
    if query.pasted is None:
        if spelling is None:
            query, spelling = check_spelling(store, query, writes_names=scope.has_code)
        return gathering.evidence(query, spelling)
    if query.pasted.is_paragraph:
        return gathering.evidence(query)
    title = query.pasted.title
    of_title = SearchQuery(tuple(title.split()), text=title, pasted=PastedText())
    by_text, by_title = gathering.evidence(query_of_best_words(store, query)), gathering.evidence(of_title)
    if not by_text.terms:
        return by_title
    return replace(by_text, title=by_title, mentioned=mentioned_documents(store, query.pasted, scope.kind, scope.among))


def _without_given_words(store: Searchable, query: SearchQuery) -> SearchQuery:
    """Leave out the words that all files are about, if another word of the query occurs.

    All questions of CosQA have the word "python", and few functions in Python do. Worth 0.013 there by words
    and 0.016 with the table; on code 0.001. The name of the project is worth 0.002 on code by words and 0.003 with the table.
    """
    shorter = query
    for word in sorted(store.given_words()):
        shorter = shorter.without_word(word)
    if shorter is query or not any(store.chunk_frequencies(terms_of(" ".join(shorter.positive))).values()):
        return query
    return shorter


def query_of_best_words(store: Searchable, query: SearchQuery) -> SearchQuery:
    """Return pasted text with those of its words that say most: the rarest ones that occur, and the repeated ones."""
    words = _best_words(store, query.positive) or _best_words(store, query.terms)
    return replace(query, terms=words)


def _best_words(store: Searchable, texts: Iterable[str]) -> tuple[str, ...]:
    total, worth = store.chunk_count(), dict[str, float]()
    counts = Counter(_WORD.findall(" ".join(texts)))
    terms = {word: terms_of(word) for word in counts}
    frequencies = store.chunk_frequencies({term for found in terms.values() for term in found})
    for word, count in counts.items():
        if known := [frequency for term in terms[word] if (frequency := frequencies[term])]:
            worth[word] = rarity(min(known), total) * (1 + log(count))
    return tuple(nlargest(ranking_constants.PASTED_WORDS, worth, key=worth.__getitem__))


class _Gathering:
    """The search methods that apply to a query and to its title."""

    def __init__(
        self, store: Searchable, query: SearchQuery, scope: Scope, vectors: Sequence[QueryVector], *, mode: Mode,
        alpha: float | None,
    ) -> None:  # fmt: skip
        self._store, self._query, self._scope, self._vectors = store, query, scope, vectors
        self._mode, self._alpha = mode, alpha
        self._model = next((vector for vector in vectors if vector.is_model), None)

    def evidence(self, query: SearchQuery, spelling: Spelling = NO_CORRECTIONS) -> Evidence:
        """Return what is found for some words."""
        store, scope, positive = self._store, self._scope, query.positive
        found_terms = (term for one in term_frequencies(store, positive).values() for term in one.items())
        terms = dict(islice(dict(found_terms).items(), MAX_TERMS))
        if not terms or (scope.among is not None and not scope.among):
            return Evidence()
        total = store.chunk_count()
        weights = {term: rarity(frequency, total) for term, frequency in terms.items()}
        unknown, corrected = spelling
        words = (*positive, *corrected.values())
        if self._mode == "vector":
            near = [_drop_distant(leg, ()) for leg in self._meaning[1]]
            return Evidence(near, terms=weights, nearness=_best_nearness(near))
        by_words = store.find_chunks(*_chunk_query(query, words, scope))
        by_path = store.find_documents(*_path_query(words, scope))
        definers = self._definers(query)
        definers += self._described_definers(query, {hit.id for hit in definers})
        found = {hit.document_id for hit in (*by_words, *by_path, *definers)}
        balance, near = self._meaning  # last: the model has just begun to encode
        is_nameless = not by_path and scope.has_code and self._alpha is None
        more_meaning = ranking_constants.NAMELESS_MEANING if is_nameless else 1.0
        near = [replace(leg, weight=more_meaning * leg.weight) for leg in near]
        missing = 0.0
        for misspelled, correction in corrected.items():
            for term in terms_of(misspelled):
                weight = weights.pop(term, 0.0)
                missing += weight * (1 - ranking_constants.CORRECTION_WEIGHT)
                for corrected_term in terms_of(correction):
                    weights.setdefault(corrected_term, weight * ranking_constants.CORRECTION_WEIGHT)
        words_leg = Leg("words", by_words, balance.words)
        half_way = self._half_way(near, words_leg, found, more_meaning) if len(near) > 1 else None
        near = [_drop_distant(leg, found) for leg in near]
        return Evidence(
            legs=[words_leg, *near],
            paths={hit.document_id: hit.score for hit in by_path},
            definers=definers,
            terms=weights,
            path=query.text if query.shape == "path" else None,
            missing=missing,
            corrected=corrected,
            unknown=tuple(word for word in unknown if word.lower() not in corrected),
            nearness=_best_nearness(near),
            half_way=half_way,
            has_code=scope.has_code,
            is_pasted=query.is_pasted,
        )

    # Definitions

    def _definers(self, query: SearchQuery) -> list[Scored]:
        """Return the chunks that define a name of the query; of a typed one with a score of 1, or less if many files define it.

        Those that define it with the same capitals are counted by themselves: an interface `Channel`, and not all fields
        `channel`.
        """
        if query.is_pasted:
            return self._store.find_chunks(*_names_query(query.names, self._scope)) if query.names else []
        found: dict[int, Scored] = {}
        for name in query.names:
            hits = self._store.find_chunks(*_names_query((name,), self._scope))
            chunks = self._store.chunks_by_id(hit.id for hit in hits)
            exact = {number for number, chunk in chunks.items() if any(one.name == name for one in chunk.symbols)}
            for alike in (hits, [hit for hit in hits if hit.id in exact]):
                share = max(1, len({hit.document_id for hit in alike})) ** -ranking_constants.DEFINERS_POWER
                for hit in alike:
                    found[hit.id] = hit._replace(score=max(share, found[hit.id].score if hit.id in found else 0.0))
        return sorted(found.values(), key=lambda hit: (-hit.score, hit.id))

    def _described_definers(self, query: SearchQuery, known: Collection[int]) -> list[Scored]:
        """Return further chunks that define a name of all words of a query: `parse_cookie` for "how are cookies parsed"."""
        if not _may_describe_name(query, self._scope):
            return []
        terms = frozenset(terms_of(" ".join(query.positive)))
        hits = [hit for hit in self._store.find_chunks(*_described_query(query, self._scope)) if hit.id not in known]
        chunks = self._store.chunks_by_id(hit.id for hit in hits)
        named = {
            number
            for number, chunk in chunks.items()
            if any(terms.issubset(terms_of(one.name)) for one in chunk.symbols)
        }
        return [hit._replace(score=1.0) for hit in hits if hit.id in named]

    # Meaning

    @cached_property
    def _meaning(self) -> tuple[ranking_constants.Balance, list[Leg]]:
        """The weights of words and meaning, and what is near: the title has the vector of the whole text."""
        if not self._vectors:
            return ranking_constants.WORDS_ONLY, []
        balance = self._balance(self._model.coverage if self._model else 0.0)
        return balance, self._near_legs(balance.meaning) if balance.meaning else []

    def _balance(self, covered: float) -> ranking_constants.Balance:
        """Return the weights of words and meaning; `covered` is the share of chunks that the model has encoded."""
        if self._mode == "lexical":
            return ranking_constants.WORDS_ONLY
        if self._mode == "vector":
            return ranking_constants.Balance(0.0, 1.0)
        if self._alpha is not None:
            return ranking_constants.Balance(2 * (1 - self._alpha), 2 * self._alpha)
        if self._query.shape != "prose":
            return ranking_constants.NAME_BALANCE
        kind = self._scope.kind or "code"
        both = zip(ranking_constants.MODEL_BALANCE[kind], ranking_constants.TABLE_BALANCE[kind], strict=True)
        return ranking_constants.Balance(
            *(covered * by_model + (1 - covered) * by_table for by_model, by_table in both)
        )

    def _near_legs(self, weight: float) -> list[Leg]:
        """Search by meaning: with the model for files that it has encoded, with the table for the others."""
        legs: list[Leg] = []
        by_model = self._model if self._model and self._model.coverage else None
        if by_model:
            legs.append(Leg("meaning", self._nearest(by_model), weight, is_near=True))
        by_table = next((vector for vector in self._vectors if not vector.is_model), None)
        if by_table and (by_model is None or by_model.coverage < 1):
            hits = self._nearest(by_table)
            documents = frozenset(hit.document_id for hit in hits)
            encoded = self._store.encoded_documents(by_model.encoder, documents) if by_model else frozenset()
            legs.append(Leg("meaning by table", hits, weight, is_near=True, among=documents - encoded))
        return legs

    def _nearest(self, vector: QueryVector) -> list[Scored]:
        most, scope = ranking_constants.NEAR_CANDIDATES, self._scope
        return self._store.nearest(vector.encoder, vector.vector, most, kind=scope.kind, among=scope.among)

    def _half_way(self, near: Sequence[Leg], by_words: Leg, found: Collection[int], more_meaning: float) -> HalfWay:
        """Return what the model and the table say, each with the weights that it has where it is alone."""
        by_model, by_table = (
            [
                replace(by_words, weight=balance.words),
                _drop_distant(replace(leg, weight=more_meaning * balance.meaning, among=None), found),
            ]
            for leg, balance in zip(near, map(self._balance, (1.0, 0.0)), strict=True)
        )
        documents = frozenset(found) | {hit.document_id for leg in near for hit in leg.hits}
        model = self._model.encoder if self._model else ""
        return HalfWay(by_table, by_model, self._store.encoded_documents(model, documents))


def _may_describe_name(query: SearchQuery, scope: Scope) -> bool:
    """Return whether a query may have all words of a name and few others."""
    terms = frozenset(terms_of(" ".join(query.positive)))
    is_prose = query.shape == "prose" and not query.is_pasted
    return is_prose and scope.has_code and 1 < len(terms) <= MAX_NAME_TERMS


def _drop_distant(leg: Leg, found: Collection[int]) -> Leg:
    """Drop the documents of a leg that match no word and are below the minimum nearness."""
    kept = {
        hit.document_id for hit in leg.hits if hit.score >= ranking_constants.MIN_NEARNESS or hit.document_id in found
    }
    return replace(leg, among=frozenset(kept if leg.among is None else kept & leg.among))


def _best_nearness(legs: Iterable[Leg]) -> dict[int, float]:
    """Return the nearness of the nearest chunk of each document."""
    nearness: dict[int, float] = {}
    for leg in legs:
        for _, document, score in leg.hits:
            if (leg.among is None or document in leg.among) and score > nearness.get(document, -1.0):
                nearness[document] = max(score, 0.0)
    return nearness


Limited = tuple[TextQuery, int]
"""A query, and how many hits are wanted."""


def expected_queries(query: SearchQuery, scope: Scope) -> list[Limited]:
    """Return the queries by words that a search asks for if no word is replaced, for a store that begins with them early."""
    if query.is_pasted or not query.positive:
        return []
    found = [_chunk_query(query, query.positive, scope), _path_query(query.positive, scope)]
    found += [_names_query((name,), scope) for name in query.names]
    return found + ([_described_query(query, scope)] if _may_describe_name(query, scope) else [])


def _text_query(words: tuple[str, ...], weights: "Mapping[Field, float]", scope: Scope) -> TextQuery:
    return TextQuery(words, weights, scope.kind, scope.among)


def _chunk_query(query: SearchQuery, words: tuple[str, ...], scope: Scope) -> Limited:
    """Return the query for chunks. In documents, identifiers of several parts count more in one piece than words do."""
    if query.shape != "prose":
        weights, repeated = ranking_constants.SYMBOL_CHUNK_WEIGHTS, tuple[str, ...]()
    elif scope.has_code:
        weights, repeated = ranking_constants.CHUNK_WEIGHTS, ranking_constants.IDENTIFIER_REPEATS * query.headers
    else:
        identifiers = tuple(word for word in _WORD.findall(" ".join(words)) if len(terms_of(word)) > 1)
        weights, repeated = ranking_constants.DOCS_CHUNK_WEIGHTS, ranking_constants.IDENTIFIER_REPEATS * identifiers
    return replace(_text_query(words, weights, scope), repeated=repeated), ranking_constants.CHUNK_CANDIDATES


def _path_query(words: tuple[str, ...], scope: Scope) -> Limited:
    return _text_query(words, ranking_constants.PATH_WEIGHTS, scope), ranking_constants.DOCUMENT_CANDIDATES


def _names_query(names: tuple[str, ...], scope: Scope) -> Limited:
    return _text_query(names, {"names": 1.0}, scope), ranking_constants.DOCUMENT_CANDIDATES


def _described_query(query: SearchQuery, scope: Scope) -> Limited:
    wanted = replace(_text_query(query.positive, {"symbols": 1.0}, scope), requires_all=True)
    return wanted, ranking_constants.NAMED_CANDIDATES


def _narrow_scope(store: Searchable, query: SearchQuery, scope: Scope) -> Scope:
    """Remove documents from the scope that lack a required word or contain an excluded one.

    Here a document must contain all words of a phrase; the phrase itself is checked in the text before a hit is shown.
    """
    required = (*query.must, *(word for phrase in query.phrases for word in phrase.split()))
    among = scope.among
    for word in required:
        if terms_of(word):
            documents = store.documents_with_word(word)
            among = documents if among is None else among & documents
    excluded = frozenset[int]().union(*(store.documents_with_word(word) for word in query.must_not))
    if excluded:
        candidates = frozenset(document.id for document in store.documents()) if among is None else among
        among = candidates - excluded
    return replace(scope, among=among)
