"""The vector matrix: one file an encoder, derived from the catalog, searched where it lies.

A header says of which catalog and encoder it is a copy and which transaction it has reached.
Rows are appended; a row whose chunk is gone gets the chunk id 0 and never matches.
"""

import json
import os
import struct
import zlib
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from dowse.system import disk_errors
from dowse.types import Kind, Scored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.types import Vectors

    Ids = NDArray[np.int64]

FORMAT = 1
_HEADER_BYTES = 512
_HEADER_FRAME = struct.Struct("<8sII")
_MAGIC = b"dowse-mx"
_PREFIX = struct.Struct("<qqB7x")
"""Before each vector: the ids of its chunk and document, its kind, and padding that keeps rows aligned."""
_KINDS: dict[Kind, int] = {"code": 1, "docs": 2}

DEAD_SHARE = 0.3
"""With more dead rows than this the matrix is written anew: a search reads them all."""


class Row(NamedTuple):
    """A chunk's vector, as little-endian 32-bit floats."""

    chunk_id: int
    document_id: int
    kind: Kind
    vector: bytes


class Header(NamedTuple):
    """What the matrix says of itself."""

    catalog: str
    encoder: str
    dimensions: int
    rows: int
    dead: int
    sequence: int
    format: int = FORMAT


def matrix_file(folder: Path, encoder: str) -> Path:
    """Where the matrix of an encoder lies."""
    return folder / f"vectors-{blake2b(encoder.encode(), digest_size=8).hexdigest()}.matrix"


def read_header(file: Path) -> Header | None:
    """The header, or None when the file is missing, damaged or not a matrix."""
    try:
        with file.open("rb") as stream:
            magic, length, checksum = _HEADER_FRAME.unpack(stream.read(_HEADER_FRAME.size))
            body = stream.read(length) if length <= _HEADER_BYTES else b""
        if magic != _MAGIC or zlib.crc32(body) != checksum:
            return None
        header = Header(**json.loads(body))
    except (OSError, ValueError, TypeError, struct.error):
        return None
    is_whole = file.stat().st_size >= _HEADER_BYTES + header.rows * _row_bytes(header.dimensions)
    return header if is_whole and header.format == FORMAT else None


def write_matrix(file: Path, header: Header, rows: Iterable[Row]) -> Header:
    """Write a matrix anew, beside the old one until it is complete."""
    temporary = file.with_suffix(".tmp")
    with disk_errors(file):
        with temporary.open("wb") as stream:
            stream.write(bytes(_HEADER_BYTES))
            count = 0
            for row in rows:
                stream.write(_packed(row))
                count += 1
            final = header._replace(rows=count, dead=0)
            stream.seek(0)
            stream.write(_framed(final))
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    return final


def follow(file: Path, header: Header, removed_documents: set[int], added: Sequence[Row]) -> Header:
    """Bring a matrix to the transaction in `header`: rows first, then the header that counts them."""
    with disk_errors(file):
        dead = header.dead + _bury(file, header, removed_documents, {row.chunk_id for row in added})
        with file.open("r+b") as stream:
            stream.seek(_HEADER_BYTES + header.rows * _row_bytes(header.dimensions))
            stream.writelines(_packed(row) for row in added)
            stream.flush()
            os.fsync(stream.fileno())
            final = header._replace(rows=header.rows + len(added), dead=dead)
            stream.seek(0)
            stream.write(_framed(final))
            stream.flush()
            os.fsync(stream.fileno())
    return final


def nearest(file: Path, header: Header, vector: "Vectors", limit: int, kind: Kind | None) -> list[Scored]:
    """The live rows with the highest dot product, best first; ties by chunk."""
    import numpy as np

    if not header.rows or limit <= 0:
        return []
    cells, ids, documents, kinds = _mapped(file, header)
    scores = cells[:, _PREFIX.size // 4 :] @ vector.astype(np.float32)
    scores[ids == 0] = -np.inf
    if kind is not None:
        scores[kinds != _KINDS[kind]] = -np.inf
    best = np.argpartition(-scores, min(limit, len(scores)) - 1)[:limit]
    found = [Scored(int(ids[row]), int(documents[row]), float(scores[row])) for row in best if scores[row] > -np.inf]
    return sorted(found, key=lambda hit: (-hit.score, hit.id))


def live_rows(file: Path, header: Header) -> dict[int, bytes]:
    """Every chunk in the matrix with its vector."""
    if not header.rows:
        return {}
    cells, ids, _, _ = _mapped(file, header)
    return {int(ids[row]): cells[row, _PREFIX.size // 4 :].tobytes() for row in range(header.rows) if ids[row]}


def _bury(file: Path, header: Header, documents: set[int], chunks: set[int]) -> int:
    """Mark rows as dead by their document or chunk; how many there were."""
    import numpy as np

    if not header.rows or not (documents or chunks):
        return 0
    raw = _raw(file, header, "r+")
    ids = raw[:, :16].copy().view("<i8")
    doomed = np.isin(ids[:, 1], list(documents)) | np.isin(ids[:, 0], list(chunks))
    doomed &= ids[:, 0] != 0
    raw[doomed, :8] = 0
    raw.flush()
    return int(doomed.sum())


def _mapped(file: Path, header: Header) -> "tuple[Vectors, Ids, Ids, NDArray[np.uint8]]":
    """The rows as floats, the ids of their chunks and documents, their kinds."""
    import numpy as np

    raw = _raw(file, header, "r")
    ids = raw[:, :16].copy().view("<i8")
    return raw.view(np.float32), ids[:, 0], ids[:, 1], raw[:, 16]


def _raw(file: Path, header: Header, mode: Literal["r", "r+"]) -> "np.memmap[tuple[int, int], np.dtype[np.uint8]]":
    import numpy as np

    shape = (header.rows, _row_bytes(header.dimensions))
    return np.memmap(file, dtype=np.uint8, mode=mode, offset=_HEADER_BYTES, shape=shape)


def _row_bytes(dimensions: int) -> int:
    return _PREFIX.size + 4 * dimensions


def _packed(row: Row) -> bytes:
    return _PREFIX.pack(row.chunk_id, row.document_id, _KINDS[row.kind]) + row.vector


def _framed(header: Header) -> bytes:
    body = json.dumps(header._asdict()).encode()
    frame = _HEADER_FRAME.pack(_MAGIC, len(body), zlib.crc32(body)) + body
    if len(frame) > _HEADER_BYTES:
        raise ValueError(f"the encoder's name is too long: {header.encoder[:60]}…")
    return frame.ljust(_HEADER_BYTES, b"\0")
