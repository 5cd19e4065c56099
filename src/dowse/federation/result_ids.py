"""The ids of results: the name of a source and the locator of an item in it, percent-encoded.

An id is made of names, paths and addresses alone, so it means the same after a restart and in a new index.
"""

from urllib.parse import quote, unquote

MAX_ID_CHARACTERS = 8_192
"""A path has at most 4,096 bytes, and most ids are shorter than a line."""
AS_DOCUMENT = "?as=document"
"""Ends the id of a file whose text as a reader gets it differs from the file, as that of a page does."""


def source_name(kind: str, name: str) -> str:
    """Return the name of a source: ids begin with it, and replies show it."""
    return f"{kind}/{quote(name, safe='', errors='surrogateescape')}"


def id_of(source: str, locator: str) -> str:
    """Return the id of an item in a source."""
    return f"{source}/{quote(locator, safe='/', errors='surrogateescape')}"


def locator_in(source: str, item_id: str) -> str | None:
    """Return the locator that an id has within a source; None if the id belongs to another source."""
    prefix = f"{source}/"
    if not item_id.startswith(prefix):
        return None
    return unquote(item_id.removeprefix(prefix), errors="surrogateescape")
