"""The rows of a vector matrix that are nearest to a vector: every row is looked at, and the matrix kept at hand for that."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dowse.store.matrix import HEAD_BYTES, KIND_NUMBERS, PREFIX, Header, raw_rows
from dowse.types import Kind, Scored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.types import Vectors

KEPT_BYTES = 64 << 20
"""Vectors that are kept in memory, 240,000 of 256 dimensions; more are read where they lie. To map 65,000 for each
question and to copy what stands beside them takes 10 ms, as long as all products."""
_BLOCK_ROWS = 1024
"""Rows that become floats at once, about a megabyte: of 256, 1,024 and 4,096 the quickest."""


class Rows(NamedTuple):
    """A matrix taken apart."""

    chunks: "NDArray[np.int64]"
    """0 for a row whose chunk is gone."""
    documents: "NDArray[np.int64]"
    kinds: "NDArray[np.uint8]"
    scales: "NDArray[np.float32]"
    cells: "NDArray[np.int8]"


def load(file: Path, header: Header) -> Rows:
    """The rows that a header counts."""
    import numpy as np

    raw = raw_rows(file, header)
    ids = raw[:, :16].copy().view("<i8")
    cells = raw[:, HEAD_BYTES:].view(np.int8)
    return Rows(
        np.array(ids[:, 0]), np.array(ids[:, 1]), np.array(raw[:, 16]),
        np.array(raw[:, PREFIX.size : HEAD_BYTES].copy().view("<f4")[:, 0]),
        np.array(cells) if cells.size <= KEPT_BYTES else cells,
    )  # fmt: skip


def nearest(
    rows: Rows, vector: "Vectors", limit: int, *, kind: Kind | None = None, among: frozenset[int] | None = None
) -> list[Scored]:
    """The live rows with the highest dot product, best first; ties by chunk."""
    import numpy as np

    wanted = rows.chunks != 0
    if kind is not None:
        wanted &= rows.kinds == KIND_NUMBERS[kind]
    if among is not None:
        wanted &= np.isin(rows.documents, np.fromiter(among, np.int64, len(among)))
    scores = np.where(wanted, _products(rows, vector), -np.inf)
    best = np.argpartition(-scores, min(limit, len(scores)) - 1)[:limit]
    best = best[scores[best] > -np.inf]
    columns = (rows.chunks[best].tolist(), rows.documents[best].tolist(), scores[best].tolist())
    return sorted(map(Scored, *columns), key=lambda hit: (-hit.score, hit.id))


def held_documents(rows: Rows, documents: frozenset[int]) -> frozenset[int]:
    """Those of some documents that have a live row."""
    import numpy as np

    live = rows.documents[rows.chunks != 0]
    return frozenset(np.intersect1d(live, np.fromiter(documents, np.int64, len(documents))).tolist())


def _products(rows: Rows, vector: "Vectors") -> "Vectors":
    """The dot product of each row with a vector."""
    import numpy as np

    asked = vector.astype(np.float32)
    products = np.empty(len(rows.cells), np.float32)
    floats = np.empty((_BLOCK_ROWS, len(asked)), np.float32)
    for start in range(0, len(products), _BLOCK_ROWS):
        block = rows.cells[start : start + _BLOCK_ROWS]
        np.copyto(floats[: len(block)], block)
        np.dot(floats[: len(block)], asked, out=products[start : start + _BLOCK_ROWS])
    return np.asarray(products * rows.scales, np.float32)
