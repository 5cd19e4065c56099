"""Queries of a lexical index: chunks and documents by words, and how often words occur.

The same queries search the index on the disk and one in memory. How rare a word is may be counted over both, so that
their scores mean the same: fields have the same mean length in every index (`field_lengths`).
"""

import contextlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cached_property, partial
from heapq import nlargest
from typing import Any, NamedTuple

import tantivy

from dowse.protocols import DocumentWords
from dowse.store.lexical_entries import CHUNK_ENTRY, DOCUMENT_ENTRY, SCHEMA, term_query
from dowse.store.score_levels import best_hits
from dowse.text.abbreviations import other_forms
from dowse.text.analysis import remove_separators, restore_underscores, split_unspaced, terms_of, whole_terms_of
from dowse.text.stemming import MARK, MIN_PART_CHARACTERS, Language, languages, mark_stem, split_compound, stem_words
from dowse.text.vocabulary import Vocabulary, rarity
from dowse.types import DocumentMatch, Field, MatchedDocuments, OtherChunks, Scored, TextQuery

FORM_WEIGHT = 0.3
"""Weight of a short or long form of a word that is more frequent than the word. Worth 0.003 on code by words and 0.002 with
the table; with 0.5, 0.001 less."""
COMPOUND_WEIGHT = 0.5
"""Weight of a compound that begins or ends with the word, and of the parts of a compound."""
MAX_COMPOUNDS = 20
"""Compounds with one word that are looked for: the most frequent ones."""
MAX_STEMS = 200_000
"""Stems of a language in which compounds are looked for."""

MAX_WORDS = 500_000
"""Words that a misspelled one is compared with; Tantivy reserves 32 bytes for each."""

TermsWithPrefix = Callable[[str, int], list[tuple[str, int]]]
"""Returns terms that begin with a prefix, each with its frequency."""


class ForeignTerm(NamedTuple):
    """A stem of another language than English that a word stands for, and the terms of the index that match it."""

    term: str
    matches: Mapping[str, float]
    """The terms, each with its weight."""
    frequency: int
    """The number of chunks that have the stem, or else the most frequent of the terms."""


class ForeignWords:
    """The stems of other languages at one state of the lexical index."""

    def __init__(self, terms_with_prefix: TermsWithPrefix) -> None:
        self._terms_with_prefix = terms_with_prefix
        self._languages = [one for one in languages() if terms_with_prefix(f"{MARK}{one.letter}", 1)]
        self._vocabularies: dict[str, Vocabulary] = {}
        self._found: dict[str, list[ForeignTerm]] = {}

    def find(self, words: Iterable[str]) -> dict[str, list[ForeignTerm]]:
        """Return the stems that words stand for in the languages of the index, as far as documents have them."""
        if not self._languages:
            return {}
        return {word: found for word in words if (found := self._terms_of(word))}

    def _terms_of(self, word: str) -> list[ForeignTerm]:
        if word not in self._found:
            stems = ((stem, language) for language in self._languages for stem in stem_words(word, language))
            self._found[word] = [term for one in stems for term in self._terms_of_stem(*one)]
        return self._found[word]

    def _terms_of_stem(self, stem: str, language: Language) -> list[ForeignTerm]:
        known = self._vocabulary(language)
        matches = {stem: 1.0} if stem in known else {}
        if not language.has_compounds:
            return [_make_term(stem, matches, language, known)] if matches else []
        if len(stem) >= MIN_PART_CHARACTERS:
            longer = [word for word, is_first in known.longer_words(stem) if is_first or word.endswith(stem)]
            matches |= dict.fromkeys(nlargest(MAX_COMPOUNDS, longer, known.frequencies.__getitem__), COMPOUND_WEIGHT)
        parts = dict.fromkeys(split_compound(stem, language, known.frequencies), COMPOUND_WEIGHT)
        if matches:
            return [_make_term(stem, parts | matches, language, known)]
        return [_make_term(part, {part: weight}, language, known) for part, weight in parts.items()]

    def _vocabulary(self, language: Language) -> Vocabulary:
        if language.name not in self._vocabularies:
            found = self._terms_with_prefix(f"{MARK}{language.letter}", MAX_STEMS)
            self._vocabularies[language.name] = Vocabulary({term[2:-1]: count for term, count in found})
        return self._vocabularies[language.name]


def _make_term(stem: str, matches: Mapping[str, float], language: Language, known: Vocabulary) -> ForeignTerm:
    frequency = known.frequencies.get(stem) or max(known.frequencies[one] for one in matches)
    return ForeignTerm(
        mark_stem(stem, language), {mark_stem(one, language): weight for one, weight in matches.items()}, frequency
    )


class TermStatistics:
    """The frequencies of terms at one state of the lexical index, each counted once."""

    def __init__(self, searcher: Any) -> None:
        self._searcher = searcher
        self._all_entries = sum(searcher.doc_freq("kind", kind) for kind in ("code", "docs"))
        """The entries with those that were deleted and those that fill fields up: each has a kind."""
        self._has_deleted = searcher.num_docs < self._all_entries
        self._counted: dict[tuple[str, str], int] = {}

    def chunks(self) -> int:
        return self.frequency("entry", CHUNK_ENTRY)

    def frequency(self, field: str, term: str) -> int:
        """Return in how many entries a field has a term."""
        if (field, term) not in self._counted:
            if self._has_deleted:
                query = tantivy.Query.term_query(SCHEMA, field, term, "basic")
                count = self._searcher.search(query, 1, count=True).count
            else:
                count = self._searcher.doc_freq(field, term)
            self._counted[field, term] = int(count)
        return self._counted[field, term]

    def terms_with_prefix(self, field: Field, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return terms of a field that begin with a prefix, each with the number of chunks that contain it."""
        if not self._has_deleted:
            return list(self._searcher.terms_with_prefix(field, prefix, limit=limit))
        counted = self._searcher.terms_with_prefix(field, prefix, filter_query=tantivy.Query.all_query(), limit=limit)
        return [(word, count) for word, count in counted if count]

    def more_frequent_forms(self, terms: Iterable[str]) -> list[str]:
        """Return the short and long forms of terms that are more frequent than these."""
        own = dict.fromkeys(terms)
        forms = {form: term for term in own for form in other_forms(term) if form not in own}
        return [form for form, term in forms.items() if self.frequency("parts", form) > self.frequency("parts", term)]

    @cached_property
    def foreign_words(self) -> ForeignWords:
        """The stems of documents that are not in English."""
        return ForeignWords(partial(self.terms_with_prefix, "parts"))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The whole words of all texts. Reading 41,000 of them takes 0.1 s, which a misspelled query pays for."""
        found = self.terms_with_prefix("words", "", MAX_WORDS)
        return Vocabulary({restore_underscores(word): count for word, count in found})

    def scored_term(self, field: Field, term: str, weight: float = 1.0, others: OtherChunks | None = None) -> Any:
        """Return the query for a term that scores by how rare the term is; None where no entry has the term.

        Tantivy multiplies a score by the rarity that the term would have if nothing was deleted and nothing was
        searched beside this index; the boost corrects that.
        """
        frequency = self.frequency(field, term)
        if not frequency:
            return None
        with_deleted = int(self._searcher.doc_freq(field, term)) if self._has_deleted else frequency
        assumed = rarity(with_deleted, self._all_entries)
        chunks = self.chunks()
        if others:
            frequency, chunks = frequency + others.frequency(field, term), chunks + others.chunks
        query = tantivy.Query.term_query(SCHEMA, field, term)
        return tantivy.Query.boost_query(query, weight * rarity(frequency, max(frequency, chunks)) / assumed)


MAX_TERMS = 64
"""Number of terms of a query that count; more are noise, and each costs a walk through its postings."""

_WHOLE_TITLE_SCORE = 1000.0
"""More than any sum of word scores."""


class LexicalSearch(ABC):
    """The queries of an open lexical index."""

    _terms: TermStatistics | None = None
    """The frequencies of terms since the index was last opened or reloaded."""

    @abstractmethod
    def _searching(self) -> AbstractContextManager[Any]:
        """Give a searcher to a block."""

    @contextlib.contextmanager
    def _counting(self) -> Iterator[TermStatistics]:
        with self._searching() as searcher:
            yield self._term_statistics(searcher)

    def _term_statistics(self, searcher: Any) -> TermStatistics:
        self._terms = self._terms or TermStatistics(searcher)
        return self._terms

    def chunk_ids(self) -> set[int]:
        with self._searching() as searcher:
            query = tantivy.Query.range_query(SCHEMA, "chunk", tantivy.FieldType.Unsigned, 0, None)
            hits = searcher.search(query, max(1, searcher.num_docs), count=False).hits
            return set(searcher.fast_field_values("chunk", [address for _, address in hits]))

    def find_chunks(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search chunks by words; best first."""
        return self._search(query, limit, "chunk")

    def find_documents(self, query: TextQuery, limit: int) -> list[Scored]:
        """Search documents by the words of their path; best first."""
        return self._search(query, limit, "document")

    def documents_with_word(self, word: str) -> frozenset[int]:
        """Return the documents that contain a word whole, or all its parts in one chunk."""
        with self._searching() as searcher:
            candidates = [self._require_all("words", whole_terms_of(word)), self._require_all("parts", terms_of(word))]
            query = _any_of([*candidates, *self._has_foreign("parts", word)])
            if query is None:
                return frozenset()
            # Scores are not needed here; without them it takes two thirds of the time.
            unscored = tantivy.Query.const_score_query(query, 1.0)
            hits = searcher.search(unscored, max(1, searcher.num_docs), count=False).hits
            return frozenset(searcher.fast_field_values("document", [address for _, address in hits]))

    def match_documents(self, match: DocumentMatch, limit: int) -> MatchedDocuments:
        """Select documents by words; return how many there are and the ids of the first, best title first."""
        with self._searching() as searcher:
            required = [self._document_has(word, match) for word in match.required]
            if not required:
                required = [_any_of([self._document_has(word, match) for word in split_unspaced(match.words)])]
            excluded = [self._document_has(word, match) for word in match.excluded]
            if any(condition is None for condition in required):
                return MatchedDocuments(0)
            conditions = [*required, term_query("entry", DOCUMENT_ENTRY)]
            if match.among is not None:
                conditions.append(self._among(match.among))
            terms, statistics = self._title_terms(match), self._term_statistics(searcher)
            found_in_titles = (_any_of(statistics.scored_term("title", one) for one in group) for group in terms)
            titles = [query for query in found_in_titles if query is not None]
            whole = tantivy.Query.boolean_query([(tantivy.Occur.Must, title) for title in titles])
            if len(titles) == len(terms) > 1:  # a title with all words comes before any other
                titles.append(tantivy.Query.const_score_query(whole, _WHOLE_TITLE_SCORE))
            query = tantivy.Query.boolean_query(
                [
                    *(
                        (tantivy.Occur.Must, tantivy.Query.const_score_query(condition, 0.0))
                        for condition in conditions
                    ),
                    *((tantivy.Occur.MustNot, condition) for condition in excluded if condition is not None),
                    *((tantivy.Occur.Should, title) for title in titles),
                ]
            )
            if titles:
                found, total = best_hits(searcher, query, max(1, limit), counts=True)
            else:  # the order is that of the places alone
                result = searcher.search(query, max(1, limit), order_by_field="place", order=tantivy.Order.Asc)
                found, total = [(0.0, address) for _, address in result.hits], result.count
            ids = searcher.fast_field_values("document", [address for _, address in found])
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
        filters = [term_query("entry", DOCUMENT_ENTRY)]
        if match.among is not None:
            filters.append(self._among(match.among))
        required = [(tantivy.Occur.Must, tantivy.Query.const_score_query(condition, 0.0)) for condition in filters]
        with self._searching() as searcher:
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, tantivy.Query.boolean_query(found)), *required])
            hits = best_hits(searcher, query, max(1, limit))[0] if found else []
            ids = searcher.fast_field_values("document", [address for _, address in hits])
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
        in_title = [self._require_all("title", terms), *self._has_foreign("title", word)] if match.in_titles else []
        if not match.in_texts or not terms:
            return _any_of(in_title)
        # All parts of a word have to be in one chunk, or the word whole. Parts are pairs of some characters.
        in_text = (
            [term_query("text", terms[0]), *self._has_foreign("text", word)]
            if len(terms) == 1 and (len(word) > 1 or word.isascii())
            else [self._among(self.documents_with_word(word))]
        )
        return _any_of([*in_title, *in_text])

    def _has_foreign(self, field: str, word: str) -> list[Any]:
        """Return queries for the entries of other languages that have a word, or a compound with it."""
        return [term_query(field, term) for term in self._foreign_matches(word)]

    def _foreign_matches(self, word: str) -> list[str]:
        with self._counting() as terms:
            return [
                term for found in terms.foreign_words.find([word]).values() for one in found for term in one.matches
            ]

    def _among(self, documents: Iterable[int]) -> Any:
        return tantivy.Query.term_set_query(SCHEMA, "document", list(documents))

    def chunk_count(self) -> int:
        with self._counting() as terms:
            return terms.chunks()

    def chunk_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return how many chunks contain each term, with identifiers split into parts."""
        with self._counting() as statistics:
            return {term: statistics.frequency("parts", term) for term in terms}

    def frequency(self, field: Field, term: str) -> int:
        """Return in how many entries a field has a term."""
        with self._counting() as terms:
            return terms.frequency(field, term)

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return whole words that begin with a prefix, each with the number of chunks that contain it."""
        with self._counting() as terms:
            return terms.terms_with_prefix("words", prefix, limit)

    def similar_words(self, word: str, max_typos: int) -> list[tuple[str, int]]:
        """Return other whole words within a number of typos, each with that number; fewest first, then most frequent."""
        with self._counting() as terms:
            found, counts = terms.vocabulary.similar_words(word, max_typos), terms.vocabulary.frequencies
            return sorted(found, key=lambda one: (one[1], -counts[one[0]], one[0]))

    def foreign_terms(self, words: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the stems that words stand for in the documents that are not in English, and their frequencies."""
        with self._counting() as terms:
            found = terms.foreign_words.find(words)
            return {word: {one.term: one.frequency for one in foreign} for word, foreign in found.items()}

    def _search(self, query: TextQuery, limit: int, id_field: str) -> list[Scored]:
        with self._searching() as searcher:
            tantivy_query = self._build_query(query, self._term_statistics(searcher))
            if tantivy_query is None or limit <= 0:
                return []
            hits, _ = best_hits(searcher, tantivy_query, limit)
            addresses = [address for _, address in hits]
            documents = searcher.fast_field_values("document", addresses)
            ids = searcher.fast_field_values(id_field, addresses) if id_field != "document" else documents
        return sorted(map(Scored, ids, documents, (score for score, _ in hits)), key=lambda hit: (-hit.score, hit.id))

    def _build_query(self, query: TextQuery, statistics: TermStatistics) -> Any:
        text = " ".join(query.words)
        terms = {
            "words": whole_terms_of(" ".join((text, *query.repeated))),
            "names": whole_terms_of(remove_separators(text)),
        }
        part_terms, foreign_terms = terms_of(text), statistics.foreign_words.find(query.words)
        foreign = [match for found in foreign_terms.values() for one in found for match in one.matches.items()]
        foreign += [(form, FORM_WEIGHT) for form in statistics.more_frequent_forms(part_terms[:MAX_TERMS])]
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
        filters = []
        if query.kind is not None:
            filters.append(term_query("kind", query.kind))
        if query.among is not None:
            filters.append(self._among(query.among))
        # A boost of 0 keeps a filter out of the score.
        required = [(tantivy.Occur.Must, tantivy.Query.boost_query(condition, 0.0)) for condition in filters]
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, tantivy.Query.boolean_query(term_queries)), *required])

    def _require_all(self, field: str, terms: list[str]) -> Any:
        required = [(tantivy.Occur.Must, term_query(field, term)) for term in terms[:MAX_TERMS]]
        return tantivy.Query.boolean_query(required) if required else None


def _any_of(queries: Iterable[Any]) -> Any:
    """Return the query for what one of the queries finds; None without queries."""
    some = [(tantivy.Occur.Should, query) for query in queries if query is not None]
    return tantivy.Query.boolean_query(some) if some else None
