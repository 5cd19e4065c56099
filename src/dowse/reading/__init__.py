"""Bytes to text, title, links."""

from pathlib import PurePosixPath

from dowse.errors import FormatNotReadable
from dowse.reading.decoding import decode
from dowse.reading.formats import DOCUMENT_EXTENSIONS, READERS
from dowse.reading.languages import detect_language
from dowse.reading.markdown import read_markdown
from dowse.reading.plain import read_plain, read_prose
from dowse.types import Reading

_PROSE_EXTENSIONS = {"", ".txt", ".text"}
"""Of the files in no known language, those that people write prose in; not `.conf` and its like."""

__all__ = ["DOCUMENT_EXTENSIONS", "VERSION", "FormatNotReadable", "detect_language", "read", "read_document"]

VERSION = 4
"""Changes whenever the same bytes would be read differently; stored indexes then read again."""


def read(data: bytes, path: str, language: str) -> Reading:
    """What a project's file says; HTML is source code here, and the text is never changed."""
    decoded = decode(data)
    if language == "markdown":
        return read_markdown(decoded, path)
    if language == "text" and PurePosixPath(path).suffix.lower() in _PROSE_EXTENSIONS:
        return read_plain(decoded, path)
    return read_prose(decoded, path, language)


def read_document(data: bytes, path: str) -> Reading:
    """What a file of a documents folder says, by the extension of its name; all but plain text becomes Markdown.

    Raises FormatNotReadable, and nothing else whatever the bytes, for a format whose parser is not installed.
    """
    extension = "." + path.rpartition(".")[2].lower()
    reader = READERS.get(extension)
    return reader(data, path) if reader else read(data, path, detect_language(path, data[:1024]))
