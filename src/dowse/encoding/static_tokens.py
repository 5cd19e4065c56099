"""Words of a text as the static table knows them: identifiers cut where a person would, rare words in pieces."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import chain

CONTINUATION_PREFIX = "##"
"""Before a piece that goes on with a word, as WordPiece has it."""
MAX_WORD_LETTERS = 40
"""A longer word is a hash or a blob, and says nothing."""
MAX_CACHED_WORDS = 50_000
"""Words whose pieces are remembered, in about 8 MB; a project of 3,000 files has 30,000."""

WORD = re.compile(r"[a-z]+|[A-Z][a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\x00-\x7f\W\d_]+")
"""In ASCII a hump, a run of capitals or of digits; elsewhere a run of letters."""


class StaticTokens(dict[str, tuple[int, ...]]):
    """Numbers for the words of texts, by a vocabulary of whole words and pieces; those of a word seen are remembered."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def token_ids(self, text: str) -> Iterator[int]:
        """The numbers of a text's words and pieces, in order."""
        return chain.from_iterable(map(self.__getitem__, WORD.findall(text)))

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= MAX_CACHED_WORDS:
            self.clear()
        numbers = self[word] = tuple(self._pieces(fold_word(word)))
        return numbers

    def _pieces(self, word: str) -> list[int]:
        """A word, or the longest pieces it is made of; nothing where a letter of it is in none."""
        if word in self._vocabulary:
            return [self._vocabulary[word]]
        if len(word) > MAX_WORD_LETTERS:
            return []
        found, start = list[int](), 0
        while start < len(word):
            mark = CONTINUATION_PREFIX if start else ""
            for end in range(len(word), start, -1):
                number = self._vocabulary.get(mark + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return []
        return found


def fold_word(word: str) -> str:
    """A word in small letters without accents."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFD", word.lower())
    return "".join(letter for letter in folded if unicodedata.category(letter) != "Mn")
