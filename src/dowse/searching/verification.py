"""Verification of a hit before it is shown: its file must still have the indexed content."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from dowse.errors import PathRefused
from dowse.protocols import Searchable
from dowse.store.catalog_rows import text_hash
from dowse.types import Stat, StoredChunk, StoredDocument

ReadBytes = Callable[[str], tuple[bytes, Stat]]
"""Reads a file of the project, if the policy allows it; raises OSError or PathRefused otherwise."""


@dataclass(frozen=True, slots=True)
class Current:
    """A document whose file is unchanged since it was indexed, with its text in UTF-8."""

    document: StoredDocument
    data: bytes

    def has(self, chunk: StoredChunk) -> bool:
        """Return whether the text still has a chunk at its position."""
        return text_hash(self.data[chunk.start_byte : chunk.end_byte]) == chunk.text_hash


@dataclass(frozen=True, slots=True)
class Outdated:
    """A document whose file is gone or has changed since it was indexed."""

    document: StoredDocument
    is_gone: bool


def verify(
    store: Searchable, read: ReadBytes, document: StoredDocument, *, compares_content: bool = False
) -> Current | Outdated:
    """Read the file of a document and return its text, if it is the indexed one.

    With the same stat, the content is taken as unchanged unless the caller asks for a comparison, and the bytes of a
    chunk are compared before they are shown. With another stat, the whole content is compared.
    """
    try:
        data, stat = read(document.path)
    except (OSError, PathRefused):
        return Outdated(document, is_gone=True)
    if (compares_content or stat != document.stat) and hashlib.sha256(data).digest() != document.content_hash:
        return Outdated(document, is_gone=False)
    if document.is_verbatim:
        return Current(document, data[document.text_start :])
    text = store.converted_text(document.id)
    return Outdated(document, is_gone=False) if text is None else Current(document, text.encode())
