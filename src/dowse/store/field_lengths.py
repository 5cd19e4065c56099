"""Lengths of the fields of the lexical index: every document has the same mean length.

Tantivy scores by BM25, with the mean length of a field over all entries. Deleted entries count until a merge removes
them, so the same files would get other scores after updates than in a new index. Here the entries of each document
are filled up with a word that no query has, until their mean length is the constant below. So the mean over all
entries is that constant too, whatever was deleted.
"""

from collections.abc import Mapping

from dowse.types import Field

MEAN_LENGTHS: Mapping[Field, int] = {
    "parts": 128,
    "words": 100,
    "symbols": 4,
    "names": 3,
    "headings": 4,
    "path": 1,
    "stem": 1,
    "title": 4,
}
"""The length, in terms, of a text that is neither long nor short."""

FILLING = "\u02ce"
"""A letter that is a word of its own and does not occur in practice."""

_EXACT_LENGTH = 40
"""Up to this length, Tantivy keeps the length of a field exactly; above it, four binary digits of what is beyond 24."""


def fill(text: str, count: int) -> tuple[str, int]:
    """Fill a text of `count` terms up to a length that Tantivy keeps exactly; return both."""
    length = count if count <= _EXACT_LENGTH else 24 - _round_down(24 - count)
    return text + f" {FILLING}" * (length - count), length


def filling_lengths(lengths: Mapping[Field, int], entries: int) -> list[dict[Field, int]]:
    """Return the lengths of the fields in the entries that a document needs beside those it has.

    `lengths` are the lengths of its fields in all its `entries` together.
    """
    added = max(0, *(-(-lengths.get(field, 0) // mean) - entries for field, mean in MEAN_LENGTHS.items()))
    while True:
        missing = {
            field: _split(mean * (entries + added) - lengths.get(field, 0)) for field, mean in MEAN_LENGTHS.items()
        }
        if all(len(parts) <= added for parts in missing.values()):
            return [{field: parts[at] for field, parts in missing.items() if at < len(parts)} for at in range(added)]
        added += 1


def _split(length: int) -> list[int]:
    """Return lengths with this sum that Tantivy keeps exactly."""
    parts = []
    while length > _EXACT_LENGTH:
        parts.append(24 + _round_down(length - 24))
        length -= parts[-1]
    return [*parts, length] if length else parts


def _round_down(length: int) -> int:
    """Return the highest number up to this one that has four binary digits, and zeros."""
    zeros = max(0, abs(length).bit_length() - 4)
    return length >> zeros << zeros
