"""The files that are documents, by their names, and the language of their text."""

from dowse.reading.file_reading import DOCUMENT_EXTENSIONS
from dowse.reading.languages import detect_language

_VERBATIM_EXTENSIONS = (".md", ".markdown", ".txt")
"""Extensions of documents that a project shows as documents, too, and whose readers keep the text as it is."""
_KEPT_LANGUAGES = {".txt": "text", ".rst": "rst", ".adoc": "asciidoc", ".asciidoc": "asciidoc"}
"""Languages of documents that do not become Markdown."""


def is_document(path: str) -> bool:
    """Return whether a file is a document by its extension."""
    return suffix_of(path) in DOCUMENT_EXTENSIONS


def document_language(path: str) -> str:
    """Return the language of the text that a document becomes."""
    return _KEPT_LANGUAGES.get(suffix_of(path), "markdown")


def shared_language(path: str) -> str | None:
    """Return the language of a file whose text is the same for a project and for readers; None for other files."""
    language = document_language(path)
    is_shared = suffix_of(path) in _VERBATIM_EXTENSIONS and detect_language(path, b"") == language
    return language if is_shared else None


def suffix_of(path: str) -> str:
    """Return the extension of a path with its dot, in lower case."""
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :].lower() if "." in name[1:] else ""
