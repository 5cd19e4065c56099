"""Spans of characters, and the chunks that they become."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from dowse.line_numbers import line_at, line_starts
from dowse.types import Chunk, Symbol


@dataclass(frozen=True, slots=True)
class Span:
    """A slice of a text in characters, end exclusive, with what is known about it."""

    start: int
    end: int
    symbols: tuple[Symbol, ...] = ()
    headings: tuple[str, ...] = ()


class Text:
    """A text in characters and in UTF-8, with the way from one to the other."""

    def __init__(self, characters: str) -> None:
        self.characters = characters
        self.utf8 = characters.encode()

    @cached_property
    def line_starts(self) -> list[int]:
        """The byte at which each line begins."""
        return line_starts(self.utf8)

    def line_at(self, byte: int) -> int:
        """The number, from 1, of the line that holds a byte."""
        return line_at(self.line_starts, byte)

    def bytes_at(self, positions: Iterable[int]) -> dict[int, int]:
        """Where each character position stands in UTF-8; one pass over the text."""
        if len(self.characters) == len(self.utf8):
            return {position: position for position in positions}
        offsets, at, byte = {}, 0, 0
        for position in sorted(positions):
            byte += len(self.characters[at:position].encode())
            offsets[position], at = byte, position
        return offsets

    def characters_at(self, positions: Iterable[int]) -> dict[int, int]:
        """Where each byte position stands in characters; one pass over the text.

        A position inside a character, which no parser should give, counts as that character's start.
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


def chunks_of(text: Text, spans: Iterable[Span]) -> Iterator[Chunk]:
    """Each span as a chunk, without the blank lines around it; blank spans are left out."""
    trimmed = list(_distinct(span for span in (_trimmed(text.characters, span) for span in spans) if span is not None))
    offsets = text.bytes_at({edge for span in trimmed for edge in (span.start, span.end)})
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


def _distinct(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans without those that lie in a neighbour, as overlapping ones can once they are trimmed."""
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


def _trimmed(characters: str, span: Span) -> Span | None:
    """The span from its first line with something on it to the last thing on the last one.

    So a chunk's lines are those worth showing, and blank lines around a function that come or
    go do not change the chunk.
    """
    passage = characters[span.start : span.end]
    lead = len(passage) - len(passage.lstrip())
    if lead == len(passage):
        return None
    # The first line keeps its indentation, without which code cannot be read.
    lead = max(passage.rfind("\n", 0, lead), passage.rfind("\r", 0, lead)) + 1
    return Span(span.start + lead, span.start + len(passage.rstrip()), span.symbols, span.headings)
