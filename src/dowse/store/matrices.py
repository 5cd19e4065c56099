"""The vector matrices of one store, and the search for the rows that are nearest to a vector.

Each matrix follows the catalog when it is next used.
"""

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import NotWritable, StoreBusy
from dowse.store import matrix
from dowse.store.catalog import Catalog, Changes, Reached
from dowse.store.matrix import (
    KIND_NUMBERS,
    ROUGH_DIMENSIONS,
    VIEW_SHIFT,
    MatrixRows,
    VectorRow,
    load_rows,
    with_changes,
)
from dowse.store.storage_layout import READ_WAIT_SECONDS
from dowse.system.platform import Lock
from dowse.types import Kind, Scored, View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.types import Vectors

    Raw = np.memmap[tuple[int, int], np.dtype[np.uint8]]

MAX_COPIED_ROWS = 100_000
"""Up to this many rows (26 MB with the table) are copied, to search them with rows that cannot be written just now."""


class Matrices:
    """The matrices of a store, one per encoder."""

    def __init__(self, folder: Path, catalog: Catalog, lock: Lock) -> None:
        self._folder, self._catalog, self._lock = folder, catalog, lock
        self._rows: dict[str, MatrixRows] = {}
        self._headers: dict[str, tuple[object, matrix.MatrixHeader]] = {}
        """The headers that were found to be current, each with the states of the catalog and of the file."""
        self._unwritten: dict[str, tuple[object, MatrixRows]] = {}
        """Rows with changes that could not be written, each with the states that it was made of."""

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
        if header and header.sequence != self._catalog.sequence():
            rows = self._current_rows(encoder)
            header = rows.header if rows else header
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
        self._unwritten.clear()

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
        if known is None or known.header != header or known.inode != (state_of(file) or (None,))[0]:
            known = load_rows(file, known)
            if known is None or known.header[:2] != (self._catalog.id, encoder):  # another process has just replaced it
                self._rows.pop(encoder, None)
                return None
            self._rows[encoder] = known
        return known if header.sequence == self._catalog.sequence() else self._with_unwritten(known)

    def _with_unwritten(self, rows: MatrixRows) -> MatrixRows | None:
        """Return rows with the changes that the catalog has and the file has not, because another process writes.

        Rows of a transaction that the catalog does not know may be of other chunks; all are read from the catalog then.
        """
        header = rows.header
        states = self._catalog.state(), header
        known, found = self._unwritten.get(header.encoder, (None, rows))
        if states == known:
            return found
        changes = self._catalog.missing_changes(
            Reached(header.catalog, header[1:3], header.sequence), header[1:3], has_vectors=True
        )
        if header.rows > MAX_COPIED_ROWS or (changes and changes.is_empty):
            return rows if changes else None
        removed = set(changes.removed if changes else rows.documents.tolist())
        added = self._changed_vectors(header.encoder, changes) if changes else self._catalog.vectors(header.encoder)
        found = with_changes(rows, removed, list(added))
        self._unwritten[header.encoder] = states, found
        return found

    def _current_header(self, encoder: str) -> matrix.MatrixHeader | None:
        """Return the header of the matrix, brought up to date if it can be; None when it has no vectors."""
        file = matrix.matrix_file(self._folder, encoder)
        states = self._catalog.state(), state_of(file)
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
            is_copied = header is not None and header.rows <= MAX_COPIED_ROWS
            with self._lock.held(0.0 if is_copied else READ_WAIT_SECONDS):
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
        return matrix.update_matrix(
            file,
            header._replace(sequence=changes.sequence),
            set(changes.removed),
            self._changed_vectors(encoder, changes),
        )

    def _changed_vectors(self, encoder: str, changes: Changes) -> list[VectorRow]:
        rows = {row.chunk_id: row for row in self._catalog.vectors_of_documents(encoder, changes.added)}
        rows |= {row.chunk_id: row for row in self._catalog.vectors_of_chunks(encoder, changes.encoded)}
        return list(rows.values())


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


def state_of(file: Path) -> tuple[int, ...] | None:
    """Return a value that is another one after every change of a file; None when it is missing."""
    try:
        seen = os.stat(file)  # noqa: PTH116 - half the time of Path.stat, twice in every search
    except OSError:
        return None
    return seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns
