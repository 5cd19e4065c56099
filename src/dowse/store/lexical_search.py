"""Queries of a lexical index: chunks and documents by words, and how often words occur.

The same queries search the index on the disk and one in memory. How rare a word is may be counted over both, so that
their scores mean the same: fields have the same mean length in every index (`lexical_entries`).

Tantivy adds up numbers of seven digits, and multiplies them by a rarity that deleted entries change. So equal entries may
get scores whose last digits differ, in another way after each update of the index. A rounded score is no help: digits
just below and just above a limit are rounded apart. Scores of one level count as equal instead.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from operator import neg
from typing import Any

import tantivy

from dowse.protocols import DocumentWords
from dowse.store.lexical_entries import DOCUMENT_ENTRY, FORM_WEIGHT, SCHEMA, TermStatistics, frequent_forms, term_query
from dowse.text.analysis import remove_separators, split_unspaced, terms_of, whole_terms_of
from dowse.types import DocumentMatch, Field, MatchedDocuments, Scored, TextQuery

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


MAX_TERMS = 64
"""Number of terms of a query that count; more are noise, and each costs a walk through its postings."""

_WHOLE_TITLE_SCORE = 1000.0
"""More than any sum of word scores."""


class LexicalSearch(ABC):
    """The queries of a lexical index."""

    @abstractmethod
    def searching(self) -> AbstractContextManager[TermStatistics]:
        """Give the searcher of the index, and the terms it has counted, to a block."""

    def chunk_ids(self) -> set[int]:
        """Return the ids of the chunks that can be found by their words."""
        query = tantivy.Query.range_query(SCHEMA, "chunk", tantivy.FieldType.Unsigned, 0, None)
        with self.searching() as terms:
            return set(_all_values(terms.searcher, query, "chunk"))

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search chunks by words; best first."""
        return self._search(query, limit, "chunk")

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search documents by the words of their path; best first."""
        return self._search(query, limit, "document")

    def documents_with_word(self, word: str) -> frozenset[int]:
        """Return the documents that contain a word whole, or all its parts in one chunk."""
        with self.searching() as opened:
            candidates = [_all_of("words", whole_terms_of(word)), _all_of("parts", terms_of(word))]
            query = _any_of([*candidates, *self._has_foreign("parts", word)])
            if query is None:
                return frozenset()
            # Scores are not needed here; without them it takes two thirds of the time.
            unscored = tantivy.Query.const_score_query(query, 1.0)
            return frozenset(_all_values(opened.searcher, unscored, "document"))

    def match_documents(self, match: DocumentMatch, limit: int) -> MatchedDocuments:
        """Select documents by words; return how many there are and the ids of the first, best title first."""
        with self.searching() as opened:
            required = [self._document_has(word, match) for word in match.required]
            if not required:
                required = [_any_of([self._document_has(word, match) for word in split_unspaced(match.words)])]
            excluded = [self._document_has(word, match) for word in match.excluded]
            if any(condition is None for condition in required):
                return MatchedDocuments(0)
            terms = self._title_terms(match)
            found_in_titles = (_any_of(opened.scored_term("title", one) for one in group) for group in terms)
            titles = [query for query in found_in_titles if query is not None]
            whole = tantivy.Query.boolean_query([(tantivy.Occur.Must, title) for title in titles])
            if len(titles) == len(terms) > 1:  # a title with all words comes before any other
                titles.append(tantivy.Query.const_score_query(whole, _WHOLE_TITLE_SCORE))
            query = tantivy.Query.boolean_query(
                [
                    *_filters(*required, term_query("entry", DOCUMENT_ENTRY), _among(match.among)),
                    *((tantivy.Occur.MustNot, condition) for condition in excluded if condition is not None),
                    *((tantivy.Occur.Should, title) for title in titles),
                ]
            )
            if titles:
                found, total = best_hits(opened.searcher, query, max(1, limit), counts=True)
            else:  # the order is that of the places alone
                result = opened.searcher.search(query, max(1, limit), order_by_field="place", order=tantivy.Order.Asc)
                found, total = [(0.0, address) for _, address in result.hits], result.count
            ids = _values(opened.searcher, found, "document")
            return MatchedDocuments(total, tuple(ids), sum(score > 0 for score, _ in found))

    def cover_documents(self, words: DocumentWords, match: DocumentMatch, limit: int) -> list[Scored]:
        """Return the documents that have the most words of a query, however far apart; best first."""
        groups = (
            [
                tantivy.Query.const_score_query(query, score)
                for word, score in spellings.items()
                if (query := self._document_has(word, match)) is not None
            ]
            for spellings in words
        )
        found = [(tantivy.Occur.Should, tantivy.Query.disjunction_max_query(group)) for group in groups if group]
        filters = _filters(term_query("entry", DOCUMENT_ENTRY), _among(match.among))
        with self.searching() as opened:
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, tantivy.Query.boolean_query(found)), *filters])
            hits = best_hits(opened.searcher, query, max(1, limit))[0] if found else []
            ids = _values(opened.searcher, hits, "document")
        return [Scored(number, number, score) for number, (score, _) in zip(ids, hits, strict=True)]

    def _title_terms(self, match: DocumentMatch) -> list[tuple[str, ...]]:
        """Return the terms of a query that titles are scored by, each with the stems of other languages for it."""
        groups = dict[str, tuple[str, ...]]()
        for word in (*match.words, *match.required) if match.in_titles else ():
            first, *rest = terms_of(word) or [""]
            groups |= {first: (first, *self._foreign_matches(word))} | {term: (term,) for term in rest}
        groups.pop("", None)
        return list(groups.values())[:MAX_TERMS]

    def _document_has(self, word: str, match: DocumentMatch) -> Any:
        """Return the query for documents whose title or text has a word; None when the word has no terms."""
        terms = terms_of(word)
        in_title = [_all_of("title", terms), *self._has_foreign("title", word)] if match.in_titles else []
        if not match.in_texts or not terms:
            return _any_of(in_title)
        # All parts of a word have to be in one chunk, or the word whole. Parts are pairs of some characters.
        in_text = (
            [term_query("text", terms[0]), *self._has_foreign("text", word)]
            if len(terms) == 1 and (len(word) > 1 or word.isascii())
            else [_among(self.documents_with_word(word))]
        )
        return _any_of([*in_title, *in_text])

    def _has_foreign(self, field: str, word: str) -> list[Any]:
        """Return queries for the entries of other languages that have a word, or a compound with it."""
        return [term_query(field, term) for term in self._foreign_matches(word)]

    def _foreign_matches(self, word: str) -> list[str]:
        with self.searching() as terms:
            return [
                term for found in terms.foreign_words.find([word]).values() for one in found for term in one.matches
            ]

    def chunk_count(self) -> int:
        with self.searching() as terms:
            return terms.chunks()

    def chunk_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return how many chunks contain each term, with identifiers split into parts."""
        with self.searching() as statistics:
            return {term: statistics.frequency("parts", term) for term in terms}

    def frequency(self, field: Field, term: str) -> int:
        """Return in how many entries a field has a term."""
        with self.searching() as terms:
            return terms.frequency(field, term)

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return whole words that begin with a prefix, each with the number of chunks that contain it."""
        with self.searching() as terms:
            return terms.terms_with_prefix("words", prefix, limit)

    def similar_words(self, word: str, max_typos: int) -> list[tuple[str, int]]:
        """Return other whole words within a number of typos, each with that number; fewest first, then most frequent."""
        with self.searching() as terms:
            found, counts = terms.vocabulary.similar_words(word, max_typos), terms.vocabulary.frequencies
            return sorted(found, key=lambda one: (one[1], -counts[one[0]], one[0]))

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the stems that words stand for in the documents that are not in English, and their frequencies."""
        with self.searching() as terms:
            found = terms.foreign_words.find(words)
            return {word: {one.term: one.frequency for one in foreign} for word, foreign in found.items()}

    def _search(self, query: TextQuery, limit: int, id_field: str) -> list[Scored]:
        with self.searching() as opened:
            tantivy_query = self._build_query(query, opened)
            if tantivy_query is None or limit <= 0:
                return []
            hits, _ = best_hits(opened.searcher, tantivy_query, limit)
            documents = _values(opened.searcher, hits, "document")
            ids = _values(opened.searcher, hits, id_field) if id_field != "document" else documents
        return sorted(map(Scored, ids, documents, (score for score, _ in hits)), key=lambda hit: (-hit.score, hit.id))

    def _build_query(self, query: TextQuery, statistics: TermStatistics) -> Any:
        text = " ".join(query.words)
        terms = {
            "words": whole_terms_of(" ".join((text, *query.repeated))),
            "names": whole_terms_of(remove_separators(text)),
        }
        part_terms, foreign_terms = terms_of(text), statistics.foreign_words.find(query.words)
        foreign = [match for found in foreign_terms.values() for one in found for match in one.matches.items()]
        forms = frequent_forms(part_terms[:MAX_TERMS], partial(statistics.frequency, "parts"))
        foreign += [(form, FORM_WEIGHT) for form in forms]
        scored = (
            statistics.scored_term(field, term, weight * share, query.others)
            for field, weight in query.weights.items()
            for term, share in (
                *Counter(terms.get(field, part_terms)[:MAX_TERMS]).items(),
                *(foreign if field not in terms else ()),
            )
        )
        term_queries = [(tantivy.Occur.Should, one) for one in scored if one is not None]
        if not term_queries:
            return None
        filters = _filters(term_query("kind", query.kind) if query.kind else None, _among(query.among))
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, tantivy.Query.boolean_query(term_queries)), *filters])


def _values(searcher: Any, hits: Iterable[tuple[float, Any]], column: str) -> list[int]:
    found: list[int] = searcher.fast_field_values(column, [address for _, address in hits])
    return found


def _all_values(searcher: Any, query: Any, column: str) -> list[int]:
    return _values(searcher, searcher.search(query, max(1, searcher.num_docs), count=False).hits, column)


def _among(documents: Iterable[int] | None) -> Any:
    return None if documents is None else tantivy.Query.term_set_query(SCHEMA, "document", list(documents))


def _filters(*conditions: Any) -> list[tuple[Any, Any]]:
    """Return the conditions that are not None as parts of a query, without a share in its scores."""
    some = [condition for condition in conditions if condition is not None]
    return [(tantivy.Occur.Must, tantivy.Query.const_score_query(condition, 0.0)) for condition in some]


def _all_of(field: str, terms: list[str]) -> Any:
    required = [(tantivy.Occur.Must, term_query(field, term)) for term in terms[:MAX_TERMS]]
    return tantivy.Query.boolean_query(required) if required else None


def _any_of(queries: Iterable[Any]) -> Any:
    """Return the query for what one of the queries finds; None without queries."""
    some = [(tantivy.Occur.Should, query) for query in queries if query is not None]
    return tantivy.Query.boolean_query(some) if some else None
