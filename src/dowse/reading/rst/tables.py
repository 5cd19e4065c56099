"""Conversion of tables of reStructuredText, which are drawn with lines, to Markdown."""

import re
from itertools import pairwise

from dowse.reading.markdown_writer import code_block, table
from dowse.reading.rst.inline import Names, convert_inline

_GRID = re.compile(r"\+(?:[-=]+\+)+$")
_SIMPLE = re.compile(r"=+(?: +=+)+$")
_MAX_COLUMNS = 100


def is_border(line: str) -> bool:
    """Return whether a line is the upper border of a table."""
    return bool(_GRID.match(line) or _SIMPLE.match(line))


def table_end(lines: list[str], at: int) -> int:
    """Return the index of the line after the table that begins here."""
    is_grid = lines[at].startswith("+")
    borders = 1
    for number in range(at + 1, len(lines)):
        if is_grid and not lines[number].startswith(("+", "|")):
            return number
        if not is_grid and _SIMPLE.match(lines[number]):
            borders += 1
            if borders > 2 or number + 1 == len(lines) or not lines[number + 1]:
                return number + 1
    blank = (number for number in range(at, len(lines)) if not lines[number])
    return len(lines) if is_grid else next(blank, len(lines))


def convert_table(lines: list[str], names: Names) -> str:
    """Return a table in Markdown; a table with cells that span columns or rows is shown as drawn."""
    rows = _grid_rows(lines) if lines[0].startswith("+") else _simple_rows(lines)
    cells = [[convert_inline("\n".join(cell), names) for cell in row] for row in rows]
    return table(cells) or code_block("\n".join(lines))


Row = list[list[str]]
"""A row of a table: for each cell, its lines."""


def _grid_rows(lines: list[str]) -> list[Row]:
    edges = [column for column, sign in enumerate(lines[0]) if sign == "+"][: _MAX_COLUMNS + 1]
    rows: list[Row] = [[[] for _ in edges[1:]]]
    for line in lines[1:]:
        if _GRID.match(line) and len(line) == len(lines[0]):
            rows.append([[] for _ in edges[1:]])
        elif any(line[column : column + 1] != "|" for column in edges):
            return []
        else:
            _add_lines(rows[-1], [line[left + 1 : right] for left, right in pairwise(edges)])
    return rows[:-1]


def _simple_rows(lines: list[str]) -> list[Row]:
    starts = [match.start() for match in re.finditer("=+", lines[0])][:_MAX_COLUMNS]
    rows: list[Row] = []
    for line in lines[1:]:
        if not line.strip("=- "):
            continue
        if line[: starts[1]].strip() or not rows:  # a line with an empty first column continues the row above
            rows.append([[] for _ in starts])
        _add_lines(rows[-1], [line[left:right] for left, right in pairwise([*starts, None])])
    return rows


def _add_lines(row: Row, cells: list[str]) -> None:
    for lines, cell in zip(row, cells, strict=True):
        if cell.strip():
            lines.append(cell.strip())
