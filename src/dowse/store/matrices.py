"""The vector matrices of one store and the search in them. Each follows the catalog when it is next used."""

import contextlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.errors import NotWritable, StoreBusy
from dowse.platform import Lock
from dowse.store import matrix
from dowse.store.catalog import Catalog, Reached
from dowse.store.matrix import KIND_NUMBERS, ROW_HEAD_BYTES, VIEW_SHIFT, MatrixHeader, open_matrix
from dowse.store.storage_layout import READ_WAIT_SECONDS
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
    start = known.header.rows if known else 0
    heads = np.frombuffer(np.ascontiguousarray(raw[start:, :ROW_HEAD_BYTES]), _ROW_HEAD)
    cells = np.asarray(raw)[:, ROW_HEAD_BYTES:].view(np.int8)  # slices of a memmap cost more than their search

    def join(old: "NDArray[Any] | None", new: "NDArray[Any]") -> "NDArray[Any]":
        return np.array(new) if old is None else np.concatenate((old, new))

    return MatrixRows(
        header,
        inode,
        join(known and known.chunks, heads["chunk"]),
        join(known and known.documents, heads["document"]),
        join(known and known.kinds, heads["kind"]),
        join(known and known.scales, heads["scale"]),
        join(known and known.rough, cells[start:, :ROUGH_DIMENSIONS]),
        cells,
        _has_ordered_dimensions(cells),
    )


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


class Matrices:
    """The matrices of a store, one per encoder."""

    def __init__(self, folder: Path, catalog: Catalog, lock: Lock) -> None:
        self._folder, self._catalog, self._lock = folder, catalog, lock
        self._rows: dict[str, MatrixRows] = {}
        self._headers: dict[str, tuple[object, matrix.MatrixHeader]] = {}
        """The headers that were found to be current, each with the states of the catalog and of the file."""

    def nearest(
        self,
        encoder: str,
        vector: "Vectors",
        limit: int,
        *,
        view: View = View.BOTH,
        kind: Kind | None = None,
        among: frozenset[int] | None = None,
    ) -> list[Scored]:
        """Return the chunks with the highest dot product, best first."""
        rows = self._current_rows(encoder)
        if rows is None or rows.header.dimensions != len(vector) or limit <= 0:
            return []
        return nearest(rows, vector, limit, view=view, kind=kind, among=among)

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        """Return those of the documents that have a vector of an encoder."""
        rows = self._current_rows(encoder) if documents else None
        return encoded_documents(rows, documents) if rows else frozenset()

    def count(self, encoder: str, view: View, chunks: dict[View, int]) -> int:
        """Return the number of chunks of a view that have a vector of an encoder; `chunks` counts those of each view.

        The rows are counted only where a part of the chunks is encoded and the views differ.
        """
        header = self._current_header(encoder)
        encoded = header.rows - header.dead if header else 0
        if encoded == chunks[View.BOTH]:
            return chunks[view]
        if not encoded or chunks[view] == chunks[View.BOTH]:
            return encoded
        rows = self._current_rows(encoder)
        return count_rows(rows, view) if rows else 0

    def release_memory(self) -> None:
        """Release the cached rows."""
        self._rows.clear()

    # Maintenance; the caller holds the write lock where files are removed

    def forget(self, encoder: str) -> None:
        """Remove the matrix of an encoder."""
        self._rows.pop(encoder, None)
        matrix.matrix_file(self._folder, encoder).unlink(missing_ok=True)

    def problems(self) -> list[str]:
        """Return how the matrices differ from the catalog."""
        return [problem for file in matrix.matrix_files(self._folder) for problem in self._problems_of(file)]

    def repair(self) -> None:
        """Remove matrices with problems; each is written anew when it is next used."""
        for file in matrix.matrix_files(self._folder):
            if self._problems_of(file):
                file.unlink()

    def remove_unknown(self) -> None:
        """Remove matrices of transactions that the catalog does not know.

        An older copy of the catalog gives the same ids to other chunks. It must not reach the number of such a
        matrix, which would then count as its own.
        """
        for file in matrix.matrix_files(self._folder):
            header = matrix.read_header(file)  # before the catalog, whose number only grows
            if header and header.catalog == self._catalog.id and header.sequence > self._catalog.sequence():
                with contextlib.suppress(OSError):  # where nothing can be written, no transaction can follow
                    file.unlink()

    def remove_unfinished(self) -> None:
        """Remove matrices that a killed process did not finish."""
        for file in matrix.unfinished_files(self._folder):
            file.unlink(missing_ok=True)

    def _problems_of(self, file: Path) -> list[str]:
        header = matrix.read_header(file)
        if header is None:
            return [f"{file.name} is damaged"]
        if header.catalog != self._catalog.id:
            return [f"{file.name} belongs to another catalog"]
        if header.sequence != self._catalog.sequence():
            return []  # it follows when it is next used
        expected = {row.chunk_id: row.vector for row in self._catalog.vectors(header.encoder)}
        return [] if matrix.live_rows(file) == expected else [f"{file.name} differs from the catalog"]

    # Following the catalog

    def _current_rows(self, encoder: str) -> MatrixRows | None:
        """Return the rows that a search reads, cached while the matrix and its header stay the same."""
        header, known = self._current_header(encoder), self._rows.get(encoder)
        if header is None or not header.rows:
            return None
        file = matrix.matrix_file(self._folder, encoder)
        if known is None or known.header != header or known.inode != matrix.inode_of(file):
            known = load_rows(file, known)
            if known is None or known.header[:2] != (self._catalog.id, encoder):  # another process has just replaced it
                self._rows.pop(encoder, None)
                return None
            self._rows[encoder] = known
        return known

    def _current_header(self, encoder: str) -> matrix.MatrixHeader | None:
        """Return the header of the matrix, brought up to date if it can be; None when it has no vectors."""
        file = matrix.matrix_file(self._folder, encoder)
        states = self._catalog.state(), matrix.state_of(file)
        known, header = self._headers.get(encoder, (None, None))
        if None not in states and states == known:
            return header
        header = matrix.read_header(file)
        if header is not None and header[:2] != (self._catalog.id, encoder):
            header = None
        if header is not None and header.stamp and header.sequence == self._catalog.sequence():
            self._headers[encoder] = states, header
            return header
        if header is None and self._catalog.dimensions(encoder) is None:
            return None  # nothing to follow, and no lock needed
        try:
            with self._lock.held(READ_WAIT_SECONDS):
                return self._follow(encoder)
        except (StoreBusy, NotWritable):
            return header

    def _follow(self, encoder: str) -> matrix.MatrixHeader | None:
        file = matrix.matrix_file(self._folder, encoder)
        dimensions = self._catalog.dimensions(encoder)
        if dimensions is None:
            return None
        header = matrix.read_header(file)
        fresh = matrix.MatrixHeader(self._catalog.id, encoder, dimensions, 0, 0, self._catalog.sequence())
        is_usable = header and header.stamp and header.dead <= header.rows * matrix.MAX_DEAD_SHARE
        reached = Reached(header.catalog, header[1:3], header.sequence) if header and is_usable else None
        changes = self._catalog.missing_changes(reached, fresh[1:3], has_vectors=True)
        if header is None or changes is None:
            return matrix.write_matrix(file, fresh, self._catalog.vectors(encoder))
        if header.sequence == changes.sequence:
            return header
        rows = {row.chunk_id: row for row in self._catalog.vectors_of_documents(encoder, changes.added)}
        rows |= {row.chunk_id: row for row in self._catalog.vectors_of_chunks(encoder, changes.encoded)}
        return matrix.update_matrix(
            file, header._replace(sequence=changes.sequence), set(changes.removed), list(rows.values())
        )
