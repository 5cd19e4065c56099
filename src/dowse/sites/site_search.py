"""Search in a site: words choose the candidates; words, titles and proximity rank them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from dowse.searching.query_terms import SearchQuery, stop_words
from dowse.sites import site_constants as weights
from dowse.sites.proximity import Term, proximity_scores
from dowse.sites.site_postings import FIELDS, TITLE, Postings
from dowse.sites.site_tokens import SiteTokenizer
from dowse.sites.site_vocabulary import SiteVocabulary, WordMatches

Flags = NDArray[np.bool_]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SiteHit:
    """A page that matches, and its score."""

    page: int
    score: float


@dataclass(frozen=True, slots=True)
class SiteResults:
    """The best pages, the number of all matching pages, and the terms of the query."""

    hits: tuple[SiteHit, ...]
    total: int
    terms: tuple[Term, ...] = ()


class SiteSearcher:
    """Searches one site; immutable."""

    def __init__(self, postings: Postings, tokenizer: SiteTokenizer) -> None:
        self.postings = postings
        self.vocabulary = SiteVocabulary(postings.words)
        self._tokenizer = tokenizer
        lengths = postings.lengths.reshape(-1, len(FIELDS)).astype(np.float64)
        means = np.maximum(lengths.mean(axis=0) if len(lengths) else np.ones(len(FIELDS)), 1.0)
        shares = np.array(weights.LENGTH_NORMALIZATION)
        self._saturation = (weights.SATURATION * (1 - shares + shares * lengths / means)).astype(np.float32).ravel()

    def search(self, query: SearchQuery, limit: int, allowed: Flags) -> SiteResults:
        """Return the best pages among those allowed."""
        if not query.text:
            every = np.flatnonzero(allowed)
            return SiteResults(tuple(SiteHit(int(page), 0.0) for page in every[:limit]), len(every))
        words = _limit_words(self._split_words(" ".join((*query.terms, *query.must, *query.phrases))))
        terms = self._expand(words)
        if not terms:
            return SiteResults((), 0)
        scores = self._scores(terms)
        matching = allowed & self._matching_operators(query)
        scores[~matching] = 0
        similar_titles = {
            page: similarity for page, similarity in self._similar_titles(words).items() if matching[page]
        }
        total = int(np.count_nonzero(scores)) + sum(1 for page in similar_titles if not scores[page])
        best = _top_pages(scores, max(weights.MAX_CANDIDATES, limit)).tolist()
        best += similar_titles.keys() - set(best)
        order = [word for word in words if word not in stop_words()] or words
        proximity = proximity_scores(self.postings, best, terms, order)
        titles = [max(similar_titles.get(page, 0.0), self._title_overlap(page, terms)) for page in best]
        hits = [
            SiteHit(page, _relevance(float(scores[page]), title, near))
            for page, title, near in zip(best, titles, proximity, strict=True)
        ]
        hits.sort(key=lambda hit: (-hit.score, hit.page))
        return SiteResults(tuple(hits[:limit]), total, tuple(terms))

    # Query

    def _split_words(self, text: str) -> list[str]:
        """Return the words of a text in the form of the vocabulary."""
        encoded = text.encode("utf-8", "replace")
        _, starts, ends = self._tokenizer.tokenize(encoded)
        return [
            word
            for start, end in zip(starts, ends, strict=True)
            for word in self.vocabulary.fold(encoded[start:end].lower())
        ]

    def _expand(self, words: list[str]) -> list[Term]:
        """Return a term for each distinct word; no terms if no word of the site matches any of them."""
        terms = []
        unknown = 0
        for word in dict.fromkeys(words):
            is_known = bool(self.vocabulary.exact(word))
            unknown += not is_known
            matches = self.vocabulary.match(word, corrects_typos=unknown <= weights.MAX_CORRECTED_WORDS)
            self._add_compounds(matches, word, words)
            terms.append(Term(word, matches, self._importance(word, matches)))
        return terms if any(term.matches for term in terms) else []

    def _add_compounds(self, matches: WordMatches, word: str, words: list[str]) -> None:
        """Add words that the site writes as one where the query writes two, and the reverse."""
        for first, second in pairwise(words):
            if word in (first, second):
                for word_id in self.vocabulary.exact(first + second):
                    matches[word_id] = max(weights.SPLIT_WORD_WEIGHT, matches.get(word_id, 0.0))
        if not self.vocabulary.exact(word):
            for half in self.vocabulary.split_compound(word) or ():
                for word_id in self.vocabulary.exact(half):
                    matches[word_id] = max(weights.SPLIT_WORD_WEIGHT / 2, matches.get(word_id, 0.0))

    def _importance(self, word: str, matches: WordMatches) -> float:
        """Return the importance of a word: the fewer pages have it, the higher."""
        close = [word_id for word_id, weight in matches.items() if weight >= weights.ONE_TYPO_WEIGHT]
        pages = int(np.count_nonzero(self._pages_with(close)))
        rarity = math.log(1 + (self.postings.pages - pages + 0.5) / (pages + 0.5))
        return rarity * (weights.STOP_WORD_FACTOR if word in stop_words() else 1.0)

    def _pages_with(self, word_ids: Sequence[int]) -> Flags:
        has = np.zeros(self.postings.pages, np.bool_)
        for word_id in word_ids:
            has[self.postings.fields_with(word_id)[0] // len(FIELDS)] = True
        return has

    def _matching_operators(self, query: SearchQuery) -> Flags:
        """Return the pages that have every required word and phrase and no excluded one."""
        matching = np.ones(self.postings.pages, np.bool_)
        for text in (*query.must, *query.phrases):
            matching &= self._pages_having(text)
        for text in (*query.must_not, *query.not_phrases):
            matching &= ~self._pages_having(text)
        if not (query.terms or query.must or query.phrases):
            matching[:] = False
        return matching

    def _pages_having(self, text: str) -> Flags:
        """Return the pages that have a word, or several words in a row in one field."""
        phrase = self._equal_words(text)
        if not phrase:
            return np.ones(self.postings.pages, np.bool_)
        if len(phrase) == 1:
            return self._pages_with(phrase[0])
        words, firsts = self.postings.texts.words, self.postings.texts.firsts
        starts = np.ones(max(0, len(words) - len(phrase) + 1), np.bool_)
        for distance, word_ids in enumerate(phrase):
            is_equal = np.zeros(len(self.postings.words), np.bool_)
            is_equal[word_ids] = True
            starts &= is_equal[words[distance : distance + len(starts)]]
        positions = np.flatnonzero(starts)
        fields = np.searchsorted(firsts, positions, "right") - 1
        is_within = positions + len(phrase) <= firsts[fields + 1]
        has = np.zeros(self.postings.pages, np.bool_)
        has[fields[is_within] // len(FIELDS)] = True
        return has

    def _equal_words(self, text: str) -> list[list[int]]:
        """Return, for each word of a text, the ids of the words of the site that equal it."""
        encoded = text.encode("utf-8", "replace")
        _, starts, ends = self._tokenizer.tokenize(encoded)
        phrase = []
        for start, end in zip(starts, ends, strict=True):
            having = [set(self.vocabulary.exact(part)) for part in self.vocabulary.fold(encoded[start:end].lower())]
            if having:
                phrase.append(sorted(set.intersection(*having)))
        return phrase

    # Ranking

    def _scores(self, terms: list[Term]) -> Scores:
        """Return the score of every page: the weighted scores of its fields, times the share of the query that it has."""
        pages = self.postings.pages
        fields, covered = np.zeros(pages * len(FIELDS), np.float32), np.zeros(pages, np.float32)
        has_content_word = np.zeros(pages, np.bool_)
        content_words = {term.word for term in terms if term.matches} - stop_words() or {term.word for term in terms}
        for term in terms:
            counts, best = np.zeros(pages * len(FIELDS), np.float32), np.zeros(pages, np.float32)
            for word_id, weight in sorted(term.matches.items(), key=lambda pair: pair[1]):
                having, times = self.postings.fields_with(word_id)
                counts[having] += np.float32(weight) * times
                best[having // len(FIELDS)] = weight  # in ascending order, so the best match stays
            found = np.flatnonzero(counts)
            frequency = counts[found]
            saturated = frequency / (frequency + self._saturation[found])
            fields[found] += term.importance * np.minimum(saturated, best[found // len(FIELDS)])
            covered += np.float32(term.importance) * best
            if term.word in content_words:
                has_content_word |= best > 0
        total = sum(term.importance for term in terms) or 1.0
        share = (covered / total).astype(np.float64)
        by_field = fields.reshape(-1, len(FIELDS)).astype(np.float64)
        result: Scores = by_field @ np.array(weights.FIELD_WEIGHTS) / total * share ** (weights.COVERAGE_EXPONENT - 1)
        result[~has_content_word] = 0  # stop words alone find nothing, unless the query has no other words
        return result

    def _similar_titles(self, words: list[str]) -> dict[int, float]:
        """Return pages whose title is spelled like the query.

        This finds typos that make another word, and typos in short words.
        """
        text = " ".join(words)
        if len(text) > weights.MAX_TITLE_CHARACTERS:
            return {}
        found = process.extract(
            text, self._titles, scorer=OSA.normalized_similarity, score_cutoff=weights.MIN_TITLE_SIMILARITY,
            limit=weights.MAX_CANDIDATES,
        )  # fmt: skip
        return {page: float(similarity) for _, similarity, page in found}

    @cached_property
    def _titles(self) -> list[str]:
        texts, spelled = self.postings.texts, dict[int, str]()
        titles = []
        for page in range(self.postings.pages):
            word_ids = texts.word_ids(page, TITLE).tolist()
            for word_id in word_ids:
                if word_id not in spelled:
                    spelled[word_id] = " ".join(self.vocabulary.fold(self.postings.words[word_id]))
            titles.append(" ".join(map(spelled.__getitem__, word_ids)))
        return titles

    def _title_overlap(self, page: int, terms: list[Term]) -> float:
        """Return the overlap of query and title, from 0 to 1; 1 if they have the same words."""
        word_ids = self.postings.texts.word_ids(page, TITLE).tolist()
        if not word_ids:
            return 0.0
        title_words = {word_id: self._rarity[word_id] for word_id in word_ids}
        matched_query, query_total, title_total = 0.0, 0.0, sum(title_words.values())
        for term in terms:
            query_total += term.importance
            best = max((term.matches.get(word_id, 0.0) for word_id in word_ids), default=0.0)
            matched_query += best * term.importance
        matched_title = sum(
            importance * max((term.matches.get(word_id, 0.0) for term in terms), default=0.0)
            for word_id, importance in title_words.items()
        )
        return float(min(1.0, (matched_query + matched_title) / ((query_total + title_total) or 1.0)))

    @cached_property
    def _rarity(self) -> Scores:
        """The importance of each word of the site; low for common words."""
        fields = np.maximum(np.diff(self.postings.starts), 1)
        rarity: Scores = np.log(1 + self.postings.pages / fields)
        for word in stop_words():
            rarity[self.vocabulary.exact(word)] *= weights.STOP_WORD_FACTOR
        return rarity


def _limit_words(words: list[str]) -> list[str]:
    """Return the first words of a query, up to the maximum: pasted text has its subject at the beginning."""
    kept = set(list(dict.fromkeys(words))[: weights.MAX_TERMS])
    return [word for word in words[: 4 * weights.MAX_TERMS] if word in kept]


def _relevance(words: float, title: float, proximity: float) -> float:
    """Combine the scores of words, title and proximity, from 0 to 1; a high one of them is enough."""
    title = weights.TITLE_WEIGHT * title**weights.TITLE_EXPONENT
    return float(1 - (1 - min(words, 1.0)) * (1 - title) * (1 - weights.PROXIMITY_WEIGHT * proximity))


def _top_pages(scores: Scores, count: int) -> NDArray[np.int64]:
    """Return the pages with the highest scores above 0, best first; equal scores in page order."""
    if count < len(scores):
        lowest = np.partition(scores, -count)[-count]
        pages = np.flatnonzero(scores >= max(lowest, np.nextafter(0, 1)))
    else:
        pages = np.flatnonzero(scores)
    order: NDArray[np.int64] = pages[np.argsort(-scores[pages], kind="stable")][:count]
    return order
