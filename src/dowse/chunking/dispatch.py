"""Which way a text is cut."""

from itertools import islice

from dowse.chunking.spans import chunks_of
from dowse.chunking.splitter import CODE, DOCS, split
from dowse.types import Chunk, Kind

VERSION = 1
"""To be raised whenever the same text would be cut differently: stored indexes are then cut anew."""

MAX_CHUNKS = 1000
"""How many chunks of one file are kept, so that no file floods the index."""


def chunk(text: str, language: str, kind: Kind) -> tuple[tuple[Chunk, ...], bool]:
    """Cut a text into chunks; also whether it had more than are kept."""
    spans = split(text, DOCS if kind == "docs" else CODE)
    chunks = tuple(islice(chunks_of(text, spans), MAX_CHUNKS + 1))
    return chunks[:MAX_CHUNKS], len(chunks) > MAX_CHUNKS
