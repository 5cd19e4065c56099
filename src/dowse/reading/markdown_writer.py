"""Pieces of Markdown, for the formats that become it."""

import re
from collections.abc import Iterable, Sequence

_BLOCK_START = re.compile(r"^( {0,3})(?=#{1,6}(?:[ \t]|$)|>|```|~~~|<|(?:=+|-+)[ \t]*$)", re.MULTILINE)
_BACKTICKS = re.compile(r"`+")
_MAX_HEADING_LEVEL = 6
_MAX_COLUMNS = 64
"""So that a head is not filled up to one endless row."""


def heading(level: int, text: str) -> str:
    """A heading on one line; below the sixth level they are all the same."""
    return f"{'#' * min(max(level, 1), _MAX_HEADING_LEVEL)} {' '.join(text.split())}"


def code_block(code: str, language: str = "") -> str:
    """A block of code, whatever fences it holds itself."""
    fence = "`" * max(3, _longest_run(code) + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def code_span(code: str) -> str:
    """A few words of code in a line of text, whatever backticks they hold."""
    if "`" not in code:
        return f"`{code}`" if code.strip() else code
    ticks = "`" * (_longest_run(code) + 1)
    return f"{ticks} {code} {ticks}"


def link(text: str, target: str) -> str:
    """A link; a target that would end too early is put in brackets."""
    target = " ".join(target.split())
    if re.search(r"[\s()]", target):
        target = f"<{target}>"
    return f"[{text}]({target})" if target else text


def table(rows: Iterable[Sequence[str]]) -> str:
    """A table whose first row is its head; empty where it has no rows."""
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows if any(row)]
    if not cells:
        return ""
    cells[0] += [""] * (min(max(map(len, cells)), _MAX_COLUMNS) - len(cells[0]))
    head, *rest = (f"| {' | '.join(row)} |" for row in cells)
    return "\n".join([head, f"|{' --- |' * len(cells[0])}", *rest])


def paragraph(text: str) -> str:
    """Text whose lines stay text, though one begins as a heading, a fence or HTML would."""
    return _BLOCK_START.sub(r"\1\\", text)


def indent(block: str, by: str) -> str:
    """A block below a list item or in a quotation, each of its lines after the same characters."""
    return "\n".join(f"{by}{line}" if line else by.rstrip() for line in block.split("\n"))


def _longest_run(code: str) -> int:
    return max(map(len, _BACKTICKS.findall(code)), default=0)
