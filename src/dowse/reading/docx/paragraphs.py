"""Conversion of paragraphs of a Word document to Markdown: headings, list items, code, text."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from dowse.reading.docx.styles import Lists, Styles, parse_small_int
from dowse.reading.markdown_writer import code_block, heading, paragraph

_INDENT = "   "
"""Enough indentation for below a bullet and below a number, and too little for code."""
_MAX_LIST_DEPTH = 8


@dataclass(slots=True)
class Paragraph:
    """A paragraph that is being read: its properties and the pieces of its text."""

    style: str = ""
    outline: int | None = None
    list_id: str = ""
    list_depth: str = ""
    pieces: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DocxBlock:
    """A block of Markdown; neighbouring blocks of the kind `code` or `list` are joined."""

    kind: str
    text: str


class ParagraphConverter:
    """Converts paragraphs to blocks, with the styles and lists of the document."""

    def __init__(self, styles: Styles, lists: Lists) -> None:
        self._styles = styles
        self._lists = lists
        self._numbers: Counter[tuple[str, int]] = Counter()

    def convert(self, source: Paragraph) -> DocxBlock:
        """Return a paragraph in Markdown; empty if it has no text or belongs to a table of contents."""
        text = "".join(source.pieces)
        chain = self._styles.chain(source.style)
        if chain[0].is_code:
            return DocxBlock("code", text)
        text = text.strip()
        if not text or chain[0].is_contents:
            return DocxBlock("text", "")
        outlines = [source.outline, *(style.outline for style in chain)]
        level = next((style.level for style in chain if style.level), 0)
        outline = next((found for found in outlines if found is not None), 9)
        if level or outline < 9:
            return DocxBlock("text", heading(level or outline + 1, text))
        listed = source if source.list_id else next((style for style in chain if style.list_id), None)
        if listed is None or listed.list_id == "0":
            return DocxBlock("text", paragraph(text))
        return DocxBlock(
            "list", self._item(listed.list_id, parse_small_int(source.list_depth or listed.list_depth, 0), text)
        )

    def _item(self, identifier: str, depth: int, text: str) -> str:
        depth = min(depth, _MAX_LIST_DEPTH)
        self._numbers[identifier, depth] += 1
        for deeper in range(depth + 1, _MAX_LIST_DEPTH + 1):
            del self._numbers[identifier, deeper]
        is_numbered = self._lists.is_numbered(identifier, depth)
        marker = f"{self._numbers[identifier, depth]}. " if is_numbered else "- "
        return _INDENT * depth + marker + text.replace("\n", "\n" + _INDENT * depth + " " * len(marker))


def join_blocks(blocks: list[DocxBlock]) -> str:
    """Join blocks to one text, with list items on consecutive lines and code in one fence."""
    return "\n\n".join(_merge_blocks(blocks))


def _merge_blocks(blocks: list[DocxBlock]) -> Iterator[str]:
    for kind, members in groupby(
        (block for block in blocks if block.text or block.kind == "code"), lambda block: block.kind
    ):
        texts = [block.text for block in members]
        if kind == "code":
            yield code_block("\n".join(texts)) if any(texts) else ""
        elif kind == "list":
            yield "\n".join(texts)
        else:
            yield from texts
