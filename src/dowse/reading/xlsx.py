"""Reader of Excel workbooks, which become Markdown: a heading and a table for each sheet.

Formulas are shown by the results that the file has. A date is the number that the file has.
"""

import re

from dowse.reading.markdown import read_converted
from dowse.reading.markdown_writer import heading, table
from dowse.reading.office_package import BLOCK_CHARACTERS, MAX_CHARACTERS, ZIP_ERRORS, OfficePackage
from dowse.types import Reading

_MAX_COLUMN = 500
"""Cells further to the right are left out, so that one cell does not make a row of thousands of empty ones."""
EMPTY_CHARACTERS = BLOCK_CHARACTERS // 5
"""The characters that an empty cell before another one counts for. A sheet is cut after 90,000 cells or 500,000
empty ones, which take a second; one that was read to its end would run out of time, and would have no text at all."""
_COLUMN = re.compile(r"[A-Z]{1,3}")


def read_xlsx(data: bytes, path: str) -> Reading:
    """Read a workbook; one that cannot be opened, for example because it is encrypted, has no text."""
    try:
        package = OfficePackage(data)
    except ZIP_ERRORS:
        return read_converted("", path)
    main = package.relations("").parts.get("officeDocument", "xl/workbook.xml")
    relations, workbook, strings = package.relations(main), _Workbook(), _SharedStrings()
    package.parse(main, workbook.start)
    package.parse(relations.parts.get("sharedStrings", ""), strings.start, strings.end, strings.text)
    blocks, room = list[str](), MAX_CHARACTERS
    for name, identifier in workbook.sheets:
        sheet = _Sheet(strings.found, room)
        package.parse(relations.targets.get(identifier, ""), sheet.start, sheet.end, sheet.text)
        room = sheet.room
        if rows := table(sheet.rows):
            blocks += [heading(2, name), rows]
    return read_converted("\n\n".join(blocks) + "\n" * bool(blocks), path, metadata=package.metadata())


class _Workbook:
    """Handles the part that lists the sheets."""

    def __init__(self) -> None:
        self.sheets: list[tuple[str, str]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "sheet" and attributes.get("state", "visible") == "visible":
            self.sheets.append((attributes.get("name", ""), attributes.get("id", "")))


class _SharedStrings:
    """Handles the part with the texts that cells refer to by number."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._is_text, self._room = False, MAX_CHARACTERS

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - no attribute matters here
        if name == "si":
            self.found.append("")
            self._room -= BLOCK_CHARACTERS
        self._is_text = name == "t"  # `rPh` has the pronunciation in another element

    def end(self, name: str) -> None:
        self._is_text = self._is_text and name != "t"

    def text(self, text: str) -> None:
        if self._is_text and self.found and self._room > 0:
            self.found[-1] += text
            self._room -= len(text)


class _Sheet:
    """Handles one sheet, and collects its rows as far as there is room for their text."""

    def __init__(self, strings: list[str], room: int) -> None:
        self.rows: list[list[str]] = []
        self.room = room
        self._strings = strings
        self._kind = self._value = ""
        self._column = 0
        self._is_value = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "row":
            self.rows.append([])
            self.room -= BLOCK_CHARACTERS
        elif name == "c":
            self._kind, self._value = attributes.get("t", "n"), ""
            place = _COLUMN.match(attributes.get("r", ""))
            self._column = _column_number(place[0]) if place else len(self.rows[-1]) + 1 if self.rows else 1
        self._is_value = name in ("v", "t")

    def text(self, text: str) -> None:
        if self._is_value:
            self._value += text

    def end(self, name: str) -> None:
        self._is_value = False
        if name != "c" or not self.rows or not self._value or self._column > _MAX_COLUMN or self.room <= 0:
            return
        row, shown = self.rows[-1], self._shown()
        empty = max(0, self._column - len(row))
        row += [""] * empty
        row[self._column - 1] = shown
        self.room -= len(shown) + BLOCK_CHARACTERS + empty * EMPTY_CHARACTERS

    def _shown(self) -> str:
        if self._kind == "s":
            number = (
                int(self._value) if self._value.isascii() and self._value.isdigit() and len(self._value) < 9 else -1
            )
            return self._strings[number] if 0 <= number < len(self._strings) else ""
        return {"0": "FALSE", "1": "TRUE"}.get(self._value, self._value) if self._kind == "b" else self._value


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number
