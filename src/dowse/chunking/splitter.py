"""The recursive character splitter: cut at paragraphs, else lines, else words, else anywhere."""

from collections.abc import Iterator
from dataclasses import dataclass

from dowse.chunking.spans import Span

# The line ends of Windows and of old Macs stand beside the usual ones; without them a file from
# there would be cut at words.
_PARAGRAPH = ("\n\n", "\r\n\r\n")
_LINE = ("\n", "\r")


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """How long a piece may be, how much two neighbours share, both in characters, and where cuts are best."""

    size: int
    overlap: int
    separators: tuple[str, ...]


CODE = ChunkSize(size=4000, overlap=800, separators=(*_PARAGRAPH, *_LINE, " "))
DOCS = ChunkSize(size=8000, overlap=2000, separators=(*_PARAGRAPH, *_LINE, ". ", " "))


def split(characters: str, measure: ChunkSize, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Cut characters[start:end] into spans that lose nothing and exceed the size nowhere.

    Linear: each cut looks at one size's worth of text, and any five cuts in a row advance by more
    than the size without the overlap.
    """
    end = len(characters) if end is None else end
    done = start
    while end - start > measure.size:
        cut = _cut(characters, done, start, measure)
        yield Span(start, cut)
        start, done = _next_start(characters, start, cut, measure), cut
    if done < end:
        yield Span(start, end)


def _cut(characters: str, done: int, start: int, measure: ChunkSize) -> int:
    """Where the piece that begins at `start` ends: after the best separator beyond `done`.

    Separators in the second half of the piece come first, so that a heading or an import
    does not become a piece of its own before a long block.
    """
    limit, half = start + measure.size, start + measure.size // 2
    for low in (max(done, half), done):
        for separator in measure.separators:
            at = characters.rfind(separator, low, limit)
            if at >= 0:
                return at + len(separator)
    return limit


def _next_start(characters: str, start: int, cut: int, measure: ChunkSize) -> int:
    """Where the next piece begins: as far back as the overlap allows, at the best separator.

    Never in the first half of the piece before: a short one would only be said twice.
    """
    earliest = max(cut - measure.overlap, start + max(1, (cut - start) // 2))
    for separator in measure.separators:
        at = characters.find(separator, max(earliest - len(separator), 0), cut)
        if at >= 0 and at + len(separator) < cut:
            return at + len(separator)
    return min(earliest, cut)
