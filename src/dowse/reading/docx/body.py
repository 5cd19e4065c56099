"""Text of a Word document, collected from its XML elements."""

import re
from collections.abc import Mapping

from dowse.reading.docx.paragraphs import DocxBlock, Paragraph, ParagraphConverter, join_blocks
from dowse.reading.docx.styles import parse_small_int
from dowse.reading.markdown_writer import indent, link, table

_INVISIBLE = {
    *("w:del", "w:moveFrom", "w:pPrChange", "w:rPrChange"),  # deleted text, moved text, and former formatting
    *("mc:Fallback", "w:sdtPr", "w:tblPr", "w:tabs"),  # duplicates for older programs, and elements that are not text
}
_HYPERLINK_FIELD = re.compile(r"""\s*HYPERLINK\s+(?:\\[a-z]\s+)*"([^"]+)\"""", re.IGNORECASE)
_FALSE_VALUES = {"0", "false", "off"}
_CHARACTER_ELEMENTS = {"w:tab": " ", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-"}
_MAX_CHARS = 5_000_000
"""The maximum length of the text: that of a book of two thousand pages."""
_BLOCK_CHARS = 50
"""The number of characters that each paragraph, row or cell counts for, even if it is empty."""
_MAX_FIELD_CHARS = 2000


class Body:
    """Handles the main part, or the part with footnotes, and collects its blocks."""

    def __init__(self, converter: ParagraphConverter, addresses: Mapping[str, str]) -> None:
        self.blocks: list[DocxBlock] = []
        self._converter = converter
        self._addresses = addresses
        self._invisible_depth = 0
        self._chars = 0
        self._paragraphs: list[Paragraph] = []
        """The open paragraphs; there can be several, since a text box stands inside a paragraph."""
        self._tables = 0
        self._rows: list[list[list[str]]] = []
        self._links: list[tuple[Paragraph, int, str]] = []
        self._fields: list[str | None] = []
        """The instructions of the open fields; None for a field whose result is being read."""
        self._inside = ""
        self._is_hidden = False
        self._note = ("", 0)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        if self._invisible_depth or name in _INVISIBLE or self._chars > _MAX_CHARS:
            self._invisible_depth += 1
            return
        match name:
            case "w:p":
                self._paragraphs.append(Paragraph())
                self._chars += _BLOCK_CHARS
            case "w:r":
                self._inside, self._is_hidden = "run", False
            case "w:t" | "t" | "w:instrText":
                self._inside = "field" if name == "w:instrText" else "text"
            case "w:tbl":
                self._tables += 1
            case "w:tr" | "w:tc" if self._tables == 1:
                self._open_cell(name)
            case "w:footnote" | "w:endnote":
                self._note = (f"{name[2]}{attributes.get('id', '')}", len(self.blocks))
            case _ if self._paragraphs:
                self._handle_in_paragraph(self._paragraphs[-1], name, attributes)

    def end(self, name: str) -> None:
        """Handle the end of an element."""
        if self._invisible_depth:
            self._invisible_depth -= 1
            return
        match name:
            case "w:p" if self._paragraphs:
                self._close_paragraph(self._paragraphs.pop())
            case "w:t" | "t" | "w:instrText":
                self._inside = "run"
            case "w:r":
                self._inside = ""
            case "w:hyperlink" | "w:fldSimple":
                self._close_link()
            case "w:tbl" if self._tables:
                self._close_table()
            case "w:footnote" | "w:endnote":
                self._close_note()

    def text(self, text: str) -> None:
        """Handle characters; only those inside text elements are shown."""
        if self._invisible_depth:
            return
        if self._inside == "text":
            self._add(text)
        elif self._inside == "field" and self._fields and self._fields[-1] is not None:
            self._fields[-1] = (self._fields[-1] + text)[:_MAX_FIELD_CHARS]

    def _handle_in_paragraph(self, current: Paragraph, name: str, attributes: dict[str, str]) -> None:
        """Handle an element inside a paragraph, which describes the paragraph or adds to its text."""
        value = attributes.get("val", "")
        match name:
            case "w:pStyle":
                current.style = value
            case "w:outlineLvl":
                current.outline = parse_small_int(value, 9)
            case "w:numId":
                current.list_id = value
            case "w:ilvl":
                current.list_depth = value
            case "w:vanish" if self._inside == "run":
                self._is_hidden = value not in _FALSE_VALUES
            case "w:hyperlink":
                address, anchor = self._addresses.get(attributes.get("id", ""), ""), attributes.get("anchor", "")
                self._open_link(f"{address}#{anchor}" if address and anchor else address)
            case "w:fldSimple":
                self._open_link(_field_address(attributes.get("instr", "")))
            case "w:fldChar":
                self._handle_field(attributes.get("fldCharType", ""))
            case "w:footnoteReference" | "w:endnoteReference":
                self._add(f"[^{name[2]}{attributes.get('id', '')}]")
            case _ if name in _CHARACTER_ELEMENTS and self._inside == "run" and attributes.get("type") != "page":
                self._add(_CHARACTER_ELEMENTS[name])

    def _add(self, text: str) -> None:
        if self._paragraphs and not self._is_hidden:
            self._paragraphs[-1].pieces.append(text)
            self._chars += len(text)

    def _handle_field(self, kind: str) -> None:
        """Handle the start of a field, the end of its instruction, or its end; a field can be a link."""
        if kind == "begin":
            self._fields.append("")
        elif kind == "separate" and self._fields and self._fields[-1] is not None:
            self._open_link(_field_address(self._fields[-1]))
            self._fields[-1] = None
        elif kind == "end" and self._fields and self._fields.pop() is None:
            self._close_link()

    def _open_link(self, address: str) -> None:
        current = self._paragraphs[-1]
        is_inside = any(outer[2] for outer in self._links[-1:])
        self._links.append((current, len(current.pieces), "" if is_inside else address))

    def _close_link(self) -> None:
        if not self._links:
            return
        current, start, address = self._links.pop()
        text = "".join(current.pieces[start:]) if address and self._paragraphs[-1:] == [current] else ""
        if text.strip():
            current.pieces[start:] = [link(text, address)]

    def _close_paragraph(self, current: Paragraph) -> None:
        if self._rows and self._rows[-1]:
            self._rows[-1][-1].append("".join(current.pieces))
        else:
            self.blocks.append(self._converter.convert(current))

    def _open_cell(self, name: str) -> None:
        """Open a row or a cell; tables inside a cell become part of its text."""
        self._chars += _BLOCK_CHARS
        if name == "w:tr":
            self._rows.append([])
        elif self._rows:
            self._rows[-1].append([])

    def _close_table(self) -> None:
        self._tables -= 1
        if not self._tables:
            self.blocks.append(DocxBlock("text", table([" ".join(cell) for cell in row] for row in self._rows)))
            self._rows = []

    def _close_note(self) -> None:
        label, at = self._note
        text = join_blocks(self.blocks[at:])
        self.blocks[at:] = [DocxBlock("text", f"[^{label}]: {indent(text, '    ').lstrip()}")] if text else []


def _field_address(instruction: str) -> str:
    match = _HYPERLINK_FIELD.match(instruction)
    return match[1] if match else ""
