"""Bytes to text, title, links."""

from dowse.reading.decoding import decode
from dowse.reading.html import read_html
from dowse.reading.languages import language_of
from dowse.reading.markdown import read_markdown
from dowse.reading.plain import read_plain, read_prose
from dowse.types import Reading

__all__ = ["language_of", "read", "read_document"]


def read(data: bytes, path: str, language: str) -> Reading:
    """What a project's file says; HTML is source code here, and the text is never changed."""
    decoded = decode(data)
    if language == "markdown":
        return read_markdown(decoded, path)
    if language == "text":
        return read_plain(decoded, path)
    return read_prose(decoded, path, language)


def read_document(data: bytes, path: str) -> Reading:
    """What a file of a documents folder says; an HTML page becomes Markdown."""
    language = language_of(path, b"")
    return read_html(data, path) if language == "html" else read(data, path, language)
