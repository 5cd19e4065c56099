"""Reader of PowerPoint presentations, which become Markdown: a section for each slide, with its tables and notes."""

from dowse.reading.markdown import read_converted
from dowse.reading.markdown_writer import heading, paragraph, table
from dowse.reading.office_package import BLOCK_CHARACTERS, MAX_CHARACTERS, ZIP_ERRORS, OfficePackage
from dowse.types import Reading

_TITLES = frozenset({"title", "ctrTitle"})
_LEFT_OUT = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
"""Placeholders for what every slide has: its number, the date, and the lines above and below."""


def read_pptx(data: bytes, path: str) -> Reading:
    """Read a presentation; one that cannot be opened, for example because it is encrypted, has no text."""
    try:
        package = OfficePackage(data)
    except ZIP_ERRORS:
        return read_converted("", path)
    main = package.relations("").parts.get("officeDocument", "ppt/presentation.xml")
    order, relations = _SlideOrder(), package.relations(main)
    package.parse(main, order.start)
    blocks, room = list[str](), MAX_CHARACTERS
    for number, identifier in enumerate(order.slides, 1):
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


class _SlideOrder:
    """Handles the part that lists the slides."""

    def __init__(self) -> None:
        self.slides: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "sldId":
            self.slides.append(attributes.get("id", ""))


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
