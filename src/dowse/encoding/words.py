"""Words of a text as the static table knows them: identifiers cut where a person would, rare words in pieces."""

import re
import unicodedata
from collections.abc import Mapping

CONTINUED = "##"
"""Before a piece that goes on with a word, as WordPiece has it."""
MOST_LETTERS = 40
"""A longer word is a hash or a blob, and says nothing."""
KNOWN_WORDS = 200_000
"""Words whose pieces are remembered."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
"""In ASCII a hump, a run of capitals or of digits; elsewhere a run of letters."""


class Words:
    """Numbers for the words of texts, by a vocabulary of whole words and pieces."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._known: dict[str, tuple[int, ...]] = {}

    def of(self, text: str) -> list[int]:
        """The numbers of a text's words and pieces, in order."""
        known, found = self._known, list[int]()
        for word in _WORD.findall(text):
            numbers = known.get(word)
            found += self._learn(word) if numbers is None else numbers
        return found

    def _learn(self, word: str) -> tuple[int, ...]:
        if len(self._known) >= KNOWN_WORDS:
            self._known.clear()
        numbers = self._known[word] = tuple(self._pieces(_plain(word)))
        return numbers

    def _pieces(self, word: str) -> list[int]:
        """A word, or the longest pieces it is made of; nothing where a letter of it is in none."""
        if word in self._vocabulary:
            return [self._vocabulary[word]]
        if len(word) > MOST_LETTERS:
            return []
        found, start = list[int](), 0
        while start < len(word):
            mark = CONTINUED if start else ""
            for end in range(len(word), start, -1):
                number = self._vocabulary.get(mark + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return []
        return found


def _plain(word: str) -> str:
    """A word in small letters without accents."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFD", word.lower())
    return "".join(letter for letter in folded if unicodedata.category(letter) != "Mn")
