"""Spans of characters, how a text is split into them, and their conversion to chunks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from dowse.text.line_numbers import line_number_at, line_starts
from dowse.types import Chunk, Symbol


@dataclass(frozen=True, slots=True)
class Span:
    """A slice of a text, in characters, end exclusive, with its symbols and headings."""

    start: int
    end: int
    symbols: tuple[Symbol, ...] = ()
    headings: tuple[str, ...] = ()


class Text:
    """A text in characters and in UTF-8, with conversion between offsets in both."""

    def __init__(self, characters: str) -> None:
        self.characters = characters
        self.utf8 = characters.encode()

    @cached_property
    def line_starts(self) -> list[int]:
        """The byte offset at which each line begins."""
        return line_starts(self.utf8)

    def line_at(self, byte: int) -> int:
        """Return the number of the line that contains a byte, counted from 1."""
        return line_number_at(self.line_starts, byte)

    def byte_offsets(self, positions: Iterable[int]) -> dict[int, int]:
        """Map character offsets to byte offsets, in one pass over the text."""
        if len(self.characters) == len(self.utf8):
            return {position: position for position in positions}
        offsets, at, byte = {}, 0, 0
        for position in sorted(positions):
            byte += len(self.characters[at:position].encode())
            offsets[position], at = byte, position
        return offsets

    def character_offsets(self, positions: Iterable[int]) -> dict[int, int]:
        """Map byte offsets to character offsets, in one pass over the text.

        An offset inside a character, which no parser should give, counts as the start of that character.
        """
        if len(self.characters) == len(self.utf8):
            return {position: position for position in positions}
        offsets, at, character = {}, 0, 0
        for position in sorted(positions):
            whole = self.utf8[at:position].decode(errors="ignore")
            character += len(whole)
            at += len(whole.encode())
            offsets[position] = character
        return offsets


def make_chunks(text: Text, spans: Iterable[Span]) -> Iterator[Chunk]:
    """Return a chunk for each span, without the blank lines around it; blank spans are left out."""
    trimmed = list(
        _drop_nested(span for span in (_trim_blank_lines(text.characters, span) for span in spans) if span is not None)
    )
    offsets = text.byte_offsets({edge for span in trimmed for edge in (span.start, span.end)})
    for span in trimmed:
        start_byte, end_byte = offsets[span.start], offsets[span.end]
        yield Chunk(
            text=text.characters[span.start : span.end],
            start_byte=start_byte,
            end_byte=end_byte,
            start_line=text.line_at(start_byte),
            end_line=text.line_at(end_byte - 1),
            symbols=span.symbols,
            headings=span.headings,
        )


def _drop_nested(spans: Iterable[Span]) -> Iterator[Span]:
    """Drop spans that lie inside a neighbour, which can happen when overlapping spans are trimmed."""
    last = None
    for span in spans:
        if last is None or (span.start > last.start and span.end > last.end):
            if last is not None:
                yield last
            last = span
        elif span.end > last.end:
            last = span
    if last is not None:
        yield last


def _trim_blank_lines(characters: str, span: Span) -> Span | None:
    """Return the span without leading blank lines and trailing white space; None if it is blank.

    Then a chunk has only lines worth showing, and adding or removing blank lines around a function
    does not change the chunk.
    """
    passage = characters[span.start : span.end]
    lead = len(passage) - len(passage.lstrip())
    if lead == len(passage):
        return None
    # The first line keeps its indentation, without which code cannot be read.
    lead = max(passage.rfind("\n", 0, lead), passage.rfind("\r", 0, lead)) + 1
    return Span(span.start + lead, span.start + len(passage.rstrip()), span.symbols, span.headings)


# Includes the line ends of Windows and of old Macs; without them such files would be cut at words.
_PARAGRAPH = ("\n\n", "\r\n\r\n")
_LINE = ("\n", "\r")


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """The maximum length and the overlap of chunks, in characters, and the separators, the best first."""

    size: int
    overlap: int
    separators: tuple[str, ...]


CODE_SIZE = ChunkSize(size=4000, overlap=800, separators=(*_PARAGRAPH, *_LINE, " "))
DOCS_SIZE = ChunkSize(size=8000, overlap=2000, separators=(*_PARAGRAPH, *_LINE, ". ", " "))


def split_text(characters: str, chunk_size: ChunkSize, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Cut characters[start:end] into spans that together cover it and are no longer than the size.

    Takes linear time: each cut looks at no more text than the size, and any five consecutive cuts
    advance by more than the size minus the overlap.
    """
    end = len(characters) if end is None else end
    done = start
    while end - start > chunk_size.size:
        cut = _find_cut(characters, done, start, chunk_size)
        yield Span(start, cut)
        start, done = _find_next_start(characters, start, cut, chunk_size), cut
    if done < end:
        yield Span(start, end)


def _find_cut(characters: str, done: int, start: int, chunk_size: ChunkSize) -> int:
    """Return the end of the span that begins at `start`: after the best separator beyond `done`.

    Separators in the second half of the span are preferred, so that a heading or an import
    does not become a span of its own before a long block.
    """
    limit, half = start + chunk_size.size, start + chunk_size.size // 2
    for low in (max(done, half), done):
        for separator in chunk_size.separators:
            at = characters.rfind(separator, low, limit)
            if at >= 0:
                return at + len(separator)
    return limit


def _find_next_start(characters: str, start: int, cut: int, chunk_size: ChunkSize) -> int:
    """Return the start of the next span: as far back as the overlap allows, at the best separator.

    It is never in the first half of the previous span; otherwise a short span would be repeated whole.
    """
    earliest = max(cut - chunk_size.overlap, start + max(1, (cut - start) // 2))
    for separator in chunk_size.separators:
        at = characters.find(separator, max(earliest - len(separator), 0), cut)
        if at >= 0 and at + len(separator) < cut:
            return at + len(separator)
    return min(earliest, cut)
