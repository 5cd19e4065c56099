"""Scores of texts against a query: how well each answers it. A search has its best definitions scored while a user waits."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from dowse.encoding.minilm import MiniLM
    from dowse.types import Vectors

SPREAD = 0.09
"""The usual standard deviation of the cosines of the best 16 definitions, on 160 questions: 0.05 to 0.15. A score is a
cosine divided by it, so that the scores of another scorer count as much if their usual deviation is 1."""
SCORING_THREADS = 2
"""Threads that score texts, where there are as many cores: while they do, no chunk is encoded."""
KEPT_VECTORS = 2048
"""Vectors of texts that are kept, 3 MB: those of 128 questions that find different texts."""


class TextScorer(Protocol):
    """Scores texts against a query; the usual standard deviation of the scores of a query is 1."""

    def score(self, query: str, texts: Sequence[str]) -> "Vectors":
        """Return one score for each text; a higher one is better."""
        ...


class CosineScorer:
    """Compares the vector of each text with that of the query, and keeps the vectors of texts for the next query."""

    def __init__(self, encoder: "MiniLM", threads: int = 1) -> None:
        self._encoder, self._threads = encoder, threads
        # Threads of its own: those of the encoder may be in the middle of chunks that nobody waits for.
        self._pool = ThreadPoolExecutor(threads)
        self._kept = OrderedDict[bytes, "Vectors"]()

    def score(self, query: str, texts: Sequence[str]) -> "Vectors":
        """Return the cosine of each text with the query, divided by the usual deviation."""
        import numpy as np

        keys = [hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._kept}
        by_length = sorted(new, key=lambda key: len(new[key]))
        shares = [by_length[start :: self._threads] for start in range(self._threads)]
        encoded = self._pool.map(lambda share: self._encoder.encode_briefly([new[key] for key in share]), shares)
        vector = self._encoder.encode_query(query)
        for share, rows in zip(shares, encoded, strict=True):
            self._kept.update((key, row.copy()) for key, row in zip(share, rows, strict=True))
        for key in keys:
            self._kept.move_to_end(key)
        scores: Vectors = np.array([self._kept[key] @ vector for key in keys], np.float32) / SPREAD
        while len(self._kept) > KEPT_VECTORS:
            self._kept.popitem(last=False)
        return scores
