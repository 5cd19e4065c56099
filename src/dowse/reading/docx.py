"""Reader of Word documents, which become Markdown: headings, lists, tables, links and notes.

Macros are not run, and nothing outside the file is read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from dowse.errors import PackageRefused
from dowse.reading.markdown import read_converted
from dowse.reading.markdown_writer import heading, link, paragraph, table
from dowse.reading.office_package import BLOCK_CHARACTERS, MAX_CHARACTERS, OfficePackage
from dowse.types import Reading

_MAX_LIST_DEPTH = 8
_HEADING = re.compile(r"heading ?([1-9])|(title)", re.IGNORECASE)
_CONTENTS = re.compile(r"toc(?: ?\d| heading)|table of (?:figures|authorities)", re.IGNORECASE)
_INVISIBLE = frozenset({
    "del", "moveFrom", "pPrChange", "rPrChange",  # deleted text, moved text, and former formatting
    "Fallback", "sdtPr", "tblPr", "tabs", "instrText",  # duplicates for older programs, and elements that are not text
})  # fmt: skip
_CHARACTERS = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_FALSE_VALUES = frozenset({"0", "false", "off"})


def read_docx(data: bytes, path: str) -> Reading:
    """Read a document."""
    package = OfficePackage(data)
    main = package.relations("").parts.get("officeDocument", "word/document.xml")
    relations, styles = package.relations(main), _Styles()
    package.parse(relations.parts.get("styles", ""), styles.start)
    body = _Body(styles, relations.addresses)
    for part in (main, relations.parts.get("footnotes", ""), relations.parts.get("endnotes", "")):
        package.parse(part, body.start, body.end, body.text)
    return read_converted(body.markdown(), path, metadata=package.metadata())


@dataclass(slots=True)
class _Style:
    """The properties of a style or of a paragraph."""

    name: str = ""
    based_on: str = ""
    level: int = 0
    """The level of a heading, 0 for other text."""
    list_id: str = ""
    depth: int = 0

    def read(self, element: str, value: str) -> None:
        """Read an element of the properties."""
        if element == "outlineLvl" and value in set("012345678"):
            self.level = self.level or int(value) + 1
        elif element == "numId":
            self.list_id = value
        elif element == "ilvl" and value.isascii() and value.isdigit():
            self.depth = min(int(value[:4]), _MAX_LIST_DEPTH)

    def set_name(self, name: str) -> None:
        """Set the name, which the styles for headings have in common."""
        self.name = name
        if match := _HEADING.fullmatch(name):
            self.level = int(match[1] or 1)


class _Styles:
    """Handles the part that defines styles."""

    def __init__(self) -> None:
        self._styles: dict[str, _Style] = {}
        self._current = _Style()

    def start(self, name: str, attributes: dict[str, str]) -> None:
        value = attributes.get("val", "")
        if name == "style":
            self._current = self._styles[attributes.get("styleId", "")] = _Style()
        elif name == "name":
            self._current.set_name(value)
        elif name == "basedOn":
            self._current.based_on = value
        else:
            self._current.read(name, value)

    def style(self, identifier: str) -> _Style:
        """Return a style with what it inherits from the one below it; an undefined style has its id as name."""
        if (own := self._styles.get(identifier)) is None:
            own = _Style()
            own.set_name(identifier)
        base = self._styles.get(own.based_on, own)
        return _Style(own.name, "", own.level or base.level, own.list_id or base.list_id, own.depth or base.depth)


@dataclass(slots=True)
class _Paragraph:
    """A paragraph that is being read."""

    stated: _Style = field(default_factory=_Style)
    style: str = ""
    pieces: list[str] = field(default_factory=list)
    link_start: int = 0
    address: str = ""


class _Body:
    """Handles the main part and the notes, and collects their blocks."""

    def __init__(self, styles: _Styles, addresses: Mapping[str, str]) -> None:
        self._styles, self._addresses = styles, addresses
        self._blocks: list[tuple[bool, str]] = []
        """Whether each block is an item of a list, and its text."""
        self._paragraphs: list[_Paragraph] = []
        """The open paragraphs; there can be several, since a text box stands inside a paragraph."""
        self._tables = 0
        self._rows: list[list[list[str]]] = []
        self._invisible_depth = self._chars = 0
        self._is_text = self._is_hidden = False

    def markdown(self) -> str:
        """Return the whole text, with the items of lists on consecutive lines, and what was open when the reading ended."""
        while self._paragraphs:
            self._end_paragraph(self._paragraphs.pop())
        self._end_table()
        text, was_item = "", False
        for is_item, block in self._blocks:
            text += ("\n" if is_item and was_item else "\n\n" if text else "") + block
            was_item = is_item
        return f"{text}\n" if text else ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element; refuse one that comes after the longest text."""
        if self._chars > MAX_CHARACTERS:
            raise PackageRefused
        if self._invisible_depth or name in _INVISIBLE:
            self._invisible_depth += 1
        elif name == "p":
            self._paragraphs.append(_Paragraph())
            self._chars += BLOCK_CHARACTERS
        elif name == "tbl":
            self._tables += 1
        elif name in ("tr", "tc") and self._tables == 1:
            self._chars += BLOCK_CHARACTERS
            if name == "tr":
                self._rows.append([])
            elif self._rows:
                self._rows[-1].append([])
        elif self._paragraphs:
            self._start_in_paragraph(self._paragraphs[-1], name, attributes)

    def _start_in_paragraph(self, current: _Paragraph, name: str, attributes: dict[str, str]) -> None:
        value = attributes.get("val", "")
        if name == "r":
            self._is_hidden = False
        elif name == "t":
            self._is_text = True
        elif name == "pStyle":
            current.style = value
        elif name == "vanish":
            self._is_hidden = value not in _FALSE_VALUES
        elif name == "hyperlink":
            address, anchor = self._addresses.get(attributes.get("id", ""), ""), attributes.get("anchor", "")
            current.link_start = len(current.pieces)
            current.address = f"{address}#{anchor}" if address and anchor else address
        elif name in _CHARACTERS and attributes.get("type") != "page":
            self._add(_CHARACTERS[name])
        else:
            current.stated.read(name, value)

    def end(self, name: str) -> None:
        """Handle the end of an element."""
        if self._invisible_depth:
            self._invisible_depth -= 1
        elif name == "t":
            self._is_text = False
        elif name == "p" and self._paragraphs:
            self._end_paragraph(self._paragraphs.pop())
        elif name == "hyperlink" and self._paragraphs and (address := self._paragraphs[-1].address):
            current = self._paragraphs[-1]
            if (text := "".join(current.pieces[current.link_start :])).strip():
                current.pieces[current.link_start :] = [link(text, address)]
            current.address = ""
        elif name == "tbl" and self._tables:
            self._tables -= 1
            if not self._tables:
                self._end_table()

    def text(self, text: str) -> None:
        """Handle characters; only those inside text elements are shown."""
        if self._is_text and not self._invisible_depth:
            self._add(text)

    def _add(self, text: str) -> None:
        if self._paragraphs and not self._is_hidden:
            self._paragraphs[-1].pieces.append(text)
            self._chars += len(text)
            if self._chars > MAX_CHARACTERS:
                raise PackageRefused

    def _end_table(self) -> None:
        if text := table([" ".join(cell) for cell in row] for row in self._rows):
            self._blocks.append((False, text))
        self._rows = []

    def _end_paragraph(self, current: _Paragraph) -> None:
        text = "".join(current.pieces).strip()
        style = self._styles.style(current.style)
        if self._rows and self._rows[-1]:
            self._rows[-1][-1].append(text)
        elif not text or _CONTENTS.fullmatch(style.name):
            return
        elif level := current.stated.level or style.level:
            self._blocks.append((False, heading(level, text)))
        elif (current.stated.list_id or style.list_id or "0") != "0":
            indent = "  " * (current.stated.depth or style.depth)
            self._blocks.append((True, f"{indent}- " + text.replace("\n", f"\n{indent}  ")))
        else:
            self._blocks.append((False, paragraph(text)))
