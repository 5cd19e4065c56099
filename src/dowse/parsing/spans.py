"""Spans of characters, and their conversion to chunks."""

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
