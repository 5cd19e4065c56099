"""The highest of many scores, found without sorting all of them."""

import numpy as np
import pytest

from dowse.store.vector_search import _highest


@pytest.mark.parametrize("count", [0, 1, 5, 999, 1000, 2000])
@pytest.mark.parametrize(
    "kind", ["random", "equal", "sampled ones are low", "sampled ones are high", "mostly unwanted"]
)
def test_the_highest_scores_are_found_however_they_lie(kind: str, count: int) -> None:
    scores = np.random.default_rng(1).normal(size=1000).astype(np.float32)
    if kind == "equal":
        scores[:] = 1
    elif kind.startswith("sampled"):
        scores[::61] += 100 if kind.endswith("high") else -100
    elif kind == "mostly unwanted":
        scores[10:] = -np.inf
    found = _highest(scores, count)
    assert len(set(found.tolist())) == min(count, 1000)
    assert sorted(scores[found]) == sorted(scores)[max(0, 1000 - count) :]
