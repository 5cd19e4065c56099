"""URIs of documents: `docs://`, the percent-encoded path, and an anchor for a section."""

import base64
import binascii
from urllib.parse import quote, unquote

from dowse.errors import UsageError
from dowse.reading.file_reading import DOCUMENT_EXTENSIONS, shared_language, suffix_of
from dowse.reading.languages import is_binary_document

SCHEME = "docs://"


def make_uri(path: str, anchor: str = "") -> str:
    """Return the URI of a document, or of a section of it."""
    uri = SCHEME + quote(path, safe="/", errors="surrogateescape")
    return f"{uri}#{quote(anchor, errors='surrogateescape')}" if anchor else uri


def parse_uri(uri: str) -> tuple[str, str]:
    """Return the path and the anchor of a URI."""
    path, _, anchor = uri.removeprefix(SCHEME).partition("#")
    return unquote(path, errors="surrogateescape"), unquote(anchor, errors="replace")


def document_mime_type(path: str) -> str:
    """Return the MIME type of a document's text."""
    return str(DOCUMENT_EXTENSIONS.get(suffix_of(path), "text/markdown"))


def parse_extensions(names: list[str] | None) -> frozenset[str]:
    """Return normalized extensions; they may be written with or without the dot, in any case."""
    wanted = frozenset(f".{name.strip().lstrip('.').lower()}" for name in names or () if name.strip(". "))
    if unknown := wanted - DOCUMENT_EXTENSIONS.keys():
        raise UsageError(
            f"fileTypes: {min(unknown)} is not a document type. Known types: {' '.join(sorted(DOCUMENT_EXTENSIONS))}."
        )
    return wanted


def make_cursor(number: int, after: str) -> str:
    """Return the cursor of the next page, which begins after a path in the folder of that number."""
    return base64.urlsafe_b64encode(f"{number}:{after}".encode()).decode()


def parse_cursor(cursor: str | None) -> tuple[int, str]:
    """Return the folder number and the path in a cursor."""
    if cursor is None:
        return 0, ""
    try:
        decoded = base64.b64decode(cursor.encode(), altchars=b"-_", validate=True)
        number, colon, after = decoded.decode().partition(":")
        if not colon or not (number.isascii() and number.isdecimal() and len(number) < 10):
            raise ValueError(cursor)
        return int(number), after
    except (ValueError, binascii.Error) as error:
        raise UsageError(
            "The cursor did not come from this server. Request the first page without a cursor."
        ) from error


def has_one_form(path: str) -> bool:
    """Return whether a project and a reader of documents get the same text of a file."""
    return is_binary_document(path) or shared_language(path) is not None
