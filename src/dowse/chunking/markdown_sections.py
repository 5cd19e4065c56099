"""Markdown by its sections, each with the headings above it."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from dowse.chunking.spans import Span, Text
from dowse.chunking.splitter import DOCS, ChunkSize, split

if TYPE_CHECKING:
    from pyromark.event import Event

TARGET = 1500
"""Sections are joined, and long ones cut, to about so many characters: encoders read 600 to 1,000 of a chunk."""

WHOLE = 2000
"""A section up to this length stays whole: a third more than the target would only leave a stub."""

SMALL = 500
"""A section shorter than this is joined to its neighbour, lest a page of one-line sections floods the results."""

TINY = 150
"""A section shorter than this is a bare heading, which goes with its first subsection however long that is."""

_LONG = ChunkSize(size=TARGET, overlap=0, separators=DOCS.separators)


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A paragraph, list, table, code block or heading, by the character at which it begins."""

    start: int
    level: int = 0
    """That of a heading; 0 for all else."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class MarkdownSection:
    """A heading with what stands below it, up to the next heading."""

    starts: tuple[int, ...]
    """Where its parts begin."""
    end: int
    level: int
    above: tuple[str, ...]
    """The headings that it stands under, outermost first."""
    titles: tuple[str, ...]
    """Its own heading, or those of all sections that were joined."""

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.starts[0]

    @property
    def size(self) -> int:
        """Length in characters."""
        return self.end - self.start


def markdown_spans(text: Text) -> Iterator[Span]:
    """The spans of a Markdown text, from its first character to its last."""
    for section in _joined(_sections(_parts(text), len(text.characters))):
        for start, end in _cut(text.characters, section):
            yield Span(start, end, headings=section.above + section.titles)


def _parts(text: Text) -> list[MarkdownBlock]:
    """The outermost parts of a text; headings inside lists and quotations are text."""
    # 11 ms to import, which only Markdown needs.
    from pyromark import Options, events_with_range

    options = Options.ENABLE_YAML_STYLE_METADATA_BLOCKS | Options.ENABLE_HEADING_ATTRIBUTES
    found, end = list[tuple[int, int, list[str]]](), 0
    for event, where in events_with_range(text.characters, options=options):
        if where["start"] >= end:
            end = where["end"]
            found.append((where["start"], _heading_level(event), []))
        elif found[-1][1]:
            found[-1][2].append(_words(event))
    at = text.characters_at(start for start, _, _ in found)
    return [MarkdownBlock(at[start], level, " ".join("".join(words).split())) for start, level, words in found]


def _heading_level(event: "Event") -> int:
    match event:
        case {"Start": {"Heading": {"level": level}}}:
            return int(level.removeprefix("H"))
    return 0


def _words(event: "Event") -> str:
    """What an event inside a heading shows to a reader."""
    match event:
        case {"Text": str(words)} | {"Code": str(words)}:
            return words
        case "SoftBreak" | "HardBreak":
            return " "
    return ""


def _sections(parts: list[MarkdownBlock], end: int) -> Iterator[MarkdownSection]:
    """The parts by section; the first one holds what stands above all headings."""
    starts, path = [0], [MarkdownBlock(0)]
    for part in parts:
        if part.level:
            yield _section(starts, part.start, path)
            path = [*(above for above in path if above.level < part.level), part]
            starts = [part.start]
        elif part.start:
            starts.append(part.start)
    yield _section(starts, end, path)


def _section(starts: list[int], end: int, path: list[MarkdownBlock]) -> MarkdownSection:
    titles = [part.title for part in path if part.title]
    own = 1 if path[-1].title else 0
    return MarkdownSection(
        tuple(starts), end, path[-1].level, tuple(titles[: len(titles) - own]), tuple(titles[len(titles) - own :])
    )


def _joined(sections: Iterator[MarkdownSection]) -> Iterator[MarkdownSection]:
    """Short sections joined to the next ones of the same or a lower rank, up to the target."""
    current = next(sections)
    for section in sections:
        if _belong_together(current, section):
            current = MarkdownSection(
                current.starts + section.starts,
                section.end,
                current.level or section.level,  # what stands above all headings has no rank
                current.above,
                current.titles + section.titles,
            )
        else:
            yield current
            current = section
    yield current


def _belong_together(first: MarkdownSection, second: MarkdownSection) -> bool:
    if first.size < TINY and second.level > first.level:
        return True
    is_short = min(first.size, second.size) < SMALL
    return is_short and second.level >= first.level and first.size + second.size <= TARGET


def _cut(characters: str, section: MarkdownSection) -> Iterator[tuple[int, int]]:
    """A section in pieces of about the target, between its parts where they are short enough."""
    if section.size <= WHOLE:
        yield section.start, section.end
        return
    enough = section.size / ceil(section.size / TARGET)
    start = section.start
    for begin, end in zip(section.starts, (*section.starts[1:], section.end), strict=True):
        # A heading or a lead-in stays with what follows, however long that is.
        if begin - start >= min(enough, SMALL if end - start > WHOLE else enough):
            yield from _short(characters, start, begin)
            start = begin
    yield from _short(characters, start, section.end)


def _short(characters: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A piece as it is, or cut as plain text when a single part makes it too long."""
    if end - start <= WHOLE:
        yield start, end
    else:
        yield from ((span.start, span.end) for span in split(characters, _LONG, start, end))
