"""The words of an index, found by spelling: the word itself, its forms, longer words that contain it, and typos."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from dowse.text.analysis import Language, languages, split_compound, stem_words, strip_accents

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_LONGER_WORDS = 200
"""Longer words that contain a word, at most; a short word is in thousands."""
_KNOWN_COMMON_WORDS, _COMMON_WORD_SHARE = 0.4, 0.005
"""Texts are in a language if they have this share of its common words, each in this share of the texts of the most
frequent word."""


class Vocabulary:
    """The words of an index, each with the number of texts that have it."""

    def __init__(self, frequencies: Mapping[str, int]) -> None:
        self.frequencies = frequencies
        self._joined = "\n".join(["", *frequencies, ""])
        self._words = sorted(filter(None, frequencies), key=len)

    def __contains__(self, word: str) -> bool:
        return word in self.frequencies

    def forms(self, word: str) -> list[str]:
        """Return the other forms of a word that the index has: English plurals and verb endings, and those of its languages."""
        found = dict.fromkeys(form for form in _inflections(word) if form in self.frequencies)
        for language, words in self._words_by_stem:
            for stem in stem_words(word, language):
                found |= dict.fromkeys(words.get(stem, ()))
        found.pop(word, None)
        return list(found)

    @cached_property
    def _words_by_stem(self) -> Sequence[tuple[Language, Mapping[str, list[str]]]]:
        """The words by their stems in each language other than English that the texts are written in."""
        least = _COMMON_WORD_SHARE * max(self.frequencies.values(), default=0)
        common = {word for word, count in self.frequencies.items() if count >= least}
        found = []
        for language in languages():
            known = common.intersection(map(strip_accents, language.common_words))
            if len(known) >= _KNOWN_COMMON_WORDS * len(language.common_words):
                words: dict[str, list[str]] = defaultdict(list)
                for word in self.frequencies:
                    for stem in stem_words(word, language):
                        words[stem].append(word)
                found.append((language, words))
        return found

    def longer_words(self, word: str) -> Iterator[tuple[str, bool]]:
        """Yield longer words that contain a word, each with whether it begins with the word."""
        at, found = self._joined.find(word), 0
        while at >= 0 and found < MAX_LONGER_WORDS:
            start = self._joined.rfind("\n", 0, at) + 1
            end = self._joined.find("\n", at)
            if end - start > len(word):
                found += 1
                yield self._joined[start:end], start == at
            at = self._joined.find(word, end)

    def similar_words(self, word: str, max_typos: int) -> list[tuple[str, int]]:
        """Return other words within a number of typos, each with its number of typos; fewest first, then shortest.

        A typo changes two letters at most. Of 65,000 words a few hundred are left to compare.
        """
        import numpy as np

        if not word or not max_typos or not self._words:
            return []
        near = np.bitwise_count(self._letters ^ _letter_bits([word])) <= 2 * max_typos
        found = similar_words(word, [self._words[at] for at in np.flatnonzero(near)], max_typos)
        return sorted(found, key=lambda one: (one[1], len(one[0])))

    @cached_property
    def _letters(self) -> "NDArray[np.uint32]":
        return _letter_bits(self._words)

    def split_compound(self, word: str, min_characters: int) -> Sequence[str]:
        """Return the two words of the index that a word is made of, or the forms of its parts in a language of the texts."""
        splits = range(len(word) - min_characters, min_characters - 1, -1)
        halves = next(((word[:at], word[at:]) for at in splits if word[:at] in self and word[at:] in self), ())
        if halves:
            return halves
        stems = (
            (stem, *one) for one in self._words_by_stem if one[0].has_compounds for stem in stem_words(word, one[0])
        )
        return [
            form
            for stem, language, words in stems
            for part in split_compound(stem, language, words)
            for form in words[part]
        ]


def _letter_bits(words: Sequence[str]) -> "NDArray[np.uint32]":
    """Return the letters of each word, one bit each."""
    import numpy as np

    letters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
    starts = np.cumsum([0, *map(len, words[:-1])])
    bits: NDArray[np.uint32] = np.bitwise_or.reduceat(np.uint32(1) << (letters & np.uint32(31)), starts)
    return bits


def similar_words(word: str, known: Collection[str], max_typos: int) -> list[tuple[str, int]]:
    """Return the known words that differ by a few changed, missing, added or swapped letters; fewest typos first."""
    # The import takes 25 ms, which only a misspelled query pays for.
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = process.extract(word, known, scorer=OSA.distance, score_cutoff=max_typos, limit=None)
    return [(other, typos) for other, typos, _ in found if typos]


def _inflections(word: str) -> list[str]:
    """Return the English plurals and verb endings that people vary when they search."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return []
    stems = {word}
    for ending in ("s", "es", "ed", "d", "ing", "er", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stems.add(word.removesuffix(ending))
            if ending in ("ing", "ed") and word[-len(ending) - 1] == word[-len(ending) - 2 : -len(ending) - 1]:
                stems.add(word.removesuffix(ending)[:-1])
    if word.endswith("ies"):
        stems.add(word[:-3] + "y")
    forms = {stem + ending for stem in stems for ending in ("", "s", "es", "ed", "d", "ing", "e")}
    forms |= {stem[:-1] + "ies" for stem in stems if stem.endswith("y")}
    forms |= {stem[:-1] + "ing" for stem in stems if stem.endswith("e")}
    return sorted(forms - {word})
