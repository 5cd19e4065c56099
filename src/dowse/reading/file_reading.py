"""Reading of files by their language and format: bytes to text, title, description, tags and links."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import PurePosixPath
from types import MappingProxyType

from dowse.reading.decoding import decode_without_guessing
from dowse.reading.languages import detect_language, is_binary_document
from dowse.reading.markdown import read_markdown, read_plain, read_prose
from dowse.reading.shorten import file_stem
from dowse.types import Reading

Reader = Callable[[bytes, str], Reading]


def _late(module: str, function: str, *arguments: str) -> Reader:
    """Return a reader whose module is imported when the first file is read: a folder rarely has more than two formats."""

    def read(data: bytes, path: str) -> Reading:
        reading: Reading = getattr(import_module(f"dowse.reading.{module}"), function)(data, path, *arguments)
        return reading

    return read


_read_html, _read_xlsx = _late("html", "read_html"), _late("office_files", "read_xlsx")
_read_rst, _read_asciidoc = (_late("markup_text", "read_markup", language) for language in ("rst", "asciidoc"))

READERS: dict[str, Reader] = {
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".mdx": read_markdown,
    ".html": _read_html,
    ".htm": _read_html,
    ".txt": read_plain,
    ".rst": _read_rst,
    ".adoc": _read_asciidoc,
    ".asciidoc": _read_asciidoc,
    ".ipynb": _late("ipynb", "read_ipynb"),
    ".docx": _late("office_files", "read_docx"),
    ".xlsx": _read_xlsx,
    ".xlsm": _read_xlsx,
    ".pptx": _late("office_files", "read_pptx"),
    ".pdf": _late("pdf", "read_pdf"),
}

_KEPT_LANGUAGES = {".txt": "text", ".rst": "rst", ".adoc": "asciidoc", ".asciidoc": "asciidoc"}
"""Languages of documents that do not become Markdown."""
DOCUMENT_EXTENSIONS = MappingProxyType(
    {extension: "text/plain" if extension in _KEPT_LANGUAGES else "text/markdown" for extension in READERS}
)
"""MIME type of the text that files become, by extension (lower-case, with its dot)."""
_SHARED_EXTENSIONS = (".md", ".markdown", ".txt")
"""Extensions of documents that a project shows as documents, too, and whose readers keep the text as it is."""


def suffix_of(path: str) -> str:
    """Return the extension of a path with its dot, in lower case."""
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :].lower() if "." in name[1:] else ""


def is_document(path: str) -> bool:
    """Return whether a file is a document by its extension."""
    return suffix_of(path) in DOCUMENT_EXTENSIONS


def document_language(path: str) -> str:
    """Return the language of the text that a document becomes."""
    return _KEPT_LANGUAGES.get(suffix_of(path), "markdown")


def shared_language(path: str) -> str | None:
    """Return the language of a file whose text is the same for a project and for readers; None for other files."""
    language = document_language(path)
    is_shared = suffix_of(path) in _SHARED_EXTENSIONS and detect_language(path, b"") == language
    return language if is_shared else None


_PROSE_EXTENSIONS = {"", ".txt", ".text"}
"""Extensions of files in no known language that hold prose, unlike `.conf` and the like."""


def read(data: bytes, path: str, language: str) -> Reading:
    """Read a file of a project; the text is never changed, and HTML is treated as source code."""
    if language == "markdown":
        return read_markdown(data, path)
    if language == "text" and PurePosixPath(path).suffix.lower() in _PROSE_EXTENSIONS:
        return read_plain(data, path)
    return read_prose(data, path, language)


def read_document(data: bytes, path: str) -> Reading:
    """Read a file of a documents folder by its extension; HTML, Word, PDF and notebooks become Markdown.

    Raises FormatNotReadable if the parser of the format is not installed. No bytes make it raise anything else.
    """
    reader = READERS.get(suffix_of(path))
    return reader(data, path) if reader else read(data, path, detect_language(path, data[:1024]))


def read_as_plain_text(data: bytes, path: str) -> Reading:
    """Read a file without parsing it, in linear time whatever it holds; a PDF or Office file has no text then."""
    return replace(decode_without_guessing(b"" if is_binary_document(path) else data), title=file_stem(path))
