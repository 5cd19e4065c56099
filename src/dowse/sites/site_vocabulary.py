"""The words of a site, and which of them are meant by a word that somebody typed."""

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
"""Scripts that set no spaces between words: pairs of characters stand for words there."""

WordMatches = dict[int, float]
"""Words by their numbers, each with how surely it is meant."""


def fold_words(text: str) -> Iterator[str]:
    """Words as they are compared: without case, accents and width; pairs of characters where there are no spaces."""
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
    """All words, by what they are when case and accents do not count."""

    def __init__(self, words: list[bytes]) -> None:
        self._numbers: dict[str, list[int]] = {}
        for number, word in enumerate(words):
            for part in self.parts(word):
                self._numbers.setdefault(part, []).append(number)
        self._listed = list(self._numbers)
        self._joined = "\n".join(["", *self._listed, ""])
        self._ends = np.cumsum([len(word) + 1 for word in self._listed]) if self._listed else np.zeros(0, np.int64)
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for listed in self._listed:
            self._by_length[len(listed)].append(listed)

    @staticmethod
    def parts(word: bytes) -> list[str]:
        """A word as the tokenizer cut it, as it is compared."""
        return [word.decode("ascii")] if word.isascii() else list(fold_words(word.decode("utf-8", "replace")))

    def exact(self, word: str) -> list[int]:
        """The same word, in any case and with any accents."""
        return self._numbers.get(word, [])

    def meant(self, word: str, *, forgives: bool = True) -> WordMatches:
        """All words that may be meant: the word itself, its forms, longer ones, and where there is none, similar ones."""
        meant: WordMatches = {}
        self._add(meant, [word], 1.0)
        self._add(meant, _inflections(word), weights.FORM_WEIGHT)
        self._add_longer(meant, word)
        if forgives and not any(weight >= weights.FORM_WEIGHT for weight in meant.values()):
            self._add_similar(meant, word)
        return meant

    def halves(self, word: str) -> tuple[str, str] | None:
        """Two known words that somebody wrote as one."""
        if len(word) < weights.MIN_COMPOUND_CHARACTERS:
            return None
        places = range(len(word) - weights.MIN_HALF_CHARACTERS, weights.MIN_HALF_CHARACTERS - 1, -1)
        return next(
            ((word[:at], word[at:]) for at in places if word[:at] in self._numbers and word[at:] in self._numbers), None
        )

    def _add(self, meant: WordMatches, words: list[str], weight: float) -> None:
        for word in words:
            for number in self._numbers.get(word, ()):
                meant[number] = max(weight, meant.get(number, 0.0))

    def _add_longer(self, meant: WordMatches, word: str) -> None:
        if len(word) < weights.MIN_PREFIX_CHARACTERS:
            return
        found: list[tuple[str, float]] = []
        at = self._joined.find(word)
        while at >= 0 and len(found) < weights.MAX_LONGER_WORDS:
            whole = self._listed[int(np.searchsorted(self._ends, at - 1, "right"))]
            is_prefix = self._joined[at - 1] == "\n"
            if is_prefix or len(word) >= weights.MIN_INFIX_CHARACTERS:
                share = len(word) / len(whole)
                found.append(
                    (whole, (weights.PREFIX_WEIGHT if is_prefix else weights.INFIX_WEIGHT) * (0.5 + share / 2))
                )
            at = self._joined.find(word, at + len(word))
        for whole, weight in found:
            self._add(meant, [whole], weight)

    def _add_similar(self, meant: WordMatches, word: str) -> None:
        most = 0 if len(word) < 3 else 1 if len(word) < weights.MIN_TWO_TYPOS_CHARACTERS else 2
        for length in range(len(word) - most, len(word) + most + 1) if most else ():
            near = process.extract(
                word,
                self._by_length.get(length, ()),
                scorer=OSA.distance,
                score_cutoff=most,
                limit=weights.MAX_SIMILAR_WORDS,
            )
            for similar, errors, _ in near:
                weight = weights.ONE_TYPO_WEIGHT if errors <= 1 else weights.TWO_TYPOS_WEIGHT
                self._add(
                    meant, [similar], weight if similar[0] == word[0] else weight * weights.OTHER_FIRST_LETTER_FACTOR
                )


def _inflections(word: str) -> list[str]:
    """Plurals and endings of English words, as people vary them when they search."""
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
