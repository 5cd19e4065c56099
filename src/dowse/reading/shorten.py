"""Shortening of titles and descriptions to a length that fits a list."""

from pathlib import PurePosixPath

_DESCRIPTION_CHARS = 150
MAX_TITLE_CHARS = 300
"""Longer than any real heading: the whole title is searchable, so only abuse is cut."""


def shorten(text: str, limit: int = _DESCRIPTION_CHARS) -> str:
    """Return text on one line, cut at a word and ended with `…` if it is longer than the limit."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[:limit]
    at_word = cut.rpartition(" ")[0]
    # A language without spaces, or one very long word, is cut at the limit.
    kept = at_word if len(at_word) > limit // 2 else cut[:-1]
    return kept.rstrip(" ,;:.-") + "…"


def file_name(path: str) -> str:
    """Return the last part of a path."""
    return PurePosixPath(path).name


def file_stem(path: str) -> str:
    """Return the last part of a path, without its extension."""
    return PurePosixPath(path).stem
