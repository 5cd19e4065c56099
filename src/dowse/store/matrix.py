"""The vector matrix: one file per encoder, derived from the catalog, and its rows in memory.

The header names the catalog, the encoder and the transaction that the matrix has reached.
Rows are appended; the row of a removed chunk gets the chunk id 0 and never matches.
It also holds the modification time that the file was given after the last write. If the file has another one, something
else has written to it, and it is made anew: a damaged row would change the order of the hits without a word.
"""

import json
import os
import struct
import time
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from dowse.encoding.packing import SCALE
from dowse.system.platform import disk_errors
from dowse.types import Kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Raw = np.memmap[tuple[int, int], np.dtype[np.uint8]]

FORMAT = 1
_HEADER_BYTES = 512
_HEADER_FRAME = struct.Struct("<8sII")
_MAGIC = b"dowse-mx"
_UNFINISHED = ".tmp"
ROW_PREFIX = struct.Struct("<qqB3x")
"""Precedes each vector: the ids of its chunk and document, and the number of its kind and views."""
ROW_HEAD_BYTES = ROW_PREFIX.size + SCALE.size
"""Bytes of a row before its eight bits per dimension."""
_DEAD_CHUNK = bytes(8)
KIND_NUMBERS: dict[Kind, int] = {"code": 1, "docs": 2}
VIEW_SHIFT = 2
"""The bits of the kind come first, then those of the views."""

_STAMP_NS = 2_000_000_000
"""Stamps are multiples of this, so that every file system can hold them."""

MAX_DEAD_SHARE = 0.3
"""With a larger share of dead rows the matrix is written anew, since a search reads them all."""


class VectorRow(NamedTuple):
    """The packed vector of a chunk."""

    chunk_id: int
    document_id: int
    kind: Kind
    views: int
    vector: bytes


class MatrixHeader(NamedTuple):
    """The header of a matrix file."""

    catalog: str
    encoder: str
    dimensions: int
    rows: int
    dead: int
    sequence: int
    stamp: int = 0
    """The modification time of the file in nanoseconds; 0 in a header that was read from a file with another one."""
    format: int = FORMAT


@lru_cache(maxsize=100)
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


def unfinished_files(folder: Path) -> list[Path]:
    """Return the files that a writer makes before it replaces a matrix."""
    return list(folder.glob(f"vectors-*{_UNFINISHED}"))


def open_matrix(file: Path) -> "tuple[MatrixHeader, Raw, int] | None":
    """Map a matrix into memory: its header, its rows, and the inode of the file. None when it has no rows or is damaged.

    The header and the rows are of the same file, even if another process replaces it by a shorter one in between.
    """
    import numpy as np

    try:
        with file.open("rb") as stream:
            header = _read_header(stream)
            if header is None or not header.rows:
                return None
            shape = (header.rows, _row_bytes(header.dimensions))
            rows = np.memmap(stream, dtype=np.uint8, mode="r", offset=_HEADER_BYTES, shape=shape)
            return header, rows, os.fstat(stream.fileno()).st_ino
    except (OSError, ValueError):
        return None


def _read_header(stream: IO[bytes]) -> MatrixHeader | None:
    try:
        magic, length, checksum = _HEADER_FRAME.unpack(stream.read(_HEADER_FRAME.size))
        body = stream.read(length) if length <= _HEADER_BYTES else b""
        if magic != _MAGIC or zlib.crc32(body) != checksum:
            return None
        header = MatrixHeader(**json.loads(body))
    except (ValueError, TypeError, struct.error):
        return None
    seen = os.fstat(stream.fileno())
    is_whole = seen.st_size >= _HEADER_BYTES + header.rows * _row_bytes(header.dimensions)
    if not is_whole or header.format != FORMAT:
        return None
    return header if seen.st_mtime_ns == header.stamp else header._replace(stamp=0)


def write_matrix(file: Path, header: MatrixHeader, rows: Iterable[VectorRow]) -> MatrixHeader:
    """Write a new matrix beside the old one, and replace the old one when it is complete."""
    temporary = file.with_suffix(_UNFINISHED)
    with disk_errors(file):
        with temporary.open("wb") as stream:
            stream.write(bytes(_HEADER_BYTES))
            count = 0
            for row in rows:
                stream.write(encode_row(row))
                count += 1
            final = header._replace(rows=count, dead=0, stamp=_new_stamp())
            _write_header(stream, final)
        os.utime(temporary, ns=(final.stamp, final.stamp))
        temporary.replace(file)
    return final


def update_matrix(
    file: Path, header: MatrixHeader, removed_documents: set[int], added: Sequence[VectorRow]
) -> MatrixHeader:
    """Bring a matrix to the transaction in `header`: write the rows first, then the header that counts them."""
    with disk_errors(file):
        dead = _find_rows(file, header, removed_documents, {row.chunk_id for row in added})
        with file.open("r+b") as stream:
            for row in dead:
                stream.seek(_HEADER_BYTES + row * _row_bytes(header.dimensions))
                stream.write(_DEAD_CHUNK)
            stream.seek(_HEADER_BYTES + header.rows * _row_bytes(header.dimensions))
            stream.writelines(encode_row(row) for row in added)
            stream.flush()
            os.fsync(stream.fileno())
            final = header._replace(rows=header.rows + len(added), dead=header.dead + len(dead), stamp=_new_stamp())
            _write_header(stream, final)
        os.utime(file, ns=(final.stamp, final.stamp))
    return final


def live_rows(file: Path) -> dict[int, bytes]:
    """Return the packed vector of every chunk in the matrix, by chunk id."""
    opened = open_matrix(file)
    if opened is None:
        return {}
    ids = opened[1][:, :8].copy().view("<i8")[:, 0]
    return {int(id_): row[ROW_PREFIX.size :].tobytes() for id_, row in zip(ids, opened[1], strict=True) if id_}


def _find_rows(file: Path, header: MatrixHeader, documents: set[int], chunks: set[int]) -> list[int]:
    """Return the numbers of the live rows of some documents and chunks."""
    import numpy as np

    opened = open_matrix(file) if header.rows and (documents or chunks) else None
    if opened is None:
        return []
    ids = opened[1][:, :16].copy().view("<i8")
    is_found = np.isin(ids[:, 1], list(documents)) | np.isin(ids[:, 0], list(chunks))
    found: list[int] = np.flatnonzero(is_found & (ids[:, 0] != 0)).tolist()
    return found


def _new_stamp() -> int:
    return time.time_ns() // _STAMP_NS * _STAMP_NS


def _write_header(stream: IO[bytes], header: MatrixHeader) -> None:
    stream.seek(0)
    stream.write(_encode_header(header))
    stream.flush()
    os.fsync(stream.fileno())


def _row_bytes(dimensions: int) -> int:
    return ROW_HEAD_BYTES + dimensions


def encode_row(row: VectorRow) -> bytes:
    """Return a row of a matrix."""
    number = KIND_NUMBERS[row.kind] | row.views << VIEW_SHIFT
    return ROW_PREFIX.pack(row.chunk_id, row.document_id, number) + row.vector


def _encode_header(header: MatrixHeader) -> bytes:
    body = json.dumps(header._asdict()).encode()
    frame = _HEADER_FRAME.pack(_MAGIC, len(body), zlib.crc32(body)) + body
    if len(frame) > _HEADER_BYTES:
        raise ValueError(f"the encoder's name is too long: {header.encoder[:60]}…")
    return frame.ljust(_HEADER_BYTES, b"\0")


ROUGH_DIMENSIONS = 96


_ORDER_SAMPLE_ROWS = 1000
"""Rows from which it is seen whether an encoder orders its dimensions."""


_ORDERED_SHARE, _ORDERED_EXCESS = 0.5, 1.5
"""The share of the squares that the first dimensions of such an encoder have at least: half, and half as much again as
without an order, which matters for vectors of few dimensions. The table has 0.69 of 256, the model 0.70 of 384."""


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


def _has_ordered_dimensions(cells: "NDArray[np.int8]") -> bool:
    """Return whether most of the vectors is in their first dimensions.

    A single query does not tell: one of unusual words may have less there, and took seconds on a million rows.
    """
    import numpy as np

    squares = np.square(cells[:: max(1, len(cells) // _ORDER_SAMPLE_ROWS)].astype(np.int32)).sum(0)
    share = int(squares[:ROUGH_DIMENSIONS].sum()) / max(1, int(squares.sum()))
    return share >= max(_ORDERED_SHARE, _ORDERED_EXCESS * ROUGH_DIMENSIONS / len(squares))
