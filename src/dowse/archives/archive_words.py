"""The words of a query to the archives, each with the words of the archives that it may stand for."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from dowse.protocols import Searchable
from dowse.searching.query_terms import stop_words
from dowse.searching.spelling import term_frequencies
from dowse.searching.term_positions import terms_among
from dowse.text.analysis import is_unspaced, restore_underscores, split_unspaced, whole_terms_of

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

    def match(self, text: str) -> tuple[float, float] | None:
        """Return how well a short text has every word, and which share of its words they are; None if it lacks one."""
        found, matched = terms_among(text, self._all_terms), 0.0
        for word in self.words:
            qualities = [word.spellings[one] for one, terms in word.terms.items() if terms and terms <= found]
            if not qualities:
                return None
            matched += word.weight * max(qualities)
        count = sum(1 for _ in _WORD.finditer(text))
        return matched / sum(word.weight for word in self.words), min(1.0, len(found) / max(1, count))


def look_up_words(store: Searchable, text: str, *, fuzzy: bool = True) -> ArchiveWords:
    """Return the words of a query with their spellings in the archives: longer words and typos only if `fuzzy`.

    Each word counts once; scripts without spaces are split into pairs of characters.
    """
    words = list(dict.fromkeys(split_unspaced(_WORD.findall(text))))[:MAX_QUERY_WORDS]
    chunks = store.chunk_count()
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
