"""Text to chunks with lines and symbols."""

from dowse.types import Chunk, Kind

__all__ = ["MAX_CHUNKS", "VERSION", "chunk"]

VERSION = 1
"""To be raised whenever the same text would be cut differently: stored indexes are then cut anew."""

MAX_CHUNKS = 1000
"""How many chunks of one file are kept, so that no file floods the index."""


def chunk(text: str, language: str, kind: Kind) -> tuple[tuple[Chunk, ...], bool]:
    """Cut a text into chunks; also whether it had more than are kept."""
    # 70 ms, which only indexing pays for.
    from dowse.chunking.dispatch import cut

    return cut(text, language, kind, MAX_CHUNKS)
