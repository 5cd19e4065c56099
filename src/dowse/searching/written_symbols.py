"""Names that a piece of code defines, and headings of a piece of Markdown, found by how a line looks.

A parser finds more and errs less; this is for files that no parser has read yet.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from dowse.reading.shorten import shorten

_MODIFIERS = (
    "abstract async case const constexpr data declare default export extern final implicit inline internal lazy local "
    "open override partial private protected public readonly sealed static suspend unsafe virtual"
)
_DEFINING = (
    "class const def defmacro defmodule defp enum extension fn func function impl instance interface let macro module "
    "namespace newtype object proc protocol record struct sub trait type typedef union val var"
)
_KEYWORD = (
    rf"[ \t]*(?:(?:{_MODIFIERS.replace(' ', '|')}|pub(?:\([^)\n]*\))?)[ \t]+)*+(?:{_DEFINING.replace(' ', '|')})"
    r"[ \t*]+(?:\([^)\n]*\)[ \t]*)?(?:[A-Z][A-Z\d_]{2,}[ \t]+(?=\w))*+"
)
_DEFINITION = re.compile(rf"{_KEYWORD}([\w.:$?!]+)")
_BEFORE_DEFINED = re.compile(rf"{_KEYWORD}(?:[\w.:]+[.:])?".encode())
_DEFINITION_BYTES = 300
"""The name that a line defines is at most so far from its beginning."""
_MAX_PLACES = 10_000
"""Places of a name that are looked at; a file with more of them is a list or a table."""
_WORD_BYTE = re.compile(rb"\w")
_STATEMENTS = (
    "assert await case delete do echo else export for from goto if import in new not print raise return switch throw until "
    "use using when while yield"
)
_TYPED_DEFINITION = re.compile(
    rf"(?!(?:{_STATEMENTS.replace(' ', '|')})\b)[A-Za-z_][\w \t*&:<>,\[\]~]{{0,200}}[ \t*&]([A-Za-z_~][\w:~]*)[ \t]*\([^;]*$"
)
"""The definition of a function that begins with its type, as in C and Java, and is no call such as `return name(`."""
_HEADING = re.compile(r"#{1,6}[ \t]+(\S.*)")
_TITLE = re.compile(r"^(?:title:|#)[ \t]+(\S.*)$|^(\S.*)\r?\n={3,}[ \t]*$", re.MULTILINE)
_FIRST_LINE = re.compile(r"(\S.*)")
_HEAD_CHARACTERS = 4000
_NAME = re.compile(r"\w+")


def defined_names(line: str) -> list[str]:
    """Return the names that a line of code seems to define."""
    found = _DEFINITION.match(line) or ("(" in line and ";" not in line and _TYPED_DEFINITION.match(line))
    return _NAME.findall(found[1]) if found else []


def heading_in(line: str) -> str | None:
    """Return the heading that a line of Markdown is."""
    found = _HEADING.match(line)
    return found[1] if found else None


def find_title(text: str, language: str) -> str | None:
    """Return the title of a document: that of its front matter, its first heading, or the first line of plain text."""
    found = (_FIRST_LINE if language == "text" else _TITLE).search(text[:_HEAD_CHARACTERS])
    return shorten(found[found.lastindex or 0].strip("\"'")) if found else None


def defines_any(data: bytes, names: Iterable[bytes]) -> bool:
    """Return whether a file seems to define one of the names. Only the lines with a name are looked at."""
    places = ((at, at + len(name)) for name in names for at in islice(_positions(data, name), _MAX_PLACES))
    return any(_is_definition(data, start, end) for start, end in places)


def _positions(data: bytes, name: bytes) -> Iterator[int]:
    at = data.find(name)
    while at >= 0:
        yield at
        at = data.find(name, at + 1)


def _is_definition(data: bytes, start: int, end: int) -> bool:
    first = max(0, start - _DEFINITION_BYTES - 1)
    line_start = data.rfind(b"\n", first, start) + 1
    if line_start <= first > 0 or _WORD_BYTE.match(data, end):
        return False
    return _BEFORE_DEFINED.fullmatch(data, line_start, start) is not None
