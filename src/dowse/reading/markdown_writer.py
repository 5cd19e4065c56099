"""Pieces of Markdown, for readers that convert other formats to it."""

import re
from collections.abc import Iterable, Sequence

_BLOCK_START = re.compile(
    r"^((?: {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]{1,4}){0,8} {0,3})(?=#{1,6}(?:[ \t]|$)|>|```|~~~|<|(?:=+|-+)[ \t]*$)",
    re.MULTILINE,
)
"""The beginning of a line that would start a heading, a fence or HTML, also behind the mark of a list."""
_BACKTICKS = re.compile(r"`+")
_MAX_HEADING_LEVEL = 6
_MAX_COLUMNS = 64
"""The header row is filled up to the longest row, but not beyond this."""


def heading(level: int, text: str) -> str:
    """Return a heading on one line; levels below the sixth become the sixth."""
    return f"{'#' * min(max(level, 1), _MAX_HEADING_LEVEL)} {' '.join(text.split())}"


def code_block(code: str, language: str = "") -> str:
    """Return a fenced code block; the code may contain fences itself."""
    fence = "`" * max(3, _longest_run(code) + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def code_span(code: str) -> str:
    """Return code within a line; the code may contain backticks itself."""
    fence = "`" * (_longest_run(code) + 1)
    space = " " * (code.startswith("`") or code.endswith("`"))
    return f"{fence}{space}{code}{space}{fence}"


def link(text: str, target: str) -> str:
    """Return a link; a target with spaces or parentheses is put in angle brackets."""
    target = " ".join(target.split())
    if re.search(r"[\s()]", target):
        target = f"<{target}>"
    return f"[{text}]({target})" if target else text


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first row is the header; empty if there are no rows."""
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows if any(row)]
    if not cells:
        return ""
    cells[0] += [""] * (min(max(map(len, cells)), _MAX_COLUMNS) - len(cells[0]))
    head, *rest = (f"| {' | '.join(row)} |" for row in cells)
    return "\n".join([head, f"|{' --- |' * len(cells[0])}", *rest])


def paragraph(text: str) -> str:
    """Return text with each line escaped that would start a heading, a fence or HTML."""
    return _BLOCK_START.sub(r"\1\\", text)


def _longest_run(code: str) -> int:
    return max(map(len, _BACKTICKS.findall(code)), default=0)
