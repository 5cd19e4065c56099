"""The static encoder: a text's vector is the sum of the vectors of its words, from one table.

It encodes thousands of texts a second.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dowse.types import Kind, Vectors

CONTINUATION_PREFIX = "##"
"""The prefix of a piece that continues a word, as in WordPiece."""
MAX_WORD_LETTERS = 40
"""A longer word is a hash or a blob, and is ignored."""
MIN_PIECE_LETTERS = 3
"""The mean length from which on the pieces of an unknown word say something: `getusername` has three of 3.7 letters."""
MAX_CACHED_NAMES = 50_000
"""The number of names whose ids are cached, in about 10 MB; a project of 3,000 files has 30,000 names."""
MAX_CACHED_NAME_LETTERS = 100
"""Longer names are not cached: they are blobs and do not occur again."""

WORD = re.compile(r"[a-z]+|[A-Z][a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\x00-\x7f\W\d_]+")
"""In ASCII, a part of a camel-case name, or a run of capitals or digits; elsewhere a run of letters."""
NAME = re.compile(r"[A-Za-z0-9]+|[^\x00-\x7f\W\d_]+")
"""A run of letters and digits, which no word crosses."""
_ASCII_SEPARATORS = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))


class WordPieces:
    """The words and pieces of words in a vocabulary."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        mark = len(CONTINUATION_PREFIX)
        tails = {piece[mark:]: number for piece, number in vocabulary.items() if piece[:mark] == CONTINUATION_PREFIX}
        self._heads, self._tails = ((known, max(map(len, known), default=0)) for known in (vocabulary, tails))
        """The pieces that begin and that continue a word, each with the length of the longest one."""

    def split(self, word: str) -> list[int]:
        """Return the id of a word, or of its longest pieces; none if a part of it is in no piece."""
        found, start = list[int](), 0
        known, longest = self._heads
        while start < len(word):
            for end in range(min(len(word), start + longest), start, -1):
                number = known.get(word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return []
            known, longest = self._tails
        return found


class StaticTokens(dict[str, tuple[int, ...]]):
    """The ids of words and pieces, from a vocabulary. The dictionary caches the ids of names that have occurred."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        super().__init__()
        self._words = WordPieces(vocabulary)

    def token_ids(self, text: str) -> Iterator[int]:
        """Return the ids of a text's words and pieces, in order."""
        return chain.from_iterable(map(self.__getitem__, _names(text)))

    def has_meaning(self, text: str) -> bool:
        """Return whether a text has a word that is known, or made of pieces that are more than single letters.

        Of 5,000 words of random letters, one in 200 counts as such.
        """
        words = [fold_word(word) for name in _names(text) for word in WORD.findall(name)]
        return any(not word.isascii() or self._is_known(word) for word in words)

    def _is_known(self, word: str) -> bool:
        pieces = len(self._pieces(word))
        return pieces == 1 or (pieces > 1 and len(word) / pieces >= MIN_PIECE_LETTERS)

    def __missing__(self, name: str) -> tuple[int, ...]:
        numbers = tuple(number for word in WORD.findall(name) for number in self._pieces(fold_word(word)))
        if len(name) <= MAX_CACHED_NAME_LETTERS:
            if len(self) >= MAX_CACHED_NAMES:
                self.clear()
            self[name] = numbers
        return numbers

    def _pieces(self, word: str) -> list[int]:
        return self._words.split(word) if len(word) <= MAX_WORD_LETTERS else []


def _names(text: str) -> list[str]:
    """Return the runs of letters and digits of a text. An expression takes five times as long on ASCII."""
    return text.encode().translate(_ASCII_SEPARATORS).decode().split() if text.isascii() else NAME.findall(text)


def fold_word(word: str) -> str:
    """Return a word in lower case without accents."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFD", word.lower())
    return "".join(letter for letter in folded if unicodedata.category(letter) != "Mn")


MAX_CHARACTERS = 4000
"""The number of characters of a text that are encoded."""
MAX_WORD_COUNT = 255
"""The highest count of a word in a text; more occurrences do not count."""


class StaticEncoder:
    """An encoder with a table of word vectors in eight bits, each with its scale, mapped from disk."""

    def __init__(self, folder: Path, version: str) -> None:
        import numpy as np

        vocabulary = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
        self._scales: NDArray[np.float32] = np.fromfile(folder / "scales.float32", np.float32)
        mapped = np.memmap(folder / "table.int8", np.int8, "r")
        self._table = np.asarray(mapped).reshape(len(vocabulary), -1)  # rows of a `memmap` take longer
        self._roots = np.sqrt(np.arange(MAX_WORD_COUNT + 1, dtype=np.float32))
        self._words = StaticTokens({word: number for number, word in enumerate(vocabulary)})
        self.version = version
        self.dimensions = self._table.shape[1]

    def has_meaning(self, text: str) -> bool:
        """Return whether a text has words that mean something, unlike letters at random."""
        return self._words.has_meaning(text)

    def encode(self, texts: Sequence[str], kind: "Kind" = "docs") -> "Vectors":  # noqa: ARG002 - both kinds are encoded alike
        """Return one row for each text, of length 1, or 0 for a text without words."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            counted = Counter(self._words.token_ids(text[:MAX_CHARACTERS]))
            if counted:
                numbers = np.fromiter(counted, np.int64, len(counted))
                times = np.fromiter(counted.values(), np.int64, len(counted))
                weights = self._roots.take(times, mode="clip") * self._scales.take(numbers)
                np.dot(weights, self._table.take(numbers, axis=0).astype(np.float32), out=vectors[row])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.maximum(lengths, 1e-9)
        return vectors

    def encode_query(self, text: str) -> "Vectors":
        vector: Vectors = self.encode([text])[0]
        return vector
