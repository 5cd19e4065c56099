"""The tokenizer of the static table: it splits identifiers into words, and rare words into pieces."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import chain

CONTINUATION_PREFIX = "##"
"""The prefix of a piece that continues a word, as in WordPiece."""
MAX_WORD_LETTERS = 40
"""A longer word is a hash or a blob, and is ignored."""
MAX_CACHED_WORDS = 50_000
"""The number of words whose pieces are cached, in about 8 MB; a project of 3,000 files has 30,000 words."""

WORD = re.compile(r"[a-z]+|[A-Z][a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\x00-\x7f\W\d_]+")
"""In ASCII, a part of a camel-case name, or a run of capitals or digits; elsewhere a run of letters."""


class StaticTokens(dict[str, tuple[int, ...]]):
    """The ids of words and pieces, from a vocabulary. The dictionary caches the ids of words that have occurred."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def token_ids(self, text: str) -> Iterator[int]:
        """Return the ids of a text's words and pieces, in order."""
        return chain.from_iterable(map(self.__getitem__, WORD.findall(text)))

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= MAX_CACHED_WORDS:
            self.clear()
        numbers = self[word] = tuple(self._pieces(fold_word(word)))
        return numbers

    def _pieces(self, word: str) -> list[int]:
        """Return the id of a word, or of its longest pieces; none if a part of it is in no piece."""
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
    """Return a word in lower case without accents."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFD", word.lower())
    return "".join(letter for letter in folded if unicodedata.category(letter) != "Mn")
