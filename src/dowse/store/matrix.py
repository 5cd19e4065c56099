"""The vector matrix: one file per encoder, derived from the catalog.

The header names the catalog, the encoder and the transaction that the matrix has reached.
Rows are appended; the row of a removed chunk gets the chunk id 0 and never matches.
"""

import json
import os
import struct
import zlib
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from dowse.encoding.packing import SCALE
from dowse.platform import disk_errors
from dowse.types import Kind

if TYPE_CHECKING:
    import numpy as np

    Raw = np.memmap[tuple[int, int], np.dtype[np.uint8]]

FORMAT = 2
_HEADER_BYTES = 512
_HEADER_FRAME = struct.Struct("<8sII")
_MAGIC = b"dowse-mx"
ROW_PREFIX = struct.Struct("<qqB3x")
"""Precedes each vector: the ids of its chunk and document, and its kind."""
ROW_HEAD_BYTES = ROW_PREFIX.size + SCALE.size
"""Bytes of a row before its eight bits per dimension."""
KIND_NUMBERS: dict[Kind, int] = {"code": 1, "docs": 2}

MAX_DEAD_SHARE = 0.3
"""With a larger share of dead rows the matrix is written anew, since a search reads them all."""


class VectorRow(NamedTuple):
    """The packed vector of a chunk."""

    chunk_id: int
    document_id: int
    kind: Kind
    vector: bytes


class MatrixHeader(NamedTuple):
    """The header of a matrix file."""

    catalog: str
    encoder: str
    dimensions: int
    rows: int
    dead: int
    sequence: int
    format: int = FORMAT


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
            magic, length, checksum = _HEADER_FRAME.unpack(stream.read(_HEADER_FRAME.size))
            body = stream.read(length) if length <= _HEADER_BYTES else b""
        if magic != _MAGIC or zlib.crc32(body) != checksum:
            return None
        header = MatrixHeader(**json.loads(body))
    except (OSError, ValueError, TypeError, struct.error):
        return None
    is_whole = file.stat().st_size >= _HEADER_BYTES + header.rows * _row_bytes(header.dimensions)
    return header if is_whole and header.format == FORMAT else None


def write_matrix(file: Path, header: MatrixHeader, rows: Iterable[VectorRow]) -> MatrixHeader:
    """Write a new matrix beside the old one, and replace the old one when it is complete."""
    temporary = file.with_suffix(".tmp")
    with disk_errors(file):
        with temporary.open("wb") as stream:
            stream.write(bytes(_HEADER_BYTES))
            count = 0
            for row in rows:
                stream.write(_encode_row(row))
                count += 1
            final = header._replace(rows=count, dead=0)
            stream.seek(0)
            stream.write(_encode_header(final))
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    return final


def update_matrix(
    file: Path, header: MatrixHeader, removed_documents: set[int], added: Sequence[VectorRow]
) -> MatrixHeader:
    """Bring a matrix to the transaction in `header`: write the rows first, then the header that counts them."""
    with disk_errors(file):
        dead = header.dead + _mark_dead(file, header, removed_documents, {row.chunk_id for row in added})
        with file.open("r+b") as stream:
            stream.seek(_HEADER_BYTES + header.rows * _row_bytes(header.dimensions))
            stream.writelines(_encode_row(row) for row in added)
            stream.flush()
            os.fsync(stream.fileno())
            final = header._replace(rows=header.rows + len(added), dead=dead)
            stream.seek(0)
            stream.write(_encode_header(final))
            stream.flush()
            os.fsync(stream.fileno())
    return final


def map_rows(file: Path, header: MatrixHeader) -> "Raw":
    """Map all rows of the file into memory, read-only."""
    return _map_rows(file, header, "r")


def live_rows(file: Path, header: MatrixHeader) -> dict[int, bytes]:
    """Return the packed vector of every chunk in the matrix, by chunk id."""
    if not header.rows:
        return {}
    raw = _map_rows(file, header, "r")
    ids = raw[:, :8].copy().view("<i8")[:, 0]
    return {int(ids[row]): raw[row, ROW_PREFIX.size :].tobytes() for row in range(header.rows) if ids[row]}


def _mark_dead(file: Path, header: MatrixHeader, documents: set[int], chunks: set[int]) -> int:
    """Mark the rows of some documents and chunks as dead; return how many there were."""
    import numpy as np

    if not header.rows or not (documents or chunks):
        return 0
    raw = _map_rows(file, header, "r+")
    ids = raw[:, :16].copy().view("<i8")
    is_dead = np.isin(ids[:, 1], list(documents)) | np.isin(ids[:, 0], list(chunks))
    is_dead &= ids[:, 0] != 0
    raw[is_dead, :8] = 0
    raw.flush()
    return int(is_dead.sum())


def _map_rows(file: Path, header: MatrixHeader, mode: Literal["r", "r+"]) -> "Raw":
    import numpy as np

    shape = (header.rows, _row_bytes(header.dimensions))
    return np.memmap(file, dtype=np.uint8, mode=mode, offset=_HEADER_BYTES, shape=shape)


def _row_bytes(dimensions: int) -> int:
    return ROW_HEAD_BYTES + dimensions


def _encode_row(row: VectorRow) -> bytes:
    return ROW_PREFIX.pack(row.chunk_id, row.document_id, KIND_NUMBERS[row.kind]) + row.vector


def _encode_header(header: MatrixHeader) -> bytes:
    body = json.dumps(header._asdict()).encode()
    frame = _HEADER_FRAME.pack(_MAGIC, len(body), zlib.crc32(body)) + body
    if len(frame) > _HEADER_BYTES:
        raise ValueError(f"the encoder's name is too long: {header.encoder[:60]}…")
    return frame.ljust(_HEADER_BYTES, b"\0")
