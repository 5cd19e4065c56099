"""Readers of PowerPoint presentations and Excel workbooks, which become Markdown: a section for each slide or sheet.

Formulas are shown by the results that the file has. A date is the number that the file has.
"""

import re

from dowse.reading.markdown import read_converted
from dowse.reading.markdown_writer import heading, paragraph, table
from dowse.reading.office_package import BLOCK_CHARACTERS, MAX_CHARACTERS, OfficePackage
from dowse.types import Reading

_TITLES = frozenset({"title", "ctrTitle"})
_LEFT_OUT = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
"""Placeholders for what every slide has: its number, the date, and the lines above and below."""


def read_pptx(data: bytes, path: str) -> Reading:
    """Read a presentation."""
    package = OfficePackage(data)
    main = package.relations("").parts.get("officeDocument", "ppt/presentation.xml")
    slides, relations = list[str](), package.relations(main)

    def list_slide(name: str, attributes: dict[str, str]) -> None:
        if name == "sldId":
            slides.append(attributes.get("id", ""))

    package.parse(main, list_slide)
    blocks, room = list[str](), MAX_CHARACTERS
    for number, identifier in enumerate(slides, 1):
        if room <= 0:
            break
        part = relations.targets.get(identifier, "")
        slide, notes = _Slide(), _Slide()
        package.parse(part, slide.start, slide.end, slide.text)
        package.parse(package.relations(part).parts.get("notesSlide", ""), notes.start, notes.end, notes.text)
        found = [heading(2, slide.title or f"Slide {number}"), *slide.blocks]
        if said := [*([notes.title] if notes.title else []), *notes.blocks]:
            found += ["Notes:", *said]
        blocks += found
        room -= sum(len(block) + BLOCK_CHARACTERS for block in found)
    return read_converted("\n\n".join(blocks) + "\n" * bool(blocks), path, metadata=package.metadata())


class _Slide:
    """Handles a slide or its notes, and collects the blocks of text."""

    def __init__(self) -> None:
        self.title = ""
        self.blocks: list[str] = []
        self._placeholder = ""
        self._pieces: list[str] = []
        self._rows: list[list[str]] = []
        self._tables = self._room = 0
        self._is_text = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._is_text = name == "t"
        if name == "sp":
            self._placeholder = ""
        elif name == "ph":
            self._placeholder = attributes.get("type", "body")
        elif name == "p":
            self._pieces = []
        elif name == "br":
            self._pieces.append("\n")
        elif name == "tbl":
            self._tables, self._rows = self._tables + 1, []
        elif name == "tr":
            self._rows.append([])
        elif name == "tc" and self._rows:
            self._rows[-1].append("")

    def text(self, text: str) -> None:
        if self._is_text and self._room < MAX_CHARACTERS:
            self._pieces.append(text)
            self._room += len(text)

    def end(self, name: str) -> None:
        self._is_text = False
        if name == "p":
            self._end_paragraph("".join(self._pieces).strip())
        elif name == "tbl" and self._tables:
            self._tables -= 1
            if rows := table(self._rows):
                self.blocks.append(rows)

    def _end_paragraph(self, text: str) -> None:
        self._pieces = []
        if not text or self._placeholder in _LEFT_OUT:
            return
        if self._tables and self._rows and self._rows[-1]:
            self._rows[-1][-1] += f" {text}"
        elif self._placeholder in _TITLES:
            self.title = f"{self.title} {text}".strip()
        else:
            self.blocks.append(paragraph(text))


_MAX_COLUMN = 500
"""Cells further to the right are left out, so that one cell does not make a row of thousands of empty ones."""
EMPTY_CHARACTERS = BLOCK_CHARACTERS // 5
"""The characters that an empty cell before another one counts for. A sheet is cut after 90,000 cells or 500,000
empty ones, which take a second; one that was read to its end would run out of time, and would have no text at all."""
_COLUMN = re.compile(r"[A-Z]{1,3}")


def read_xlsx(data: bytes, path: str) -> Reading:
    """Read a workbook."""
    package = OfficePackage(data)
    main = package.relations("").parts.get("officeDocument", "xl/workbook.xml")
    relations, sheets, strings = package.relations(main), list[tuple[str, str]](), _SharedStrings()

    def list_sheet(name: str, attributes: dict[str, str]) -> None:
        if name == "sheet" and attributes.get("state", "visible") == "visible":
            sheets.append((attributes.get("name", ""), attributes.get("id", "")))

    package.parse(main, list_sheet)
    package.parse(relations.parts.get("sharedStrings", ""), strings.start, strings.end, strings.text)
    blocks, room = list[str](), MAX_CHARACTERS
    for name, identifier in sheets:
        sheet = _Sheet(strings.found, room)
        package.parse(relations.targets.get(identifier, ""), sheet.start, sheet.end, sheet.text)
        room = sheet.room
        if rows := table(sheet.rows):
            blocks += [heading(2, name), rows]
    return read_converted("\n\n".join(blocks) + "\n" * bool(blocks), path, metadata=package.metadata())


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
