"""The messages between a server and its encoding process: one JSON object a line, vectors in base64."""

import base64
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dowse.types import Vectors

QUERY_CHARACTERS = 2000
"""Only the beginning of a longer query is encoded. No encoder reads more than this."""


def encode_message(message: dict[str, Any]) -> bytes:
    """Return a message as a line of its own, even after output of a library."""
    return f"\n{json.dumps(message)}\n".encode()


def parse_message(line: bytes) -> dict[str, Any] | None:
    """Return the message in a line; None for other output, such as the error of a process that dies."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def vector_to_text(vector: "Vectors") -> str:
    """Return a vector as messages contain it."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


def vector_from_text(text: str) -> "Vectors":
    """Return the vector in a message."""
    import numpy as np

    return np.frombuffer(base64.b64decode(text), "<f4")
