"""Pages, reports and notes as text with line numbers: whole to be read, and the section that answers a question."""

import re
from textwrap import wrap

from dowse.answers.definition_replies import MAX_LINE_CHARACTERS, FoundDefinition
from dowse.answers.source_text import SourceText
from dowse.federation.federation_types import FetchedItem
from dowse.screening.masking import screen_text
from dowse.searching.passages import Passage
from dowse.searching.term_positions import terms_among

WRAPPED_CHARACTERS = 160
"""A line that is too long to be shown, as the pages of a site are, is broken into lines of this length."""
SECTION_CHARACTERS = 2_000
"""Of a longer section, the lines around the passage that the source found are shown."""
LINES_ABOVE = 2
_ELLIPSES = re.compile(r"(?<!\s)\s*(?:…|\.\.\.)\s*")
_LOCATING_WORDS = 8
"""Words by which a passage is found in the text if it is not there as a whole."""


def item_text(item_id: str, text: str) -> SourceText:
    """Return the text of an item with its lines and sections, with secrets masked."""
    shown = screen_text(wrapped(text), path=item_id, masks=True).text
    return SourceText(item_id, shown, "markdown", "docs", ())


def item_section(source: SourceText, item: FetchedItem, passage: str, terms: frozenset[str]) -> FoundDefinition:
    """Return the section that has a passage, or the lines around it; a short text is shown whole."""
    lines, line = source.lines, _line_of(source.text, passage, terms)
    start, end, names = 1, len(lines), tuple[str, ...]()
    unit = source.unit_at(line)
    if len(source.text) > SECTION_CHARACTERS and unit:
        start, end, names = unit.start + 1, unit.end + 1, unit.names
    first, last = _lines_around(lines, start, end, line)
    headings = (item.title, *(name for name in names if name != item.title))
    flags = screen_text("\n".join(lines[first - 1 : last]), path=source.path, masks=False).flags
    found = Passage(
        first, last, "\n".join(lines[first - 1 : last]), headings=headings,
        flagged_lines=tuple(sorted({first + flag.line - 1 for flag in flags})),
        whole=None if (first, last) == (start, end) else (start, end),
    )  # fmt: skip
    return FoundDefinition(source.path, found, address=web_address(item.url))


def web_address(address: str) -> str:
    """Return the address of a page; empty for an address that only this server knows, as the id says it."""
    return address if address.startswith(("http://", "https://")) else ""


def wrapped(text: str) -> str:
    """Return a text whose lines can be shown whole."""
    rows = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    return "\n".join(
        row if len(row) <= MAX_LINE_CHARACTERS else "\n".join(wrap(row, WRAPPED_CHARACTERS)) for row in rows
    )


def _line_of(text: str, passage: str, terms: frozenset[str]) -> int:
    """Return the line of a passage with most of the terms; the first line if the passage is not found.

    The passage may be written with other blanks than the text.
    """
    for part in _ELLIPSES.split(passage):
        words = part.split()
        for some in (words[:-1], words[:_LOCATING_WORDS]):  # the last word may be cut
            if some and (found := re.search(r"\s+".join(map(re.escape, some)), text)):
                first = text.count("\n", 0, found.start()) + 1
                counts = [len(terms_among(line, terms)) for line in found[0].split("\n")]
                return first + counts.index(max(counts))
    return 1


def _lines_around(lines: list[str], start: int, end: int, line: int) -> tuple[int, int]:
    """Return the first and last of the lines of a section that fit, around one of them."""
    if sum(len(text) + 1 for text in lines[start - 1 : end]) <= SECTION_CHARACTERS:
        return start, end
    last = min(max(line, start), end)
    first = max(start, last - LINES_ABOVE)
    left = SECTION_CHARACTERS - sum(len(text) + 1 for text in lines[first - 1 : last])
    while True:
        if last < end and len(lines[last]) < left:
            last += 1
            left -= len(lines[last - 1]) + 1
        elif first > start and len(lines[first - 2]) < left:
            first -= 1
            left -= len(lines[first - 1]) + 1
        else:
            return first, last
