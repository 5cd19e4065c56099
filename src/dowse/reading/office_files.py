"""Readers of Word documents, PowerPoint presentations and Excel workbooks, which become Markdown.

A slide or sheet is a section. Formulas are shown by the results that the file has. A date is the number that the file has.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from dowse.reading.markdown import read_converted
from dowse.reading.markdown_writer import heading, link, paragraph, table
from dowse.reading.office_package import BLOCK_CHARACTERS, MAX_CHARACTERS, OfficePackage, text_in, until_too_long
from dowse.types import Reading

_MAX_LIST_DEPTH = 8
_HEADING = re.compile(r"heading ?([1-9])|(title)", re.IGNORECASE)
_CONTENTS = re.compile(r"toc(?: ?\d| heading)|table of (?:figures|authorities)", re.IGNORECASE)
_INVISIBLE = frozenset({
    "del", "moveFrom", "pPrChange", "rPrChange",  # deleted text, moved text, and former formatting
    "Fallback", "tabs",  # duplicates for older programs, and elements that are not text
})  # fmt: skip
_CHARACTERS = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_FALSE_VALUES = frozenset({"0", "false", "off"})
_OUTLINE_LEVELS = frozenset("012345678")


class _Style(NamedTuple):
    """The properties of a style or of a paragraph."""

    name: str = ""
    based_on: str = ""
    level: int = 0
    """The level of a heading, 0 for other text."""
    list_id: str = ""
    depth: int = 0


def read_docx(data: bytes, path: str) -> Reading:
    """Read a document: headings, lists, tables, links and notes."""
    package = OfficePackage(data)
    main = package.main_part("word/document.xml")
    relations = package.relations(main)
    defined = package.elements(relations.parts.get("styles", ""), "style")
    styles = {element.get("styleId", ""): _read_style(element) for element in defined}
    parts = (main, relations.parts.get("footnotes", ""), relations.parts.get("endnotes", ""))
    elements = (element for part in parts for element in package.elements(part, "p", "tr", without=_INVISIBLE))
    pieces, was_item = list[str](), False
    for is_item, block in _read_blocks(until_too_long(elements), styles, relations.addresses):
        if block:
            pieces += ["\n" if is_item and was_item else "\n\n" if pieces else "", block]
            was_item = is_item
    return read_converted("".join(pieces) + "\n" * bool(pieces), path, metadata=package.metadata())


def _read_blocks(
    elements: Iterator[Element], styles: Mapping[str, _Style], addresses: Mapping[str, str]
) -> Iterator[tuple[bool, str]]:
    """Yield the text of blocks, and whether each is an item of a list. Rows without a paragraph between are a table."""
    rows = list[list[str]]()
    for element in elements:
        if element.tag == "tr":
            cells = _take_out(element, "tc")
            rows.append([" ".join(_paragraph_text(one, addresses) for one in _paragraphs(cell)) for cell in cells])
            continue
        if rows:
            yield False, table(rows)
            rows.clear()
        for one in (*_paragraphs(element), element):
            if text := _paragraph_text(one, addresses):
                yield from _read_block(one, text, styles)
    if rows:
        yield False, table(rows)


def _read_block(element: Element, text: str, styles: Mapping[str, _Style]) -> Iterator[tuple[bool, str]]:
    properties = element.find("pPr")
    stated = _Style() if properties is None else _read_style(properties)
    identifier = "" if properties is None else _value(properties, "pStyle")
    style = styles.get(identifier) or _read_style(Element("style"), identifier)  # an undefined one has its id as name
    base = styles.get(style.based_on, style)
    if _CONTENTS.fullmatch(style.name):
        return
    if level := stated.level or style.level or base.level:
        yield False, heading(level, text)
    elif (stated.list_id or style.list_id or base.list_id or "0") != "0":
        indent = "  " * (stated.depth or style.depth or base.depth)
        yield True, f"{indent}- " + text.replace("\n", f"\n{indent}  ")
    else:
        yield False, paragraph(text)


def _take_out(element: Element, name: str) -> list[Element]:
    """Remove the outermost elements of a name from an element, and return them."""
    found = list[Element]()
    if len(list(element.iter(name))) == (element.tag == name):
        return found  # as in nearly all paragraphs
    for parent in element.iter():
        found += [child for child in parent if child.tag == name]
        parent[:] = [child for child in parent if child.tag != name]
    return found


def _paragraphs(element: Element) -> Iterator[Element]:
    """Take the paragraphs out of an element. Those in a text box come before the one around them."""
    for one in _take_out(element, "p"):
        yield from _paragraphs(one)
        yield one


def _paragraph_text(element: Element, addresses: Mapping[str, str]) -> str:
    if next(element.iter("vanish"), None) is not None:
        for run in element.iter("r"):
            if (hidden := run.find("rPr/vanish")) is not None and hidden.get("val") not in _FALSE_VALUES:
                run.clear()
    for found in element.iter("hyperlink"):
        address, anchor, text = addresses.get(found.get("id", ""), ""), found.get("anchor", ""), _shown_text(found)
        if address and text.strip():
            found.tag, found.text = "t", link(text, f"{address}#{anchor}" if anchor else address)
            found[:] = []
    return _shown_text(element).strip()


def _shown_text(element: Element) -> str:
    pieces = list[str]()
    for one in element.iter():
        if one.tag == "t":
            pieces.append(one.text or "")
        elif one.tag in _CHARACTERS and one.get("type") != "page":
            pieces.append(_CHARACTERS[one.tag])
    return "".join(pieces)


def _value(element: Element, name: str) -> str:
    found = next(element.iter(name), None)
    return "" if found is None else found.get("val", "")


def _read_style(element: Element, name: str = "") -> _Style:
    """Read a style or the properties of a paragraph. The styles for headings have a name in common."""
    name = name or _value(element, "name")
    level, depth, named = _value(element, "outlineLvl"), _value(element, "ilvl"), _HEADING.fullmatch(name)
    return _Style(
        name,
        _value(element, "basedOn"),
        int(named[1] or 1) if named else int(level) + 1 if level in _OUTLINE_LEVELS else 0,
        _value(element, "numId"),
        min(int(depth[:4]), _MAX_LIST_DEPTH) if depth.isascii() and depth.isdigit() else 0,
    )


_TITLES = frozenset({"title", "ctrTitle"})
_LEFT_OUT = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
"""Placeholders for what every slide has: its number, the date, and the lines above and below."""


def read_pptx(data: bytes, path: str) -> Reading:
    """Read a presentation."""
    package = OfficePackage(data)
    main = package.main_part("ppt/presentation.xml")
    relations = package.relations(main)
    slides = [slide.get("id", "") for slide in package.elements(main, "sldId")]
    blocks, room = list[str](), MAX_CHARACTERS
    for number, identifier in enumerate(slides, 1):
        if room <= 0:
            break
        part = relations.targets.get(identifier, "")
        title, found = _read_slide(package, part)
        notes_title, notes = _read_slide(package, package.relations(part).parts.get("notesSlide", ""))
        found.insert(0, heading(2, title or f"Slide {number}"))
        if said := [*filter(None, [notes_title]), *notes]:
            found += ["Notes:", *said]
        blocks += found
        room -= sum(len(block) + BLOCK_CHARACTERS for block in found)
    return read_converted("\n\n".join(blocks) + "\n" * bool(blocks), path, metadata=package.metadata())


def _read_slide(package: OfficePackage, part: str) -> tuple[str, list[str]]:
    """Return the title and the blocks of a slide or its notes."""
    titles, blocks = list[str](), list[str]()
    for element in until_too_long(package.elements(part, "sp", "tbl")):
        if element.tag == "tbl":
            rows = [[" ".join(_slide_texts(cell)) for cell in row.iter("tc")] for row in element.iter("tr")]
            blocks += filter(None, [table(rows)])
            continue
        placeholder = element.find(".//ph")
        kind = "" if placeholder is None else placeholder.get("type", "body")
        if kind in _TITLES:
            titles += _slide_texts(element)
        elif kind not in _LEFT_OUT:
            blocks += map(paragraph, _slide_texts(element))
    return " ".join(titles), blocks


def _slide_texts(element: Element) -> list[str]:
    """Return the paragraphs of a shape or cell that have text."""
    return [text for one in element.iter("p") if (text := _shown_text(one).strip())]


_MAX_COLUMN = 500
"""Cells further to the right are left out, so that one cell does not make a row of thousands of empty ones."""
EMPTY_CHARACTERS = BLOCK_CHARACTERS // 5
"""The characters that an empty cell before another one counts for. A sheet is cut after 90,000 cells or 500,000
empty ones, which take a second; one that was read to its end would run out of time, and would have no text at all."""
_COLUMN = re.compile(r"[A-Z]{1,3}")


def read_xlsx(data: bytes, path: str) -> Reading:
    """Read a workbook."""
    package = OfficePackage(data)
    main = package.main_part("xl/workbook.xml")
    relations = package.relations(main)
    sheets = [one for one in package.elements(main, "sheet") if one.get("state", "visible") == "visible"]
    texts = until_too_long(package.elements(relations.parts.get("sharedStrings", ""), "si"))
    strings = ["".join(one.text or "" for way in ("t", "r/t") for one in text.iterfind(way)) for text in texts]
    blocks, room = list[str](), MAX_CHARACTERS
    for sheet in sheets:
        rows = list[list[str]]()
        for row in package.elements(relations.targets.get(sheet.get("id", ""), ""), "row"):
            cells, taken = _read_row(row, strings, room)
            rows.append(cells)
            room -= taken
            if room <= 0:
                break
        if text := table(rows):
            blocks += [heading(2, sheet.get("name", "")), text]
    return read_converted("\n\n".join(blocks) + "\n" * bool(blocks), path, metadata=package.metadata())


def _read_row(row: Element, strings: Sequence[str], room: int) -> tuple[list[str], int]:
    """Return the cells of a row as far as there is room for their text, and how much of it they take."""
    cells, taken, column = list[str](), BLOCK_CHARACTERS, 0
    for cell in row.iterfind("c"):
        place = _COLUMN.match(cell.get("r", ""))
        column = _column_number(place[0]) if place else len(cells) + 1
        if column <= _MAX_COLUMN and taken < room and (value := text_in(cell, "v", "t")):
            empty = max(0, column - len(cells))
            cells += [""] * empty
            cells[column - 1] = _shown_value(cell.get("t", "n"), value, strings)
            taken += len(cells[column - 1]) + BLOCK_CHARACTERS + empty * EMPTY_CHARACTERS
    return cells, taken


def _shown_value(kind: str, value: str, strings: Sequence[str]) -> str:
    if kind == "s":
        number = int(value) if value.isascii() and value.isdigit() and len(value) < 9 else len(strings)
        return strings[number] if number < len(strings) else ""
    return {"0": "FALSE", "1": "TRUE"}.get(value, value) if kind == "b" else value


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number
