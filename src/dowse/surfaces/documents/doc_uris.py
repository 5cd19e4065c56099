"""Addresses of documents: a path behind `docs://`, percent-encoded, with an anchor if a section is meant."""

import base64
import binascii
from urllib.parse import quote, unquote

from dowse.errors import UsageError
from dowse.reading import DOCUMENT_EXTENSIONS
from dowse.sources.document_files import suffix_of

SCHEME = "docs://"


def make_uri(path: str, anchor: str = "") -> str:
    """The address of a document, or of a section of it."""
    written = SCHEME + quote(path, safe="/", errors="surrogateescape")
    return f"{written}#{quote(anchor, errors='surrogateescape')}" if anchor else written


def parse_uri(uri: str) -> tuple[str, str]:
    """The path and the anchor that an address means."""
    address, _, anchor = uri.removeprefix(SCHEME).partition("#")
    return unquote(address, errors="surrogateescape"), unquote(anchor, errors="replace")


def document_mime_type(path: str) -> str:
    """The type of what a reader gets."""
    return str(DOCUMENT_EXTENSIONS.get(suffix_of(path), "text/markdown"))


def parse_extensions(given: list[str] | None) -> frozenset[str]:
    """Extensions as people write them: with or without the dot, in any case."""
    wanted = frozenset(f".{name.strip().lstrip('.').lower()}" for name in given or () if name.strip(". "))
    if unknown := wanted - DOCUMENT_EXTENSIONS.keys():
        raise UsageError(
            f"fileTypes: {min(unknown)} is no kind of document. Known: {' '.join(sorted(DOCUMENT_EXTENSIONS))}."
        )
    return wanted


def make_cursor(number: int, after: str) -> str:
    """Where the next page begins: after a path, in the folder of a number."""
    return base64.urlsafe_b64encode(f"{number}:{after}".encode()).decode()


def parse_cursor(cursor: str | None) -> tuple[int, str]:
    """What a cursor says."""
    if cursor is None:
        return 0, ""
    try:
        said = base64.b64decode(cursor.encode(), altchars=b"-_", validate=True)
        number, colon, after = said.decode().partition(":")
        if not colon or not (number.isascii() and number.isdecimal() and len(number) < 10):
            raise ValueError(cursor)
        return int(number), after
    except (ValueError, binascii.Error) as error:
        raise UsageError("The cursor is not one that this server gave. Ask for the first page without one.") from error
