"""Search in a site: Tantivy finds the candidates; their words, titles and word distances rank them."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from rapidfuzz import process
from rapidfuzz.distance import OSA
from tantivy import Query

from dowse.searching.query_terms import SearchQuery, stop_words
from dowse.sites import page_index
from dowse.sites import site_constants as weights
from dowse.sites.page_index import BODY, TITLE, PageIndex, Places
from dowse.text.analysis import folded_words, rarity
from dowse.text.vocabulary import Vocabulary

WordMatches = dict[str, float]
"""Words of the site, each with the weight of the match, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the query, the words of the site that match it, and its importance."""

    word: str
    matches: WordMatches
    importance: float


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
    words: Mapping[str, int] = field(default_factory=dict)
    """The words that a passage is made for, each with the number of the term it matches best."""
    total_without_filters: int = 0
    """The number of all matching pages without `+`, `-` and phrases, where these left nothing."""


def search_pages(index: PageIndex, query: SearchQuery, limit: int, filters: list[Any]) -> SiteResults:
    """Return the best pages among those that match the filters."""
    if not query.text:
        pages, total = index.pages(page_index.combine(filters), len(index))
        return SiteResults(tuple(SiteHit(page, 0.0) for page in sorted(pages)[:limit]), total)
    words = _limit_words(folded_words(" ".join((*query.terms, *query.must, *query.phrases))), index.vocabulary)
    terms = _expand(index, words, max_corrected=0 if query.is_pasted else weights.MAX_CORRECTED_WORDS)
    if not terms:
        return SiteResults((), 0)
    titles = _similar_titles(index, words)
    content = {term.word for term in terms if term.matches} - stop_words() or {term.word for term in terms}
    by_term = {term.word: _find_term(term) for term in terms if term.matches}
    # Stop words alone find nothing, unless the query has no other words.
    found = [by_term[word] for word in by_term if word in content]
    if titles:
        found.append(Query.const_score_query(page_index.match_pages(titles), weights.TITLE_CANDIDATE_SCORE))
    required, excluded = (
        [condition for text in texts if (condition := page_index.match_text(text)) is not None]
        for texts in ((*query.must, *query.phrases), (*query.must_not, *query.not_phrases))
    )
    conditions = [Query.const_score_query(condition, 0.0) for condition in (*filters, *required)]
    optional = (by_term[word] for word in by_term if word not in content)
    pages, total = index.pages(
        page_index.combine([page_index.any_of(found), *conditions], excluded, optional),
        max(weights.MAX_CANDIDATES, limit),
    )
    if not total and query.has_filters:
        return SiteResults((), 0, total_without_filters=search_pages(index, query.without_filters(), 1, filters).total)
    ranking = _Ranking(index, terms, [word for word in words if word not in stop_words()] or words, titles)
    hits = sorted((SiteHit(page, ranking.score(page)) for page in pages), key=lambda hit: (-hit.score, hit.page))
    return SiteResults(tuple(hits[:limit]), total, tuple(terms), _match_best(terms, weights.INFIX_WEIGHT / 2))


def _match_best(terms: Iterable[Term], min_weight: float) -> dict[str, int]:
    """Return, for each word that matches a term well enough, the number of the term it matches best."""
    matches = [
        (weight, word, number)
        for number, term in enumerate(terms)
        for word, weight in term.matches.items()
        if weight >= min_weight
    ]
    return {word: number for _, word, number in sorted(matches)}


def _limit_words(words: list[str], vocabulary: Vocabulary) -> list[str]:
    """Return the words of a query; of pasted text with more than the maximum, the rarest ones that occur."""
    distinct = list(dict.fromkeys(words))
    if len(distinct) > weights.MAX_TERMS:
        known = sorted(filter(vocabulary.__contains__, distinct), key=vocabulary.frequencies.__getitem__)
        distinct = (known or distinct)[: weights.MAX_TERMS]
    kept = set(distinct)
    return [word for word in words if word in kept][: 4 * weights.MAX_TERMS]


def _expand(index: PageIndex, words: list[str], max_corrected: int) -> list[Term]:
    """Return a term for each distinct word; no terms if no word of the site matches any of them."""
    terms, unknown, vocabulary = [], 0, index.vocabulary
    for word in dict.fromkeys(words):
        unknown += word not in vocabulary
        matches = _match_word(vocabulary, word, corrects_typos=unknown <= max_corrected)
        _add_compounds(vocabulary, matches, word, words)
        terms.append(Term(word, matches, _importance(index, word, matches)))
    return terms if any(term.matches for term in terms) else []


def _match_word(vocabulary: Vocabulary, word: str, *, corrects_typos: bool) -> WordMatches:
    """Return the words that match a typed word: the word itself, its inflections and longer words that contain it.

    If there is neither the word nor an inflection, include words that differ by a typo or two.
    """
    matches = dict.fromkeys(vocabulary.forms(word), weights.FORM_WEIGHT)
    if word in vocabulary:
        matches[word] = 1.0
    max_typos = 0 if len(word) < 3 else 1 if len(word) < weights.MIN_TWO_TYPOS_CHARACTERS else 2
    if corrects_typos and not matches:
        for similar, typos in vocabulary.similar_words(word, max_typos)[: weights.MAX_SIMILAR_WORDS]:
            weight = weights.ONE_TYPO_WEIGHT if typos <= 1 else weights.TWO_TYPOS_WEIGHT
            matches[similar] = weight * (1.0 if similar[0] == word[0] else weights.OTHER_FIRST_LETTER_FACTOR)
    if len(word) >= weights.MIN_PREFIX_CHARACTERS:
        for longer, is_prefix in vocabulary.longer_words(word):
            if is_prefix or len(word) >= weights.MIN_INFIX_CHARACTERS:
                weight = weights.PREFIX_WEIGHT if is_prefix else weights.INFIX_WEIGHT
                _add(matches, longer, weight * (0.5 + len(word) / len(longer) / 2))
    return matches


def _add(matches: WordMatches, word: str, weight: float) -> None:
    matches[word] = max(weight, matches.get(word, 0.0))


def _add_compounds(vocabulary: Vocabulary, matches: WordMatches, word: str, words: list[str]) -> None:
    """Add words that the site writes as one where the query writes two, and the reverse."""
    for first, second in pairwise(words):
        if word in (first, second) and first + second in vocabulary:
            _add(matches, first + second, weights.SPLIT_WORD_WEIGHT)
    if word not in vocabulary and len(word) >= weights.MIN_COMPOUND_CHARACTERS:
        for half in vocabulary.split_compound(word, weights.MIN_HALF_CHARACTERS):
            _add(matches, half, weights.SPLIT_WORD_WEIGHT / 2)


def _importance(index: PageIndex, word: str, matches: WordMatches) -> float:
    """Return the importance of a word: the fewer pages have it, the higher."""
    close = [match for match, weight in matches.items() if weight >= weights.ONE_TYPO_WEIGHT]
    pages = index.pages(Query.const_score_query(page_index.match_words(close), 1.0), 1)[1] if close else 0
    return rarity(pages, len(index)) * (weights.STOP_WORD_FACTOR if word in stop_words() else 1.0)


def _find_term(term: Term) -> Any:
    """Return a query for the pages that have a term: first whether they do, then how often they have a close match."""
    close = {word: weight for word, weight in term.matches.items() if weight >= weights.CLOSE}
    distant = term.matches.keys() - close.keys()
    found = [
        Query.const_score_query(page_index.match_words(words), share * term.importance)
        for words, share in ((close, weights.CLOSE_SCORE), (distant, weights.DISTANT_SCORE))
        if words
    ]
    ranked = [page_index.match_ranked(word, weight) for word, weight in close.items()]
    return page_index.any_of(
        [Query.disjunction_max_query(found), *([Query.disjunction_max_query(ranked)] if close else ())]
    )


def _similar_titles(index: PageIndex, words: list[str]) -> dict[int, float]:
    """Return pages whose title is spelled like the query.

    This finds typos that make another word, and typos in short words.
    """
    text = " ".join(words)
    if len(text) > weights.MAX_TITLE_CHARACTERS:
        return {}
    found = process.extract(
        text, index.titles, scorer=OSA.normalized_similarity, score_cutoff=weights.MIN_TITLE_SIMILARITY,
        limit=weights.MAX_CANDIDATES,
    )  # fmt: skip
    return {page: float(similarity) for _, similarity, page in found}


class _Ranking:
    """Scores pages for one query."""

    def __init__(self, index: PageIndex, terms: list[Term], order: list[str], titles: dict[int, float]) -> None:
        self._index, self._terms, self._titles = index, terms, titles
        numbers = {term.word: number for number, term in enumerate(terms)}
        self._pairs = [(numbers[first], numbers[second]) for first, second in pairwise(order)]
        self._importances = [term.importance for term in terms]
        self._total = sum(self._importances) or 1.0
        self._best_terms = _match_best(terms, weights.TWO_TYPOS_WEIGHT)
        self._matches: dict[str, list[tuple[int, float]]] = {}
        for number, term in enumerate(terms):
            for word, weight in term.matches.items():
                self._matches.setdefault(word, []).append((number, weight))

    def score(self, page: int) -> float:
        """Return the score of a page from 0 to 1: a high score of words, title or proximity is enough."""
        places = self._index.places(page) or [
            page_index.find_places(self._read(text)) for text in self._index.texts(page)
        ]
        found = [{word: words[word] for word in words.keys() & self._matches.keys()} for words in places]
        title = max(self._titles.get(page, 0.0), self._title_overlap(places[TITLE]))
        words = min(self._word_score(page, found), 1.0)
        distant = 1 - weights.PROXIMITY_WEIGHT * self._proximity(found[BODY])
        return float(1 - (1 - words) * (1 - weights.TITLE_WEIGHT * title**weights.TITLE_EXPONENT) * distant)

    def _read(self, data: bytes) -> str:
        """Return the text of a field, or the parts of a long one that are compared with the query."""
        beginning, around = weights.MAX_RANKED_BYTES, weights.RANKED_CONTEXT_BYTES
        if len(data) <= beginning:
            return data.decode()
        small = data.lower()  # of bytes, this takes a twentieth of the time
        places = sorted(at for word in self._best_terms if (at := small.find(word.encode(), beginning)) >= 0)
        parts = [small[:beginning], *(small[max(beginning, at - around) : at + around] for at in places)]
        return b"\n".join(parts).decode("utf-8", "ignore")

    def _word_score(self, page: int, found: list[Places]) -> float:
        """Return the weighted scores of the fields, times the share of the query that the page has."""
        counts = [dict[int, float]() for _ in found]
        best = [0.0] * len(self._terms)
        for words, count in zip(found, counts, strict=True):
            for word, places in words.items():
                for number, weight in self._matches[word]:
                    count[number] = count.get(number, 0.0) + len(places) * weight
                    best[number] = max(best[number], weight)
        score = 0.0
        for at, text in enumerate(self._index.texts(page)):
            share = weights.LENGTH_NORMALIZATION[at]
            saturation = weights.SATURATION * (1 - share + share * len(text) / self._index.mean_bytes[at])
            for number, frequency in counts[at].items():
                saturated = min(frequency / (frequency + saturation), best[number])
                score += weights.FIELD_WEIGHTS[at] * self._importances[number] * saturated
        covered = sum(one * weight for one, weight in zip(self._importances, best, strict=True)) / self._total
        return float(score / self._total * covered ** (weights.COVERAGE_EXPONENT - 1))

    def _proximity(self, found: Places) -> float:
        best = self._best_terms
        places = sorted((at, best[word]) for word in found.keys() & best.keys() for at in found[word])
        return proximity(places, self._pairs, self._importances) if self._pairs else 0.0

    def _title_overlap(self, title: Collection[str]) -> float:
        """Return the overlap of query and title, from 0 to 1; 1 if they have the same words."""
        best, matched, whole = dict[int, float](), 0.0, sum(self._importances)
        for word in sorted(title):
            rarity, matches = self._rarity(word), self._matches.get(word, ())
            whole += rarity
            matched += rarity * max((weight for _, weight in matches), default=0.0)
            for number, weight in matches:
                best[number] = max(weight, best.get(number, 0.0))
        matched += sum(self._importances[number] * weight for number, weight in best.items())
        return min(1.0, matched / whole) if title and whole else 0.0

    def _rarity(self, word: str) -> float:
        """Return the importance of a word of a title; low for common words."""
        rarity = math.log(1 + len(self._index) / max(1, self._index.vocabulary.frequencies.get(word, 0)))
        return rarity * (weights.STOP_WORD_FACTOR if word in stop_words() else 1.0)


_NOT_SEEN = 1 << 40


def proximity(
    places: Sequence[tuple[int, int]], pairs: Sequence[tuple[int, int]], importances: Sequence[float]
) -> float:
    """Return from 0 to 1 how close together a text has the adjacent terms of a query.

    `places` are the position and the term of each word that matches, `pairs` the terms that follow each other in the
    query.
    """
    after: list[list[int]] = [[] for _ in importances]
    before: list[list[int]] = [[] for _ in importances]
    for number, (first, second) in enumerate(pairs):
        after[second].append(number)
        before[first].append(number)
    last = [-_NOT_SEEN] * len(importances)
    ahead, behind = [_NOT_SEEN] * len(pairs), [_NOT_SEEN] * len(pairs)
    for position, term in places:
        for number in after[term]:
            ahead[number] = min(ahead[number], position - last[pairs[number][0]])
        for number in before[term]:
            behind[number] = min(behind[number], position - last[pairs[number][1]])
        last[term] = position
    close = total = 0.0
    for (first, second), distance, reverse_distance in zip(pairs, ahead, behind, strict=True):
        importance = importances[first] + importances[second]
        total += importance
        close += importance * max(_closeness(distance), weights.REVERSED_ORDER_FACTOR * _closeness(reverse_distance))
    return close / (total or 1.0)


def _closeness(distance: int) -> float:
    """Return 1 if a word follows directly, less if it is apart."""
    return weights.PROXIMITY_HALF_WORDS / (weights.PROXIMITY_HALF_WORDS + distance - 1)
