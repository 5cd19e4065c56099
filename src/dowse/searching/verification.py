"""Verification of a hit before it is shown: its file must still have the indexed content, and be text for a reader."""

import hashlib
import re
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


SAMPLE_BYTES = 16_000
MIN_BYTES = 500
"""A shorter file is shown, whatever it is."""
MAX_MEAN_LINE = 300
"""Mean length of the lines of code that somebody wrote; longer lines of prose have spaces."""
MIN_SPACE_SHARE = 0.08
MIN_LETTER_SHARE = 0.15
"""Share of letters in code and prose; tables of numbers have fewer."""
MAX_ENCODED_SHARE = 0.5
MIN_MEAN_WORD = 6
"""Characters for each space and line: code has 3 to 5, certificates that are indented by eight spaces have 8."""

_ENCODED_LINE = re.compile(rb"^[ \t\"']*[A-Za-z0-9+/=_-]{40,}[\"',;\\ \t\r]*$", re.MULTILINE)


def is_blob(data: bytes) -> bool:
    """Return whether a text is data rather than code or prose; its beginning and its end decide."""
    return len(data) >= MIN_BYTES and _is_data(data[:SAMPLE_BYTES]) and _is_data(data[-SAMPLE_BYTES:])


_KNOWN: dict[tuple[bytes, bool], bool] = {}
"""The answers about documents that were found lately, by their content: looking at those of a reply takes 0.7 ms."""
MAX_KNOWN = 10_000


def is_blob_document(document: StoredDocument, data: bytes) -> bool:
    """Return whether the text of a document is data; an answer is kept for as long as the document has its content."""
    if document.id <= 0 or not document.content_hash:  # it is not indexed, and its hash is not known
        return is_blob(data)
    key = document.content_hash, document.is_verbatim
    known = _KNOWN.get(key)
    if known is None:
        if len(_KNOWN) >= MAX_KNOWN:
            _KNOWN.clear()
        known = _KNOWN[key] = is_blob(data)
    return known


def _is_data(sample: bytes) -> bool:
    import numpy as np  # counts in a third of the time; imported here because most commands need no count

    values = np.frombuffer(sample, np.uint8)
    spaces, tabs, line_ends = (int(np.count_nonzero(values == ord(sign))) for sign in " \t\n")
    spaces, lines = spaces + tabs, line_ends + 1
    if len(sample) / lines > MAX_MEAN_LINE and spaces < MIN_SPACE_SHARE * len(sample):
        return True
    has_long_words = len(sample) > MIN_MEAN_WORD * (spaces + lines)  # the pattern takes longer than all the rest
    if has_long_words and len(_ENCODED_LINE.findall(sample)) > MAX_ENCODED_SHARE * lines:
        return True
    visible = len(sample) - spaces - lines
    # The letters of ASCII differ in one bit from those in lower case; all other bytes from 128 on are letters, too.
    letters = np.count_nonzero(((values | 32) - ord("a") < 26) | (values >= 128))
    return bool(letters < MIN_LETTER_SHARE * visible)
