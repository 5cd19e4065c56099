"""Before a hit is shown: is it still what the file says?"""

import hashlib
from dataclasses import dataclass
from typing import Protocol

from dowse.errors import PathRefused
from dowse.protocols import DocumentReader
from dowse.store.catalog_rows import text_hash
from dowse.types import Stat, StoredChunk, StoredDocument


class ReadBytes(Protocol):
    """Reads a file of the project now, behind the policy; OSError or PathRefused when it cannot."""

    def __call__(self, path: str) -> tuple[bytes, Stat]: ...


@dataclass(frozen=True, slots=True)
class Current:
    """A document whose file is as it was indexed, with its text in UTF-8."""

    document: StoredDocument
    data: bytes

    def has(self, chunk: StoredChunk) -> bool:
        """Whether the text still holds a chunk where it was."""
        return text_hash(self.data[chunk.start_byte : chunk.end_byte]) == chunk.text_hash


@dataclass(frozen=True, slots=True)
class Outdated:
    """A document whose file is gone or says something else by now."""

    document: StoredDocument
    is_gone: bool


def verify(store: DocumentReader, read: ReadBytes, document: StoredDocument) -> Current | Outdated:
    """A document's text, read now, if it is the one that was indexed.

    With the same stat the content is the same, and each chunk's bytes are compared before they
    are shown; with another stat the whole content is.
    """
    try:
        data, stat = read(document.path)
    except (OSError, PathRefused):
        return Outdated(document, is_gone=True)
    if stat != document.stat and hashlib.sha256(data).digest() != document.content_hash:
        return Outdated(document, is_gone=False)
    if document.is_verbatim:
        return Current(document, data[document.text_start :])
    text = store.converted_text(document.id)
    return Outdated(document, is_gone=False) if text is None else Current(document, text.encode())
