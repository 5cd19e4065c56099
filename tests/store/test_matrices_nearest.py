"""The nearest of many vectors, found without comparing all of them in full."""

from typing import Any

import numpy as np
import pytest

from dowse.encoding.packing import pack_vectors
from dowse.store import matrices, matrix
from dowse.store.matrices import _highest
from dowse.store.matrix import MatrixHeader, VectorRow, empty_matrix


def test_the_highest_scores_are_found_however_they_lie() -> None:
    for kind in ("random", "equal", "sampled ones are low", "sampled ones are high", "mostly unwanted"):
        for count in (0, 1, 5, 999, 1000, 2000):
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


@pytest.mark.parametrize("is_ordered", [True, False])
def test_the_vectors_decide_whether_a_shortlist_is_made_not_the_query(
    monkeypatch: pytest.MonkeyPatch, is_ordered: bool
) -> None:
    """A query of unusual words was compared with every vector in full, which took seconds on a million."""
    count, dimensions = matrices.SHORTLIST_ROWS + 500, 2 * matrix.ROUGH_DIMENSIONS
    vectors = np.random.default_rng(1).standard_normal((count, dimensions)).astype(np.float32)
    query = np.ones(dimensions, np.float32)
    if is_ordered:
        vectors[:, dimensions // 2 :] *= 0.1
    query[: dimensions // 2] *= 0.1 if is_ordered else 10
    rows = [VectorRow(at, at, "code", 1, packed) for at, packed in enumerate(pack_vectors(vectors), 1)]
    made = empty_matrix(MatrixHeader("catalog", "encoder", dimensions, 0)).with_changes(1, (), rows).added
    scored = list[int]()
    plain = matrices._dot_products

    def counted(cells: Any, *others: Any) -> Any:
        scored.append(len(cells))
        return plain(cells, *others)

    monkeypatch.setattr(matrices, "_dot_products", counted)
    found, scores = matrices.nearest_rows(made, query, 5, np.ones(count, np.bool_))
    assert scored == ([count, matrices.SHORTLIST_ROWS] if is_ordered else [count])
    if not is_ordered:
        exact = vectors @ query
        assert found[scores.argmax()] == np.argmax(exact)


def test_vectors_of_any_width_in_no_order_have_none() -> None:
    """With 128 dimensions the first 96 have most of any vector, so a shortlist lost near rows of other encoders."""
    for dimensions in (16, 96, 128, 160, 192, 256, 768):
        cells = np.random.default_rng(dimensions).integers(-127, 128, (2000, dimensions), np.int8)
        assert not matrix._has_ordered_dimensions(cells)
        assert dimensions <= 192 or matrix._has_ordered_dimensions(
            cells // np.array([1] * 96 + [8] * (dimensions - 96), np.int8)
        )
