"""The vocabulary of a site, and the words of it that match a word of a query."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from dowse.sites import site_constants as weights

_WORD = re.compile(r"[^\W_]+")
_UNSPACED_SCRIPTS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Scripts without spaces between words, whose text is indexed as pairs of characters."""

WordMatches = dict[int, float]
"""Word ids, each with the weight of the match, from 0 to 1."""


def fold_words(text: str) -> Iterator[str]:
    """Yield the words of a text without case, accents and width; pairs of characters in scripts without spaces."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = unicodedata.normalize("NFC", "".join(letter for letter in plain if not unicodedata.combining(letter)))
    for word in _WORD.findall(plain):
        end = 0
        for run in _UNSPACED_SCRIPTS.finditer(word):
            if run.start() > end:
                yield word[end : run.start()]
            yield from (run[0][at : at + 2] for at in range(max(1, len(run[0]) - 1)))
            end = run.end()
        if end < len(word):
            yield word[end:]


class SiteVocabulary:
    """All words of a site, found without regard to case and accents."""

    def __init__(self, words: list[bytes]) -> None:
        self._ids: dict[str, list[int]] = {}
        for word_id, word in enumerate(words):
            for part in self.fold(word):
                self._ids.setdefault(part, []).append(word_id)
        self._words = list(self._ids)
        self._joined = "\n".join(["", *self._words, ""])
        self._ends = np.cumsum([len(word) + 1 for word in self._words]) if self._words else np.zeros(0, np.int64)
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for known in self._words:
            self._by_length[len(known)].append(known)

    @staticmethod
    def fold(word: bytes) -> list[str]:
        """Return the folded words of a word from the tokenizer."""
        return [word.decode("ascii")] if word.isascii() else list(fold_words(word.decode("utf-8", "replace")))

    def exact(self, word: str) -> list[int]:
        """Return the ids of a word, in any case and with any accents."""
        return self._ids.get(word, [])

    def match(self, word: str, *, corrects_typos: bool = True) -> WordMatches:
        """Return the words that match a typed word: the word itself, its inflections and longer words that contain it.

        If there is neither the word nor an inflection, include words that differ by a typo or two.
        """
        matches: WordMatches = {}
        self._add(matches, [word], 1.0)
        self._add(matches, _inflections(word), weights.FORM_WEIGHT)
        self._add_longer(matches, word)
        if corrects_typos and not any(weight >= weights.FORM_WEIGHT for weight in matches.values()):
            self._add_similar(matches, word)
        return matches

    def split_compound(self, word: str) -> tuple[str, str] | None:
        """Split a word into two known words; None if it is not a compound of two."""
        if len(word) < weights.MIN_COMPOUND_CHARACTERS:
            return None
        splits = range(len(word) - weights.MIN_HALF_CHARACTERS, weights.MIN_HALF_CHARACTERS - 1, -1)
        return next(
            ((word[:at], word[at:]) for at in splits if word[:at] in self._ids and word[at:] in self._ids), None
        )

    def _add(self, matches: WordMatches, words: list[str], weight: float) -> None:
        for word in words:
            for word_id in self._ids.get(word, ()):
                matches[word_id] = max(weight, matches.get(word_id, 0.0))

    def _add_longer(self, matches: WordMatches, word: str) -> None:
        if len(word) < weights.MIN_PREFIX_CHARACTERS:
            return
        found: list[tuple[str, float]] = []
        at = self._joined.find(word)
        while at >= 0 and len(found) < weights.MAX_LONGER_WORDS:
            whole = self._words[int(np.searchsorted(self._ends, at - 1, "right"))]
            is_prefix = self._joined[at - 1] == "\n"
            if is_prefix or len(word) >= weights.MIN_INFIX_CHARACTERS:
                share = len(word) / len(whole)
                found.append(
                    (whole, (weights.PREFIX_WEIGHT if is_prefix else weights.INFIX_WEIGHT) * (0.5 + share / 2))
                )
            at = self._joined.find(word, at + len(word))
        for whole, weight in found:
            self._add(matches, [whole], weight)

    def _add_similar(self, matches: WordMatches, word: str) -> None:
        max_typos = 0 if len(word) < 3 else 1 if len(word) < weights.MIN_TWO_TYPOS_CHARACTERS else 2
        for length in range(len(word) - max_typos, len(word) + max_typos + 1) if max_typos else ():
            found = process.extract(
                word,
                self._by_length.get(length, ()),
                scorer=OSA.distance,
                score_cutoff=max_typos,
                limit=weights.MAX_SIMILAR_WORDS,
            )
            for similar, typos, _ in found:
                weight = weights.ONE_TYPO_WEIGHT if typos <= 1 else weights.TWO_TYPOS_WEIGHT
                self._add(
                    matches, [similar], weight if similar[0] == word[0] else weight * weights.OTHER_FIRST_LETTER_FACTOR
                )


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
