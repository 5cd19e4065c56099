"""Cutting of Markdown, reStructuredText and AsciiDoc by their sections, each with the headings above it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import TYPE_CHECKING

from dowse.parsing.spans import DOCS_SIZE, ChunkSize, Span, Text, split_text
from dowse.text.line_numbers import split_lines
from dowse.text.markup_lines import MARKUP_LANGUAGES, find_markup_headings

if TYPE_CHECKING:
    from pyromark.event import Event

TARGET_CHARS = 1500
"""The intended length of a chunk, to which short sections are joined and long ones are cut.

Encoders read only 600 to 1,000 characters of a chunk.
"""

MAX_WHOLE_CHARS = 2000
"""Sections up to this length stay whole: cutting one that exceeds the target by a third would leave a stub."""

SMALL_CHARS = 500
"""Shorter sections are joined to a neighbour, so that a page of one-line sections does not flood the results."""

TINY_CHARS = 150
"""A shorter section is a bare heading, which is joined to its first subsection however long that is."""

_LONG_SECTION = ChunkSize(size=TARGET_CHARS, overlap=0, separators=DOCS_SIZE.separators)


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A paragraph, list, table, code block or heading; `start` is the offset of its first character."""

    start: int
    level: int = 0
    """The level of a heading; 0 for other blocks."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class MarkdownSection:
    """A heading with the text below it, up to the next heading."""

    starts: tuple[int, ...]
    """The offsets at which its blocks begin."""
    end: int
    level: int
    parents: tuple[str, ...]
    """The headings above it in the hierarchy, outermost first."""
    titles: tuple[str, ...]
    """Its own heading, or the headings of all sections that were joined."""

    @property
    def start(self) -> int:
        """The offset of its first character."""
        return self.starts[0]

    @property
    def size(self) -> int:
        """Length in characters."""
        return self.end - self.start


def section_spans(text: Text, language: str) -> Iterator[Span]:
    """Return the spans of a text, from its first character to its last."""
    blocks = _markup_blocks(text, language) if language in MARKUP_LANGUAGES else _markdown_blocks(text)
    for section in _join_short_sections(_group_sections(blocks, len(text.characters))):
        for start, end in _cut_section(text.characters, section):
            yield Span(start, end, headings=section.parents + section.titles)


def _markup_blocks(text: Text, language: str) -> list[MarkdownBlock]:
    """Return the headings of a text, and the paragraphs that are not indented."""
    lines = split_lines(text.characters)
    starts = list(accumulate(map(len, lines), initial=0))
    headings = find_markup_headings(lines, language)
    blocks = {one.line: MarkdownBlock(starts[one.line], one.level, one.text) for one in headings}
    for at, line in enumerate(lines):
        if line.strip() and line[0] not in " \t" and (at == 0 or not lines[at - 1].strip()):
            blocks.setdefault(at, MarkdownBlock(starts[at]))
    return [block for _, block in sorted(blocks.items())]


def _markdown_blocks(text: Text) -> list[MarkdownBlock]:
    """Return the top-level blocks of a text; headings inside lists and quotations count as text."""
    # Imported here because it takes 11 ms, and only Markdown needs it.
    from pyromark import Options, events_with_range

    options = Options.ENABLE_YAML_STYLE_METADATA_BLOCKS | Options.ENABLE_HEADING_ATTRIBUTES
    found, end = list[tuple[int, int, list[str]]](), 0
    for event, where in events_with_range(text.characters, options=options):
        if where["start"] >= end:
            end = where["end"]
            found.append((where["start"], _heading_level(event), []))
        elif found[-1][1]:
            found[-1][2].append(_visible_text(event))
    at = text.character_offsets(start for start, _, _ in found)
    return [MarkdownBlock(at[start], level, " ".join("".join(words).split())) for start, level, words in found]


def _heading_level(event: "Event") -> int:
    match event:
        case {"Start": {"Heading": {"level": level}}}:
            return int(level.removeprefix("H"))
    return 0


def _visible_text(event: "Event") -> str:
    """Return the text that an event inside a heading shows to a reader."""
    match event:
        case {"Text": str(words)} | {"Code": str(words)}:
            return words
        case "SoftBreak" | "HardBreak":
            return " "
    return ""


def _group_sections(blocks: list[MarkdownBlock], end: int) -> Iterator[MarkdownSection]:
    """Group blocks into sections; the first section holds the text before the first heading."""
    starts, path = [0], [MarkdownBlock(0)]
    for block in blocks:
        if block.level:
            yield _make_section(starts, block.start, path)
            path = [*(parent for parent in path if parent.level < block.level), block]
            starts = [block.start]
        elif block.start:
            starts.append(block.start)
    yield _make_section(starts, end, path)


def _make_section(starts: list[int], end: int, path: list[MarkdownBlock]) -> MarkdownSection:
    titles = [heading.title for heading in path if heading.title]
    parent_count = len(titles) - (1 if path[-1].title else 0)
    return MarkdownSection(
        tuple(starts), end, path[-1].level, tuple(titles[:parent_count]), tuple(titles[parent_count:])
    )


def _join_short_sections(sections: Iterator[MarkdownSection]) -> Iterator[MarkdownSection]:
    """Join short sections to the following ones of the same or a lower rank, up to the target length."""
    current = next(sections)
    for section in sections:
        if _should_join(current, section):
            current = MarkdownSection(
                current.starts + section.starts,
                section.end,
                current.level or section.level,  # the text before the first heading has no level
                current.parents,
                current.titles + section.titles,
            )
        else:
            yield current
            current = section
    yield current


def _should_join(first: MarkdownSection, second: MarkdownSection) -> bool:
    if first.size < TINY_CHARS and second.level > first.level:
        return True
    is_short = min(first.size, second.size) < SMALL_CHARS
    return is_short and second.level >= first.level and first.size + second.size <= TARGET_CHARS


def _cut_section(characters: str, section: MarkdownSection) -> Iterator[tuple[int, int]]:
    """Cut a section into pieces of about the target length, between its blocks where they are short enough."""
    if section.size <= MAX_WHOLE_CHARS:
        yield section.start, section.end
        return
    piece_size = section.size / ceil(section.size / TARGET_CHARS)
    start = section.start
    for begin, end in zip(section.starts, (*section.starts[1:], section.end), strict=True):
        # A heading or a lead-in stays with the block that follows, however long that is.
        if begin - start >= min(piece_size, SMALL_CHARS if end - start > MAX_WHOLE_CHARS else piece_size):
            yield from _split_if_long(characters, start, begin)
            start = begin
    yield from _split_if_long(characters, start, section.end)


def _split_if_long(characters: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Return a piece whole, or cut it as plain text if a single block makes it too long."""
    if end - start <= MAX_WHOLE_CHARS:
        yield start, end
    else:
        yield from ((span.start, span.end) for span in split_text(characters, _LONG_SECTION, start, end))
