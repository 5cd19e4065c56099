"""What a server and its encoding process say to each other: a JSON object a line, vectors in base64."""

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from dowse.indexes.index import What
    from dowse.types import Vectors

QUERY_CHARACTERS = 2000
"""Of a longer question only the beginning is encoded: it is more than any encoder reads."""


class IndexKey(NamedTuple):
    """An index: the root it is of, and which of the two."""

    root: Path
    what: "What" = "project"


def as_line(message: dict[str, Any]) -> bytes:
    """A message as a line of its own, whatever a library has printed before it."""
    return f"\n{json.dumps(message)}\n".encode()


def message_in(line: bytes) -> dict[str, Any] | None:
    """The message in a line; None for what is none, as the last words of a process that dies."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def as_place(place: IndexKey) -> list[str]:
    """An index in a message."""
    return [str(place.root), place.what]


def place_in(said: list[Any]) -> IndexKey:
    """An index of a message."""
    return IndexKey(Path(said[0]), "documents" if said[1] == "documents" else "project")


def as_text(vector: "Vectors") -> str:
    """A vector in a message."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


def vector_in(text: str) -> "Vectors":
    """A vector of a message."""
    import numpy as np

    return np.frombuffer(base64.b64decode(text), "<f4")
