"""The rows of a vector matrix in memory, and the search for those that are nearest to a vector."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.store.matrix import (
    KIND_NUMBERS,
    ROW_HEAD_BYTES,
    VIEW_SHIFT,
    MatrixHeader,
    VectorRow,
    encode_row,
    open_matrix,
)
from dowse.types import Kind, Scored, View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.types import Vectors

ROUGH_DIMENSIONS = 96
SHORTLIST_ROWS = 4000
"""Where an encoder orders its dimensions by importance, the first 96 select the rows that get an exact score. Of the 250
nearest of 51,000 chunks, the shortlist contains 99.9 % with the model and 99.6 % with the table, and all of the nearest
ten; 89,000 chunks take 4 ms instead of 16 or more."""
_BLOCK_ROWS = 1024
"""Rows that are converted to floats at once: of 256, 1,024 and 4,096 the fastest."""
PARALLEL_ROWS = 200_000
"""From this number of rows on, two threads score them roughly. A million rows take 31 instead of 43 ms on two cores."""
_PARALLEL_BLOCK_CELLS = 4096 * ROUGH_DIMENSIONS
"""Cells that are converted at once then: with fewer the threads wait more often for each other, and with four times as
many, which the processor's cache cannot hold, exact scores of a million rows take 1.2 instead of 0.2 s."""
_ORDER_SAMPLE_ROWS = 1000
"""Rows from which it is seen whether an encoder orders its dimensions."""
_ORDERED_SHARE, _ORDERED_EXCESS = 0.5, 1.5
"""The share of the squares that the first dimensions of such an encoder have at least: half, and half as much again as
without an order, which matters for vectors of few dimensions. The table has 0.69 of 256, the model 0.70 of 384."""
_SAMPLE_STEP = 61
"""One score of this many is looked at to find out which scores cannot be among the highest."""
_ROW_HEAD = [("chunk", "<i8"), ("document", "<i8"), ("kind", "u1"), ("padding", "V3"), ("scale", "<f4")]
"""The columns before the cells of a row."""


class MatrixRows(NamedTuple):
    """A matrix by columns. The columns that every search reads are in memory, 117 bytes per row; the cells stay in the file."""

    header: MatrixHeader
    inode: int
    chunks: "NDArray[np.int64]"
    """0 for a row whose chunk was removed."""
    documents: "NDArray[np.int64]"
    kinds: "NDArray[np.uint8]"
    """The number of the kind and of the views."""
    scales: "NDArray[np.float32]"
    rough: "NDArray[np.int8]"
    """The first dimensions."""
    cells: "NDArray[np.int8]"
    has_ordered_dimensions: bool = False
    """Whether most of the vectors is in their first dimensions: then the encoder orders them by importance."""


def load_rows(file: Path, known: MatrixRows | None = None) -> MatrixRows | None:
    """Load the rows of a matrix; if it has only grown since `known`, load only the new ones. None when it has no rows."""
    import numpy as np

    if (opened := open_matrix(file)) is None:
        return None
    header, raw, inode = opened
    if known is None or inode != known.inode or header[:3] != known.header[:3] or header.dead != known.header.dead:
        known = None
    cells = np.asarray(raw)[:, ROW_HEAD_BYTES:].view(np.int8)  # slices of a memmap cost more than their search
    return _join_rows(known, header, inode, raw[known.header.rows if known else 0 :], cells)


def _join_rows(
    known: MatrixRows | None,
    header: MatrixHeader,
    inode: int,
    added: "NDArray[np.uint8]",
    cells: "NDArray[np.int8]",
) -> MatrixRows:
    """Return known rows and added ones by columns; `cells` are those of all."""
    import numpy as np

    heads = np.frombuffer(np.ascontiguousarray(added[:, :ROW_HEAD_BYTES]), _ROW_HEAD)

    def join(old: "NDArray[Any] | None", new: "NDArray[Any]") -> "NDArray[Any]":
        return np.array(new) if old is None else np.concatenate((old, new))

    return MatrixRows(
        header,
        inode,
        join(known and known.chunks, heads["chunk"]),
        join(known and known.documents, heads["document"]),
        join(known and known.kinds, heads["kind"]),
        join(known and known.scales, heads["scale"]),
        join(known and known.rough, cells[len(cells) - len(added) :, :ROUGH_DIMENSIONS]),
        cells,
        _has_ordered_dimensions(cells),
    )


def with_changes(rows: MatrixRows, removed_documents: set[int], added: Sequence[VectorRow]) -> MatrixRows:
    """Return rows as they would be after changes."""
    import numpy as np

    replaced = np.isin(rows.documents, list(removed_documents)) | np.isin(rows.chunks, [row.chunk_id for row in added])
    left = rows._replace(chunks=np.where(replaced, 0, rows.chunks))
    raw = np.frombuffer(b"".join(map(encode_row, added)), np.uint8).reshape(
        len(added), ROW_HEAD_BYTES + rows.header.dimensions
    )
    cells = np.concatenate((rows.cells, raw[:, ROW_HEAD_BYTES:].view(np.int8)))
    count = rows.header.rows + len(added)
    header = rows.header._replace(rows=count, dead=int(np.count_nonzero(left.chunks == 0)))
    return _join_rows(left, header, rows.inode, raw, cells)


def nearest(
    rows: MatrixRows,
    vector: "Vectors",
    limit: int,
    *,
    view: View = View.BOTH,
    kind: Kind | None = None,
    among: frozenset[int] | None = None,
) -> list[Scored]:
    """Return the live rows with the highest dot product, best first; ties by chunk."""
    import numpy as np

    is_wanted = _is_in_view(rows, view)
    if kind is not None:
        is_wanted &= (rows.kinds & KIND_NUMBERS[kind]) != 0
    if among is not None:
        is_wanted &= np.isin(rows.documents, np.fromiter(among, np.int64, len(among)))
    query = vector.astype(np.float32)
    if np.count_nonzero(is_wanted) > SHORTLIST_ROWS and rows.has_ordered_dimensions:
        rough = _dot_products(rows.rough, query[:ROUGH_DIMENSIONS], is_wanted)
        rough *= rows.scales
        rough[~is_wanted] = -np.inf
        positions = _highest(rough, SHORTLIST_ROWS)
    else:
        positions = np.flatnonzero(is_wanted)
    is_partial = len(positions) < len(rows.chunks)
    scores = _dot_products(rows.cells[positions] if is_partial else rows.cells, query) * rows.scales[positions]
    best = _highest(scores, limit)
    found = positions[best]
    order = np.lexsort((rows.chunks[found], -scores[best]))
    found, best = found[order], best[order]
    columns = rows.chunks[found].tolist(), rows.documents[found].tolist(), scores[best].tolist()
    return list(map(Scored, *columns))


def count_rows(rows: MatrixRows, view: View) -> int:
    """Return the number of live rows of a view."""
    return int(_is_in_view(rows, view).sum())


def _is_in_view(rows: MatrixRows, view: View) -> "NDArray[np.bool_]":
    is_shown: NDArray[np.bool_] = (rows.kinds & (view << VIEW_SHIFT)) != 0
    is_shown &= rows.chunks != 0
    return is_shown


def encoded_documents(rows: MatrixRows, documents: frozenset[int]) -> frozenset[int]:
    """Return those of the documents that have a live row.

    One flag for each id up to the highest takes a fiftieth of the time of sorting a million rows.
    """
    import numpy as np

    live = rows.documents[rows.chunks != 0] if rows.header.dead else rows.documents
    has_row = np.zeros(int(live.max(initial=0)) + 1, np.bool_)
    has_row[live] = True
    return frozenset(document for document in documents if 0 < document < len(has_row) and has_row[document])


def _has_ordered_dimensions(cells: "NDArray[np.int8]") -> bool:
    """Return whether most of the vectors is in their first dimensions.

    A single query does not tell: one of unusual words may have less there, and took seconds on a million rows.
    """
    import numpy as np

    squares = np.square(cells[:: max(1, len(cells) // _ORDER_SAMPLE_ROWS)].astype(np.int32)).sum(0)
    share = int(squares[:ROUGH_DIMENSIONS].sum()) / max(1, int(squares.sum()))
    return share >= max(_ORDERED_SHARE, _ORDERED_EXCESS * ROUGH_DIMENSIONS / len(squares))


def _highest(scores: "Vectors", count: int) -> "NDArray[np.intp]":
    """Return the positions of the highest scores, in no order.

    Only those that a sample does not rule out are compared with each other: 0.9 instead of 10 ms for a million.
    """
    import numpy as np

    if len(scores) <= count:
        return np.arange(len(scores))
    sample = scores[::_SAMPLE_STEP]
    passed = min(len(sample), count * 5 // 4 // _SAMPLE_STEP + 20)
    positions = np.flatnonzero(scores >= np.partition(sample, -passed)[-passed])
    if len(positions) < count:
        positions = np.arange(len(scores))
    return positions[np.argpartition(-scores[positions], count - 1)[:count]]


def _dot_products(
    cells: "NDArray[np.int8]", query: "Vectors", is_wanted: "NDArray[np.bool_] | None" = None
) -> "Vectors":
    """Return the dot product of each row with a vector, before scaling; 0 in blocks without a row that is wanted.

    The files of a folder are often of one kind, and so are most blocks.
    """
    import numpy as np

    products = np.zeros(len(cells), np.float32)

    def fill(first: int, end: int, step: int) -> None:
        floats = np.empty((step, len(query)), np.float32)
        for start in range(first, end, step):
            stop = min(start + step, end)
            if is_wanted is None or is_wanted[start:stop].any():
                np.copyto(floats[: stop - start], cells[start:stop])
                np.dot(floats[: stop - start], query, out=products[start:stop])

    if len(cells) < PARALLEL_ROWS:
        fill(0, len(cells), _BLOCK_ROWS)
    else:
        middle = len(cells) // 2
        block_rows = max(1, _PARALLEL_BLOCK_CELLS // len(query))
        helper = threading.Thread(target=fill, args=(middle, len(cells), block_rows))
        helper.start()
        fill(0, middle, block_rows)
        helper.join()
    return products
