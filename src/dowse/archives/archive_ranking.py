"""Ranking of archived documents as wholes: title before question before content, by the words that a document has.

The words of a query may be far apart in a document: five random words of a PEP find it among 736 with nDCG@10 0.71, and
with 0.63 if passages are ranked first.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from dowse.protocols import Searchable
from dowse.searching.passages import holds_phrase
from dowse.searching.query_terms import stop_words, term_frequencies
from dowse.searching.ranking_constants import DOCS_CHUNK_WEIGHTS
from dowse.searching.term_positions import terms_among
from dowse.text.analysis import is_unspaced, restore_underscores, split_unspaced, whole_terms_of
from dowse.types import DocumentMatch, StoredDocument, TextQuery

MAX_QUERY_WORDS = 32
"""Further words of a query are ignored."""
STOP_WORD_WEIGHT = 0.1
"""Factor for the weight of a stop word in a title."""
PART_QUALITY = 0.5
"""Match quality of a part of a compound that no document has."""
MIN_PREFIX_QUALITY, MAX_PREFIX_QUALITY = 0.5, 0.9
"""Match quality of a longer word that begins with the query word, by how much of it the query word is."""
TYPO_POWER = 3
"""Power to which the share of correct letters is raised for the match quality of a typo: one wrong letter of four
gives 0.42, one of eight 0.67, two of six 0.30. This keeps accidental matches below a score of 0.3."""
MIN_CHARACTERS = 3
MIN_TWO_TYPOS_CHARACTERS = 6
"""Minimum length of a word that has other spellings, and of one that may have two typos."""
COMMON_SHARE = 0.001
MIN_COMMON_CHUNKS = 5
"""A word in this share of the chunks, and in at least this number, is taken as spelled correctly. Its other forms do not
count: "softwar" has the stem of "software"."""
MAX_PREFIX_MATCHES = 12
MAX_TYPO_MATCHES = 8
_LONGER_WORDS = 500
"""The most frequent words with a beginning: a word beyond them counts as unknown."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a query, and the words that it may stand for."""

    weight: float
    """The rarer a word, the more it counts."""
    spellings: Mapping[str, float]
    """The words, each with its match quality up to 1."""
    terms: Mapping[str, frozenset[str]]
    """The terms of each of them."""
    is_stop_word: bool


@dataclass(frozen=True)
class ArchiveWords:
    """The words of a query, and the query as it was written."""

    words: tuple[QueryWord, ...]
    text: str

    @cached_property
    def telling(self) -> tuple[QueryWord, ...]:
        """The words that documents are searched for: stop words only in a query that has no others."""
        return tuple(word for word in self.words if not word.is_stop_word) or self.words

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """All spellings of the words that documents are searched for."""
        return tuple(spelling for word in self.telling for spelling in word.spellings)

    @cached_property
    def scores(self) -> list[dict[str, float]]:
        """The score of each spelling of each word; those of a whole query add up to 1."""
        total = sum(word.weight for word in self.telling)
        return [
            {one: word.weight * quality / total for one, quality in word.spellings.items()} for word in self.telling
        ]

    @cached_property
    def terms(self) -> dict[str, float]:
        """The terms of all spellings, each with the weight of its word."""
        return {
            term: word.weight * word.spellings[spelling]
            for word in self.telling
            for spelling, terms in word.terms.items()
            for term in terms
        }

    @cached_property
    def _all_terms(self) -> frozenset[str]:
        return frozenset(term for word in self.words for terms in word.terms.values() for term in terms)

    def match(self, text: str) -> tuple[float, float]:
        """Return how well a short text has every word, and which share of its words they are; 0 if it lacks one."""
        found, matched = terms_among(text, self._all_terms), 0.0
        for word in self.words:
            qualities = [word.spellings[one] for one, terms in word.terms.items() if terms and terms <= found]
            if not qualities:
                return 0.0, 0.0
            matched += word.weight * max(qualities)
        count = sum(1 for _ in _WORD.finditer(text))
        return matched / sum(word.weight for word in self.words), min(1.0, len(found) / max(1, count))


def look_up_words(store: Searchable, text: str, *, fuzzy: bool = True) -> ArchiveWords:
    """Return the words of a query with their spellings in the archives: longer words and typos only if `fuzzy`.

    Each word counts once; scripts without spaces are split into pairs of characters. In an empty archive there are none.
    """
    chunks = store.chunk_count()
    words = list(dict.fromkeys(split_unspaced(_WORD.findall(text))))[: MAX_QUERY_WORDS if chunks else 0]
    spelled = [
        dict(_spellings(store, word, chunks, is_last=word == words[-1])) if fuzzy else {word: 1.0} for word in words
    ]
    known = term_frequencies(store, {spelling for spellings in spelled for spelling in spellings})
    found = []
    for word, spellings in zip(words, spelled, strict=True):
        counts = {one: min(known[one].values(), default=0) for one in spellings}
        is_stop_word = word.lower() in stop_words()
        weight = math.log(1 + chunks / (0.5 + (counts[word] or max(counts.values()))))
        weight *= STOP_WORD_WEIGHT if is_stop_word else 1.0
        found.append(QueryWord(weight, spellings, {one: frozenset(known[one]) for one in spellings}, is_stop_word))
    return ArchiveWords(tuple(found), text)


def _spellings(store: Searchable, word: str, chunks: int, *, is_last: bool) -> Iterator[tuple[str, float]]:
    """Yield the words that a word may stand for, the best match of each last, so that it counts.

    A common word has no typos, and stands for longer ones only as the last of a query, as the user may still be
    typing it.
    """
    whole = next(iter(whole_terms_of(word)), "")
    if len(whole) >= MIN_CHARACTERS and not is_unspaced(word):
        longer = dict(store.words_with_prefix(whole, _LONGER_WORDS))
        count = longer.pop(whole, 0)
        is_common = count >= max(MIN_COMMON_CHUNKS, COMMON_SHARE * chunks)
        if not count and not longer:
            yield from ((part, PART_QUALITY) for part in _split(store, whole))
        if not is_common and not any(map(str.isdigit, whole)):
            yield from _typos(store.similar_words(whole, 2 if len(whole) >= MIN_TWO_TYPOS_CHARACTERS else 1), whole)
        if is_last or not is_common:
            for other in islice(longer, MAX_PREFIX_MATCHES):
                share = len(whole) / len(other)
                quality = MIN_PREFIX_QUALITY + (MAX_PREFIX_QUALITY - MIN_PREFIX_QUALITY) * share
                yield restore_underscores(other), quality
    yield word, 1.0


def _typos(near: Iterable[tuple[str, int]], whole: str) -> Iterator[tuple[str, float]]:
    """Yield the most frequent of the words with the fewest typos."""
    near = list(near)
    best = [other for other, typos in near if typos == near[0][1]][:MAX_TYPO_MATCHES]
    for other in best:
        yield other, (1 - near[0][1] / max(len(whole), len(other))) ** TYPO_POWER


def _split(store: Searchable, whole: str) -> tuple[str, ...]:
    """Return the two words of the archives that a word is made of, the first as long as possible."""
    for at in range(len(whole) - MIN_CHARACTERS, MIN_CHARACTERS - 1, -1):
        halves = whole[:at], whole[at:]
        if all(half in dict(store.words_with_prefix(half, _LONGER_WORDS)) for half in halves):
            return halves
    return ()


MAX_CANDIDATES = 150
"""Documents with the most words of a query that are scored."""
MAX_TITLES = 60
"""Documents with the most words of a query in their title that are scored."""
MAX_PASSAGES = 100
"""The best passages of all documents; each raises the score of its document."""

TITLE_SCORE, TITLE_SHARE_SCORE, TITLE_PHRASE_SCORE = 0.8, 0.15, 0.05
"""Score for all words in the title, what is added in proportion to the share of the title that they are, and for the
query as a phrase."""
QUESTION_SCORE, QUESTION_SHARE_SCORE = 0.66, 0.1
CONTENT_SCORE, LENGTH_SCORE, PASSAGE_SCORE = 0.5, 0.1, 0.05
"""Score for all words in the content, and what is added for a short document and for a good passage."""
PARTIAL_TITLE_SCORE = 0.1
"""Added in proportion to the share of the query in the title, where the title has only a part of it."""
MAX_CONTENT_SCORE = 0.79
HALF_LENGTH = 15
"""Chunks of a document that gets half of what is added for a short one."""
MIN_SCORE = 0.05
"""Documents with a lower score are not returned."""


def rank_archived(
    store: Searchable, words: ArchiveWords, among: frozenset[int] | None = None
) -> list[tuple[StoredDocument, float]]:
    """Return the documents with the most words of a query, and their scores, best first."""
    everywhere = DocumentMatch((), among=among)
    in_titles = store.cover_documents(words.scores, replace(everywhere, in_texts=False), MAX_TITLES)
    titles = {one.id: one.score for one in in_titles}
    passages = _best_passages(store, words, among)
    found = {one.id: one.score for one in store.cover_documents(words.scores, everywhere, MAX_CANDIDATES)}
    if len(found) == MAX_CANDIDATES and (others := (titles.keys() | passages.keys()) - found.keys()):
        more = store.cover_documents(words.scores, replace(everywhere, among=frozenset(others)), len(others))
        found |= {one.id: one.score for one in more}
    ranked = list[tuple[float, float, str, StoredDocument]]()
    for number, document in store.documents_by_id(found).items():
        in_title, passage = titles.get(number, 0.0), passages.get(number, 0.0)
        content = _content_score(document, found[number], in_title, passage)
        score = max(content, _title_score(words, document.title) if in_title else 0.0)
        if score >= MIN_SCORE:
            ranked.append((-score, -content, document.path, document))
    return [(document, -score) for score, _, _, document in sorted(ranked, key=lambda one: one[:3])]


def question_score(words: ArchiveWords, question: str) -> float:
    """Return the score of a document whose question has every word of the query; 0 if it has not."""
    matched, share = words.match(question) if question else (0.0, 0.0)
    return round(matched * (QUESTION_SCORE + QUESTION_SHARE_SCORE * share), 4)


def _best_passages(store: Searchable, words: ArchiveWords, among: frozenset[int] | None) -> dict[int, float]:
    """Return the score of the best passage of each document, relative to the best of all."""
    best = dict[int, float]()
    for chunk in store.find_chunks(TextQuery(words.spellings, DOCS_CHUNK_WEIGHTS, among=among), MAX_PASSAGES):
        best.setdefault(chunk.document_id, chunk.score)
    highest = max(best.values(), default=1.0)
    return {number: score / highest for number, score in best.items()}


def _title_score(words: ArchiveWords, title: str) -> float:
    """Return the score of a document whose title has every word of the query; 0 if it has not."""
    matched, share = words.match(title)
    phrase = TITLE_PHRASE_SCORE * holds_phrase(title, words.text) if matched else 0.0
    return round(matched * (TITLE_SCORE + TITLE_SHARE_SCORE * share + phrase), 4)


def _content_score(document: StoredDocument, anywhere: float, in_title: float, passage: float) -> float:
    shortness = HALF_LENGTH / (HALF_LENGTH + document.chunk_count)
    content = anywhere * (CONTENT_SCORE + LENGTH_SCORE * shortness + PASSAGE_SCORE * passage)
    return round(min(MAX_CONTENT_SCORE, content + PARTIAL_TITLE_SCORE * in_title), 4)
