"""Recursive character splitter: cuts at paragraphs, else at lines, else at words, else anywhere."""

from collections.abc import Iterator
from dataclasses import dataclass

from dowse.parsing.spans import Span

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
