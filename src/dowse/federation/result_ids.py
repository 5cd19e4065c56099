"""Ids of everything that can be found: the name of a source and the way to a thing in it, percent-encoded.

They are made of names, paths and addresses alone, so they mean the same thing after a restart and a new index.
"""

from urllib.parse import quote, unquote

MOST_CHARACTERS = 8_192
"""A path has at most 4,096 bytes, and most ids are shorter than a line."""


def source_name(kind: str, name: str) -> str:
    """The name of a source as ids begin with it and as replies show it."""
    return f"{kind}/{quote(name, safe='', errors='surrogateescape')}"


def id_of(source: str, locator: str) -> str:
    """The id of a thing in a source."""
    return f"{source}/{quote(locator, safe='/', errors='surrogateescape')}"


def locator_in(source: str, given: str) -> str | None:
    """The way within a source that an id shows; None where it is the id of something elsewhere."""
    beginning = f"{source}/"
    if not given.startswith(beginning):
        return None
    return unquote(given.removeprefix(beginning), errors="surrogateescape")
