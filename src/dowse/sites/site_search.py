"""Answers a query from a site's postings: candidates by their words, order by titles and nearness too."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from dowse.searching.query_terms import SearchQuery, parse, stop_words
from dowse.sites import site_constants as weights
from dowse.sites.proximity import Term, proximity_scores
from dowse.sites.site_postings import FIELDS, TITLE, Postings
from dowse.sites.site_tokens import SiteTokenizer
from dowse.sites.site_vocabulary import SiteVocabulary, WordMatches

Flags = NDArray[np.bool_]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SiteHit:
    """A page that was found."""

    page: int
    score: float


@dataclass(frozen=True, slots=True)
class SiteResults:
    """The best pages, how many match at all, and the words that were looked for."""

    hits: tuple[SiteHit, ...]
    total: int
    terms: tuple[Term, ...] = ()


class SiteSearcher:
    """All that is needed to search one site; made once, asked often, changed never."""

    def __init__(self, postings: Postings, tokenizer: SiteTokenizer) -> None:
        self.postings = postings
        self.vocabulary = SiteVocabulary(postings.words)
        self._tokenizer = tokenizer
        lengths = postings.lengths.reshape(-1, len(FIELDS)).astype(np.float64)
        means = np.maximum(lengths.mean(axis=0) if len(lengths) else np.ones(len(FIELDS)), 1.0)
        shares = np.array(weights.LENGTH_NORMALIZATION)
        self._softness = (weights.SATURATION * (1 - shares + shares * lengths / means)).astype(np.float32).ravel()

    def search(self, text: str, limit: int, allowed: Flags) -> SiteResults:
        """The best pages among those allowed."""
        query = parse(text)
        if not query.text:
            every = np.flatnonzero(allowed)
            return SiteResults(tuple(SiteHit(int(page), 0.0) for page in every[:limit]), len(every))
        words = _limit_words(self._words_of(" ".join((*query.terms, *query.must, *query.phrases))))
        terms = self._terms(words)
        if not terms:
            return SiteResults((), 0)
        scores = self._scores(terms)
        admitted = allowed & self._admitted(query)
        scores[~admitted] = 0
        titled = {page: likeness for page, likeness in self._similar_titles(words).items() if admitted[page]}
        total = int(np.count_nonzero(scores)) + sum(1 for page in titled if not scores[page])
        best = _top_pages(scores, max(weights.MAX_CANDIDATES, limit)).tolist()
        best += titled.keys() - set(best)
        order = [word for word in words if word not in stop_words()] or words
        near = proximity_scores(self.postings, best, terms, order)
        hits = [
            SiteHit(
                page, _relevance(float(scores[page]), max(titled.get(page, 0.0), self._likeness(page, terms)), near[at])
            )
            for at, page in enumerate(best)
        ]
        hits.sort(key=lambda hit: (-hit.score, hit.page))
        return SiteResults(tuple(hits[:limit]), total, tuple(terms))

    # What is asked for

    def _words_of(self, text: str) -> list[str]:
        """A text's words as the vocabulary has them."""
        encoded = text.encode("utf-8", "replace")
        _, starts, ends = self._tokenizer.words(encoded)
        return [
            word
            for start, end in zip(starts, ends, strict=True)
            for word in self.vocabulary.parts(encoded[start:end].lower())
        ]

    def _terms(self, words: list[str]) -> list[Term]:
        """What each distinct word may mean; a word that is nowhere is left out unless all are."""
        terms = []
        unknown = 0
        for word in dict.fromkeys(words):
            is_known = bool(self.vocabulary.exact(word))
            unknown += not is_known
            meant = self.vocabulary.meant(word, forgives=unknown <= weights.MAX_CORRECTED_WORDS)
            self._add_joined(meant, word, words)
            terms.append(Term(word, meant, self._worth(word, meant)))
        return terms if any(term.meant for term in terms) else []

    def _add_joined(self, meant: WordMatches, word: str, words: list[str]) -> None:
        """Two words that are one on the site, and one word that is two there."""
        for first, second in pairwise(words):
            if word in (first, second):
                for number in self.vocabulary.exact(first + second):
                    meant[number] = max(weights.SPLIT_WORD_WEIGHT, meant.get(number, 0.0))
        if not self.vocabulary.exact(word):
            for half in self.vocabulary.halves(word) or ():
                for number in self.vocabulary.exact(half):
                    meant[number] = max(weights.SPLIT_WORD_WEIGHT / 2, meant.get(number, 0.0))

    def _worth(self, word: str, meant: WordMatches) -> float:
        """How much a word tells: the fewer pages have it, the more."""
        sure = [number for number, weight in meant.items() if weight >= weights.ONE_TYPO_WEIGHT]
        pages = int(np.count_nonzero(self._pages_with(sure)))
        rarity = math.log(1 + (self.postings.pages - pages + 0.5) / (pages + 0.5))
        return rarity * (weights.STOP_WORD_FACTOR if word in stop_words() else 1.0)

    def _pages_with(self, numbers: Sequence[int]) -> Flags:
        has = np.zeros(self.postings.pages, np.bool_)
        for number in numbers:
            has[self.postings.of(number)[0] // len(FIELDS)] = True
        return has

    def _admitted(self, query: SearchQuery) -> Flags:
        """The pages that have all that they must have, and nothing that they must not."""
        admitted = np.ones(self.postings.pages, np.bool_)
        for text in (*query.must, *query.phrases):
            admitted &= self._having(text)
        for text in (*query.must_not, *query.not_phrases):
            admitted &= ~self._having(text)
        if not (query.terms or query.must or query.phrases):
            admitted[:] = False
        return admitted

    def _having(self, text: str) -> Flags:
        """The pages with a word, or with several that follow each other in one field."""
        units = self._units_of(text)
        if not units:
            return np.ones(self.postings.pages, np.bool_)
        if len(units) == 1:
            return self._pages_with(units[0])
        words, firsts = self.postings.texts.words, self.postings.texts.firsts
        starts = np.ones(max(0, len(words) - len(units) + 1), np.bool_)
        for distance, numbers in enumerate(units):
            is_meant = np.zeros(len(self.postings.words), np.bool_)
            is_meant[numbers] = True
            starts &= is_meant[words[distance : distance + len(starts)]]
        places = np.flatnonzero(starts)
        fields = np.searchsorted(firsts, places, "right") - 1
        is_within = places + len(units) <= firsts[fields + 1]
        has = np.zeros(self.postings.pages, np.bool_)
        has[fields[is_within] // len(FIELDS)] = True
        return has

    def _units_of(self, text: str) -> list[list[int]]:
        """For each word as it stands in a text the words of the site that have all its parts."""
        encoded = text.encode("utf-8", "replace")
        _, starts, ends = self._tokenizer.words(encoded)
        units = []
        for start, end in zip(starts, ends, strict=True):
            having = [set(self.vocabulary.exact(part)) for part in self.vocabulary.parts(encoded[start:end].lower())]
            if having:
                units.append(sorted(set.intersection(*having)))
        return units

    # What answers it

    def _scores(self, terms: list[Term]) -> Scores:
        """For every page what its fields give, by their weights, times how much of the query it has."""
        pages = self.postings.pages
        fields, covered = np.zeros(pages * len(FIELDS), np.float32), np.zeros(pages, np.float32)
        is_told = np.zeros(pages, np.bool_)
        telling = {term.word for term in terms if term.meant} - stop_words() or {term.word for term in terms}
        for term in terms:
            counts, best = np.zeros(pages * len(FIELDS), np.float32), np.zeros(pages, np.float32)
            for number, weight in sorted(term.meant.items(), key=lambda pair: pair[1]):
                places, how_often = self.postings.of(number)
                counts[places] += np.float32(weight) * how_often
                best[places // len(FIELDS)] = weight  # the surest comes last
            met = np.flatnonzero(counts)
            often = counts[met]
            fields[met] += term.worth * np.minimum(often / (often + self._softness[met]), best[met // len(FIELDS)])
            covered += np.float32(term.worth) * best
            if term.word in telling:
                is_told |= best > 0
        worth = sum(term.worth for term in terms) or 1.0
        share = (covered / worth).astype(np.float64)
        by_field = fields.reshape(-1, len(FIELDS)).astype(np.float64)
        result: Scores = by_field @ np.array(weights.FIELD_WEIGHTS) / worth * share ** (weights.COVERAGE_EXPONENT - 1)
        result[~is_told] = 0  # where there are others, words that say nothing find nothing
        return result

    def _similar_titles(self, words: list[str]) -> dict[int, float]:
        """Pages whose title is written almost as the query is; finds slips that make another word, or of short ones."""
        text = " ".join(words)
        if len(text) > weights.MAX_TITLE_CHARACTERS:
            return {}
        found = process.extract(
            text, self._titles, scorer=OSA.normalized_similarity, score_cutoff=weights.MIN_TITLE_SIMILARITY,
            limit=weights.MAX_CANDIDATES,
        )  # fmt: skip
        return {page: float(likeness) for _, likeness, page in found}

    @cached_property
    def _titles(self) -> list[str]:
        texts, spelled = self.postings.texts, dict[int, str]()
        titles = []
        for page in range(self.postings.pages):
            numbers = texts.numbers(page, TITLE).tolist()
            for number in numbers:
                if number not in spelled:
                    spelled[number] = " ".join(self.vocabulary.parts(self.postings.words[number]))
            titles.append(" ".join(map(spelled.__getitem__, numbers)))
        return titles

    def _likeness(self, page: int, terms: list[Term]) -> float:
        """How much of the query is in the title, and of the title in the query; 1 when they are the same words."""
        numbers = self.postings.texts.numbers(page, TITLE).tolist()
        if not numbers:
            return 0.0
        worths = {number: self._rarity[number] for number in numbers}
        met, asked, titled = 0.0, 0.0, sum(worths.values())
        for term in terms:
            asked += term.worth
            best = max((term.meant.get(number, 0.0) for number in numbers), default=0.0)
            met += best * term.worth
        met_title = sum(
            worth * max((term.meant.get(number, 0.0) for term in terms), default=0.0)
            for number, worth in worths.items()
        )
        return float(min(1.0, (met + met_title) / ((asked + titled) or 1.0)))

    @cached_property
    def _rarity(self) -> Scores:
        """For each word how much it tells, the common ones little."""
        fields = np.maximum(np.diff(self.postings.starts), 1)
        rarity: Scores = np.log(1 + self.postings.pages / fields)
        for word in stop_words():
            rarity[self.vocabulary.exact(word)] *= weights.STOP_WORD_FACTOR
        return rarity


def _limit_words(words: list[str]) -> list[str]:
    """The words of a query that count: a page that somebody pastes has its subject in its beginning."""
    counting = set(list(dict.fromkeys(words))[: weights.MAX_TERMS])
    return [word for word in words[: 4 * weights.MAX_TERMS] if word in counting]


def _relevance(score: float, likeness: float, near: float) -> float:
    """How well a page answers, from 0 to 1: three reasons, of which any may be enough."""
    title = weights.TITLE_WEIGHT * likeness**weights.TITLE_EXPONENT
    return float(1 - (1 - min(score, 1.0)) * (1 - title) * (1 - weights.PROXIMITY_WEIGHT * near))


def _top_pages(scores: Scores, count: int) -> NDArray[np.int64]:
    """The places of the highest scores above 0, best first; equal ones in their order."""
    if count < len(scores):
        least = np.partition(scores, -count)[-count]
        some = np.flatnonzero(scores >= max(least, np.nextafter(0, 1)))
    else:
        some = np.flatnonzero(scores)
    order: NDArray[np.int64] = some[np.argsort(-scores[some], kind="stable")][:count]
    return order
