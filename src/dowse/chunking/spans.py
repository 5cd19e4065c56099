"""Spans of characters, and the chunks that they become."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dowse.lines import line_at, line_starts
from dowse.types import Chunk, Symbol


@dataclass(frozen=True, slots=True)
class Span:
    """A slice of a text in characters, end exclusive, with what is known about it."""

    start: int
    end: int
    symbols: tuple[Symbol, ...] = ()
    headings: tuple[str, ...] = ()


def chunks_of(text: str, spans: Iterable[Span]) -> Iterator[Chunk]:
    """Each span as a chunk, without the blank lines around it; blank spans are left out."""
    trimmed = [span for span in (_trimmed(text, span) for span in spans) if span is not None]
    starts = line_starts(text.encode())
    offsets = byte_offsets(text, {edge for span in trimmed for edge in (span.start, span.end)})
    for span in trimmed:
        start_byte, end_byte = offsets[span.start], offsets[span.end]
        yield Chunk(
            text=text[span.start : span.end],
            start_byte=start_byte,
            end_byte=end_byte,
            start_line=line_at(starts, start_byte),
            end_line=line_at(starts, end_byte - 1),
            symbols=span.symbols,
            headings=span.headings,
        )


def byte_offsets(text: str, positions: Iterable[int]) -> dict[int, int]:
    """Where each character position stands in the text's UTF-8 form."""
    if text.isascii():
        return {position: position for position in positions}
    offsets, at, byte = {}, 0, 0
    for position in sorted(positions):
        byte += len(text[at:position].encode())
        at = offsets[position] = position
        offsets[position] = byte
    return offsets


def character_offsets(text: str, data: bytes, positions: Iterable[int]) -> dict[int, int]:
    """Where each byte position of the text's UTF-8 form stands in the text."""
    if len(text) == len(data):
        return {position: position for position in positions}
    offsets, at, character = {}, 0, 0
    for position in sorted(positions):
        # A position inside a character counts as that character's end.
        character += sum(byte & 0xC0 != 0x80 for byte in data[at:position])
        offsets[position], at = character, position
    return offsets


def _trimmed(text: str, span: Span) -> Span | None:
    """The span from the first line with something on it to the last thing on the last one."""
    passage = text[span.start : span.end]
    lead = len(passage) - len(passage.lstrip())
    if lead == len(passage):
        return None
    # The first line keeps its indentation, without which code cannot be read.
    lead = max(passage.rfind("\n", 0, lead), passage.rfind("\r", 0, lead)) + 1
    return Span(span.start + lead, span.start + len(passage.rstrip()), span.symbols, span.headings)
