"""Text to chunks with lines and symbols."""

from dowse.chunking.dispatch import MAX_CHUNKS, VERSION, chunk

__all__ = ["MAX_CHUNKS", "VERSION", "chunk"]
