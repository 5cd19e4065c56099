"""Vectors in eight bits a dimension, behind one scale that makes them floats again."""

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.types import Vectors

SCALE = struct.Struct("<f")


def pack_vectors(vectors: "Vectors") -> list[bytes]:
    """Each row of its own."""
    import numpy as np

    highest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scales = np.where(highest > 0, highest / 127, 1.0).astype("<f4")
    cells = np.rint(vectors / scales).astype(np.int8)
    return [scale.tobytes() + row.tobytes() for scale, row in zip(scales, cells, strict=True)]


def unpack_vector(vector: bytes) -> "Vectors":
    """The floats that were packed, as near as eight bits are."""
    import numpy as np

    (scale,) = SCALE.unpack_from(vector)
    return np.frombuffer(vector, np.int8, offset=SCALE.size).astype(np.float32) * np.float32(scale)


def dimensions_of(vector: bytes) -> int:
    """How many dimensions a packed vector has."""
    return len(vector) - SCALE.size
