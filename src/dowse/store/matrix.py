"""The vector matrix: one file per encoder, derived from the catalog, and its rows in memory.

The file has a header and a row for each chunk, and is written as a whole. The header names the catalog, the encoder and
the transaction that the rows are of; what has changed since is in memory. It also holds the modification time that the
file was given. If the file has another one, something else has written to it, and it is made anew: a damaged row would
change the order of the hits without a word.
"""

import json
import os
import struct
import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from dowse.encoding.packing import SCALE
from dowse.system.platform import disk_errors
from dowse.types import Kind, View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Records = NDArray[np.void]

FORMAT = 2
_HEADER_BYTES = 512
_ROW_PREFIX = struct.Struct("<qqB3x")
"""Precedes each vector: the ids of its chunk and document, and the number of its kind and views."""
KIND_NUMBERS: dict[Kind, int] = {"code": 1, "docs": 2}
VIEW_SHIFT = 2
"""The bits of the kind come first, then those of the views."""

_STAMP_NS = 2_000_000_000
"""Stamps are multiples of this, so that every file system can hold them."""
_BLOCK_ROWS = 10_000
"""Rows that are written at once."""

ROUGH_DIMENSIONS = 96

_ORDER_SAMPLE_ROWS = 1000
"""Rows from which it is seen whether an encoder orders its dimensions."""
_ORDERED_SHARE, _ORDERED_EXCESS = 0.5, 1.5
"""The share of the squares that the first dimensions of such an encoder have at least: half, and half as much again as
without an order, which matters for vectors of few dimensions. The table has 0.69 of 256, the model 0.70 of 384."""


class VectorRow(NamedTuple):
    """The packed vector of a chunk."""

    chunk_id: int
    document_id: int
    kind: Kind
    views: int
    vector: bytes


class MatrixHeader(NamedTuple):
    """The header of a matrix."""

    catalog: str
    encoder: str
    dimensions: int
    sequence: int
    counts: Sequence[int] = (0, 0, 0)
    """The number of rows of the project, of the documents, and of all rows."""
    stamp: int = 0
    """The modification time of the file in nanoseconds; 0 in a header that was read from a file with another one."""
    format: int = FORMAT


class MatrixRows(NamedTuple):
    """Rows by columns. The columns that every search reads are in memory, 117 bytes per row; the cells may stay in the file."""

    records: "Records"
    chunks: "NDArray[np.int64]"
    """0 for a row whose chunk was removed or has another vector."""
    documents: "NDArray[np.int64]"
    kinds: "NDArray[np.uint8]"
    """The number of the kind and of the views."""
    scales: "NDArray[np.float32]"
    rough: "NDArray[np.int8]"
    """The first dimensions."""
    cells: "NDArray[np.int8]"
    has_ordered_dimensions: bool
    """Whether most of the vectors is in their first dimensions: then the encoder orders them by importance."""


class Matrix(NamedTuple):
    """The vectors of an encoder: the rows of the file, and those that were added since it was written."""

    header: MatrixHeader
    stored: MatrixRows
    added: MatrixRows

    @property
    def parts(self) -> tuple[MatrixRows, MatrixRows]:
        """The rows of both."""
        return self.stored, self.added

    @property
    def changed_rows(self) -> int:
        """The number of rows that the file lacks, and of those that it has in vain."""
        import numpy as np

        return len(self.added.chunks) + int(np.count_nonzero(self.stored.chunks == 0))

    def with_changes(self, sequence: int, removed_documents: Iterable[int], added: Iterable[VectorRow]) -> "Matrix":
        """Return the matrix as it is after changes."""
        import numpy as np

        new = _records(added, self.header.dimensions)
        removed = list(removed_documents)

        def without(rows: MatrixRows) -> MatrixRows:
            replaced = np.isin(rows.documents, removed) | np.isin(rows.chunks, new["chunk"])
            return rows._replace(chunks=np.where(replaced, 0, rows.chunks))

        later = np.concatenate([*_live_blocks(without(self.added)), new])
        parts = without(self.stored), by_columns(later)
        counts = np.sum([_count_views(rows.kinds[rows.chunks != 0]) for rows in parts], axis=0)
        return Matrix(self.header._replace(sequence=sequence, counts=counts.tolist()), *parts)

    def live_blocks(self) -> "Iterator[Records]":
        """Yield all rows, some at a time."""
        for rows in self.parts:
            yield from _live_blocks(rows)

    def vectors(self) -> dict[int, bytes]:
        """Return the packed vector of every chunk, by chunk id."""
        return {int(row["chunk"]): row.tobytes()[_ROW_PREFIX.size :] for rows in self.live_blocks() for row in rows}


def matrix_file(folder: Path, encoder: str) -> Path:
    """Return the path of the matrix of an encoder."""
    return folder / f"vectors-{blake2b(encoder.encode(), digest_size=8).hexdigest()}.matrix"


def matrix_files(folder: Path) -> list[Path]:
    """Return the matrix files of all encoders."""
    return sorted(folder.glob("vectors-*.matrix"))


def read_header(file: Path) -> MatrixHeader | None:
    """Return the header of a file; None when the file is missing, damaged or not a matrix."""
    try:
        with file.open("rb") as stream:
            return _read_header(stream)
    except OSError:
        return None


def load_matrix(file: Path) -> Matrix | None:
    """Map a file into memory; None when it is missing, damaged or not a matrix."""
    import numpy as np

    try:
        with file.open("rb") as stream:
            header = _read_header(stream)
            if header is None:
                return None
            kind, count = _record_type(header.dimensions), header.counts[-1]
            mapped = np.memmap(stream, kind, "r", _HEADER_BYTES, (count,)) if count else np.empty(0, kind)
    except (OSError, ValueError):
        return None
    stored = by_columns(np.asarray(mapped))  # slices of a memmap cost more than their search
    return Matrix(header, stored, by_columns(np.empty(0, kind)))


def empty_matrix(header: MatrixHeader) -> Matrix:
    """Return a matrix without rows."""
    nothing = by_columns(_records((), header.dimensions))
    return Matrix(header, nothing, nothing)


def _read_header(stream: IO[bytes]) -> MatrixHeader | None:
    try:
        header = MatrixHeader(**json.loads(stream.read(_HEADER_BYTES)))
        size = _HEADER_BYTES + header.counts[-1] * (_ROW_PREFIX.size + SCALE.size + header.dimensions)
    except (ValueError, TypeError, LookupError):
        return None
    seen = os.fstat(stream.fileno())
    if header.format != FORMAT or seen.st_size != size:
        return None
    return header if seen.st_mtime_ns == header.stamp else header._replace(stamp=0)


def write_matrix(file: Path, header: MatrixHeader, blocks: "Iterable[Records]") -> None:
    """Write a new matrix beside the old one, and replace the old one when it is complete."""
    import numpy as np

    temporary, counts = file.with_suffix(".tmp"), np.zeros(3, np.int64)
    with disk_errors(file):
        with temporary.open("wb") as stream:
            stream.write(bytes(_HEADER_BYTES))
            for records in blocks:
                stream.write(records.tobytes())
                counts += _count_views(records["kind"])
            stamp = time.time_ns() // _STAMP_NS * _STAMP_NS
            stream.seek(0)
            final = header._replace(counts=counts.tolist(), stamp=stamp)
            stream.write(json.dumps(final._asdict()).encode().ljust(_HEADER_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        os.utime(temporary, ns=(stamp, stamp))
        temporary.replace(file)


def record_blocks(rows: Iterable[VectorRow], dimensions: int) -> "Iterator[Records]":
    """Yield rows as records, some at a time."""
    left = iter(rows)
    while len(block := _records(islice(left, _BLOCK_ROWS), dimensions)):
        yield block


def _records(rows: Iterable[VectorRow], dimensions: int) -> "Records":
    import numpy as np

    packed = (
        _ROW_PREFIX.pack(row.chunk_id, row.document_id, KIND_NUMBERS[row.kind] | row.views << VIEW_SHIFT) + row.vector
        for row in rows
    )
    return np.frombuffer(b"".join(packed), _record_type(dimensions))


def _record_type(dimensions: int) -> "np.dtype[np.void]":
    import numpy as np

    columns: list[Any] = [("chunk", "<i8"), ("document", "<i8"), ("kind", "u1"), ("padding", "V3"), ("scale", "<f4")]
    return np.dtype([*columns, ("cells", "i1", (dimensions,))])


def by_columns(records: "Records") -> MatrixRows:
    """Return rows by columns."""
    import numpy as np

    cells = records["cells"]
    chunks, documents, kinds, scales = (np.array(records[name]) for name in ("chunk", "document", "kind", "scale"))
    rough, is_ordered = np.array(cells[:, :ROUGH_DIMENSIONS]), _has_ordered_dimensions(cells)
    return MatrixRows(records, chunks, documents, kinds, scales, rough, cells, is_ordered)


def _count_views(kinds: "NDArray[np.uint8]") -> "NDArray[np.int64]":
    import numpy as np

    return np.array([np.count_nonzero(kinds & (view << VIEW_SHIFT)) for view in (1, 2, View.BOTH)])


def _live_blocks(rows: MatrixRows) -> "Iterator[Records]":
    for start in range(0, len(rows.chunks), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        yield rows.records[block][rows.chunks[block] != 0]


def _has_ordered_dimensions(cells: "NDArray[np.int8]") -> bool:
    """Return whether most of the vectors is in their first dimensions.

    A single query does not tell: one of unusual words may have less there, and took seconds on a million rows.
    """
    import numpy as np

    squares = np.square(cells[:: max(1, len(cells) // _ORDER_SAMPLE_ROWS)].astype(np.int32)).sum(0)
    share = int(squares[:ROUGH_DIMENSIONS].sum()) / max(1, int(squares.sum()))
    return share >= max(_ORDERED_SHARE, _ORDERED_EXCESS * ROUGH_DIMENSIONS / len(squares))
