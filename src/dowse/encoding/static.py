"""The static encoder: a text's vector is the sum of the vectors of its words, from one table.

It encodes thousands of texts a second.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.encoding.static_tokens import StaticTokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dowse.types import Kind, Vectors

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
        """Return the vector of a query."""
        vector: Vectors = self.encode([text])[0]
        return vector
