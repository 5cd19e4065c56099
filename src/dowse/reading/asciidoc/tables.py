"""Conversion of tables of AsciiDoc to Markdown."""

import csv
import re

from dowse.reading.asciidoc.inline import convert_inline
from dowse.reading.markdown_writer import table

_CELL = re.compile(r"(?:(?:^|(?<=\s))(?:\d{1,3}\*|[\d.]{1,6}\+)?[<^>.]{0,3}[aehlmdsv]?)?(?<!\\)\|", re.MULTILINE)
_COLUMNS = re.compile(r"""\bcols\s*=\s*(?:"(?P<quoted>[^"]*)"|(?P<bare>[^,\s\]]+))""")
_REPEAT = re.compile(r"\s*(\d{1,2})\*")
_MAX_COLUMNS = 64


def convert_table(lines: list[str], style: str, sign: str) -> str:
    """Return a table in Markdown; the number of columns is the declared one, else that of the first line.

    The first row is the header.
    """
    if sign in ",:":
        return table(_split_csv_rows(lines, sign))
    if sign == "!":
        lines = [line.replace("!", "|") for line in lines]
    cells = [convert_inline(cell.strip()) for cell in _CELL.split("\n".join(lines))[1:]]
    first = next((line for line in lines if line), "")
    width = _count_columns(style) or len(_CELL.findall(first)) or 1
    return table([cells[at : at + width] for at in range(0, len(cells), width)])


def _split_csv_rows(lines: list[str], sign: str) -> list[list[str]]:
    try:
        return [[convert_inline(cell) for cell in row] for row in csv.reader(lines, delimiter=sign)]
    except csv.Error:
        return [[line] for line in lines]


def _count_columns(style: str) -> int:
    match = _COLUMNS.search(style)
    if match is None:
        return 0
    columns = re.split(r"[,;]", match["quoted"] or match["bare"] or "")
    repeats = (_REPEAT.match(column) for column in columns)
    return min(sum(int(repeat[1]) if repeat else 1 for repeat in repeats), _MAX_COLUMNS)
