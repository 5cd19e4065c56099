"""Reading of files by their language and format: bytes to text, title, description, tags and links."""

from pathlib import PurePosixPath

from dowse.reading.decoding import decode, decode_without_guessing
from dowse.reading.formats import READERS
from dowse.reading.languages import detect_language, is_binary_document
from dowse.reading.markdown import read_markdown
from dowse.reading.plain import read_plain, read_prose
from dowse.reading.shorten import file_stem
from dowse.types import Reading

_PROSE_EXTENSIONS = {"", ".txt", ".text"}
"""Extensions of files in no known language that hold prose, unlike `.conf` and the like."""


def read(data: bytes, path: str, language: str) -> Reading:
    """Read a file of a project; the text is never changed, and HTML is treated as source code."""
    decoded = decode(data)
    if language == "markdown":
        return read_markdown(decoded, path)
    if language == "text" and PurePosixPath(path).suffix.lower() in _PROSE_EXTENSIONS:
        return read_plain(decoded, path)
    return read_prose(decoded, path, language)


def read_document(data: bytes, path: str) -> Reading:
    """Read a file of a documents folder by its extension; HTML, Word, PDF and notebooks become Markdown.

    Raises FormatNotReadable if the parser of the format is not installed. No bytes make it raise anything else.
    """
    extension = "." + path.rpartition(".")[2].lower()
    reader = READERS.get(extension)
    return reader(data, path) if reader else read(data, path, detect_language(path, data[:1024]))


def read_as_plain_text(data: bytes, path: str) -> Reading:
    """Read a file without parsing it, in linear time whatever it holds; a PDF or Office file has no text then."""
    return decode_without_guessing(b"" if is_binary_document(path) else data).to_reading(file_stem(path))
