"""The vector matrices of one store, and the search for the rows that are nearest to a vector.

Each matrix follows the catalog when it is next used.
"""

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import NotWritable, StoreBusy
from dowse.store.catalog import Catalog
from dowse.store.matrix import (
    KIND_NUMBERS,
    ROUGH_DIMENSIONS,
    VIEW_SHIFT,
    Matrix,
    MatrixHeader,
    MatrixRows,
    empty_matrix,
    load_matrix,
    matrix_file,
    matrix_files,
    read_header,
    record_blocks,
    write_matrix,
)
from dowse.system.platform import Lock
from dowse.types import Kind, Scored, View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.types import Vectors

SMALL_ROWS = 10_000
"""A file of up to this many rows (4 MB with the model) is written after every change: that takes a few milliseconds."""
MAX_CHANGED_SHARE = 0.02
"""A larger file is written when this share of its rows has changed. Until then each process has the changes in memory."""


class Matrices:
    """The matrices of a store, one per encoder."""

    def __init__(self, folder: Path, catalog: Catalog, lock: Lock) -> None:
        self._folder, self._catalog, self._lock = folder, catalog, lock
        self._known: dict[str, tuple[object, tuple[int, ...] | None, Matrix]] = {}
        """The matrices in memory, each with the states of the catalog and of the file that it is of."""

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
        """Return the chunks with the highest dot product, best first; ties by chunk."""
        matrix = self._current(encoder)
        if matrix is None or matrix.header.dimensions != len(vector) or limit <= 0:
            return []
        import numpy as np

        found = []
        for rows in matrix.parts:
            is_wanted = (rows.kinds & (view << VIEW_SHIFT)) != 0
            is_wanted &= rows.chunks != 0
            if kind is not None:
                is_wanted &= (rows.kinds & KIND_NUMBERS[kind]) != 0
            if among is not None:
                is_wanted &= np.isin(rows.documents, np.fromiter(among, np.int64, len(among)))
            positions, scores = nearest_rows(rows, vector.astype(np.float32), limit, is_wanted)
            found.append((rows.chunks[positions], rows.documents[positions], scores))
        chunks, documents, scores = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.lexsort((chunks, -scores))[:limit]
        return list(map(Scored, chunks[order].tolist(), documents[order].tolist(), scores[order].tolist()))

    def encoded_documents(self, encoder: str, documents: frozenset[int]) -> frozenset[int]:
        """Return those of the documents that have a vector of an encoder."""
        matrix = self._current(encoder) if documents else None
        if matrix is None:
            return frozenset()
        import numpy as np

        # One flag for each id up to the highest takes a fiftieth of the time of sorting a million rows.
        encoded = np.concatenate([rows.documents[rows.chunks != 0] for rows in matrix.parts])
        has_row = np.zeros(int(encoded.max(initial=0)) + 1, np.bool_)
        has_row[encoded] = True
        return frozenset(document for document in documents if 0 < document < len(has_row) and has_row[document])

    def count(self, encoder: str, view: View) -> int:
        """Return the number of chunks of a view that have a vector of an encoder. A file that has all is not loaded."""
        header = None if encoder in self._known else read_header(matrix_file(self._folder, encoder))
        changes = None
        if header and self._is_own(header, encoder):
            changes = self._catalog.changes_since(header.sequence, has_vectors=True)
        if changes is None or not changes.is_empty:
            matrix = self._current(encoder)
            header = matrix.header if matrix else None
        return header.counts[view - 1] if header else 0

    def release_memory(self) -> None:
        """Release the cached rows."""
        self._known.clear()

    # Maintenance; the caller holds the write lock where files are removed

    def forget(self, encoder: str) -> None:
        """Remove the matrix of an encoder."""
        self._known.pop(encoder, None)
        matrix_file(self._folder, encoder).unlink(missing_ok=True)

    def problems(self) -> list[str]:
        """Return how the matrices differ from the catalog."""
        return [problem for file in matrix_files(self._folder) for problem in self._problems_of(file)]

    def repair(self) -> None:
        """Remove matrices with problems; each is written anew when it is next used."""
        for file in matrix_files(self._folder):
            if self._problems_of(file):
                file.unlink()

    def _problems_of(self, file: Path) -> list[str]:
        loaded = load_matrix(file)
        if loaded is None:
            return [f"{file.name} is damaged"]
        if loaded.header.catalog != self._catalog.id:
            return [f"{file.name} belongs to another catalog"]
        followed = self._followed(loaded)  # None is written anew when it is next used
        expected = {row.chunk_id: row.vector for row in self._catalog.vectors(loaded.header.encoder)}
        return [] if followed is None or followed.vectors() == expected else [f"{file.name} differs from the catalog"]

    # Following the catalog

    def _current(self, encoder: str) -> Matrix | None:
        """Return the matrix of an encoder at the catalog's last transaction; None when it has no vectors."""
        file = matrix_file(self._folder, encoder)
        state, file_state = self._catalog.state(), state_of(file)
        known_state, known_file_state, matrix = self._known.get(encoder, (None, None, None))
        if matrix and state is not None and (state, file_state) == (known_state, known_file_state):
            return matrix
        if matrix is None or file_state != known_file_state:
            loaded = load_matrix(file)
            matrix = loaded if loaded and self._is_own(loaded.header, encoder) else None
        matrix = self._followed(matrix) if matrix else None
        if matrix is None or _is_due(matrix):
            matrix, file_state = self._rewritten(file, encoder, matrix), state_of(file)
        if matrix is None:
            self._known.pop(encoder, None)
        else:
            self._known[encoder] = state, file_state, matrix
        return matrix

    def _is_own(self, header: MatrixHeader, encoder: str) -> bool:
        """Return whether a matrix is of this catalog, and nothing else has written to its file."""
        own = self._catalog.id, encoder, self._catalog.dimensions(encoder)
        return header.stamp != 0 and header[:3] == own

    def _followed(self, matrix: Matrix) -> Matrix | None:
        """Return a matrix with the changes since its transaction; None if the catalog does not know them."""
        header = matrix.header
        changes = self._catalog.changes_since(header.sequence, has_vectors=True)
        if changes is None:
            return None
        if changes.is_empty:
            return matrix._replace(header=header._replace(sequence=changes.sequence))
        rows = {row.chunk_id: row for row in self._catalog.vectors_of_documents(header.encoder, changes.added)}
        rows |= {row.chunk_id: row for row in self._catalog.vectors_of_chunks(header.encoder, changes.encoded)}
        return matrix.with_changes(changes.sequence, changes.removed, rows.values())

    def _rewritten(self, file: Path, encoder: str, matrix: Matrix | None) -> Matrix | None:
        """Return a matrix whose rows are all in its file, or in memory while nothing can be written.

        Without a matrix, the vectors are read from the catalog; None if there are none.
        """
        dimensions = self._catalog.dimensions(encoder)
        if dimensions is None:
            return None
        header = MatrixHeader(self._catalog.id, encoder, dimensions, self._catalog.sequence())
        rows = self._catalog.vectors(encoder)
        try:
            with self._lock.held(0.0):
                if matrix:
                    write_matrix(file, matrix.header, matrix.live_blocks())
                else:
                    write_matrix(file, header, record_blocks(rows, dimensions))
                return load_matrix(file)
        except (StoreBusy, NotWritable):
            return matrix or empty_matrix(header).with_changes(header.sequence, (), rows)


def _is_due(matrix: Matrix) -> bool:
    """Return whether a matrix has so many changes that its file is written."""
    rows = len(matrix.stored.chunks)
    return matrix.changed_rows > (MAX_CHANGED_SHARE * rows if rows > SMALL_ROWS else 0)


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
_SAMPLE_STEP = 61
"""One score of this many is looked at to find out which scores cannot be among the highest."""


def nearest_rows(
    rows: MatrixRows, query: "Vectors", limit: int, is_wanted: "NDArray[np.bool_]"
) -> "tuple[NDArray[np.intp], Vectors]":
    """Return the positions and the scores of the wanted rows with the highest dot product, in no order."""
    import numpy as np

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
    return positions[best], scores[best]


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

    products, is_parallel = np.zeros(len(cells), np.float32), len(cells) >= PARALLEL_ROWS
    step = max(1, _PARALLEL_BLOCK_CELLS // len(query)) if is_parallel else _BLOCK_ROWS

    def fill(first: int, end: int) -> None:
        floats = np.empty((step, len(query)), np.float32)
        for start in range(first, end, step):
            stop = min(start + step, end)
            if is_wanted is None or is_wanted[start:stop].any():
                np.copyto(floats[: stop - start], cells[start:stop])
                np.dot(floats[: stop - start], query, out=products[start:stop])

    if not is_parallel:
        fill(0, len(cells))
        return products
    middle = len(cells) // 2
    helper = threading.Thread(target=fill, args=(middle, len(cells)))
    helper.start()
    fill(0, middle)
    helper.join()
    return products


def state_of(file: Path) -> tuple[int, ...] | None:
    """Return a value that is another one after every change of a file; None when it is missing."""
    try:
        seen = os.stat(file)  # noqa: PTH116 - half the time of Path.stat, twice in every search
    except OSError:
        return None
    return seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns
