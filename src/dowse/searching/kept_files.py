"""Files that are searched before they are indexed, kept with their chunks for the next searches.

Questions come in groups, and reading and cutting files is most of what a direct search does.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

from dowse.chunking import MAX_CHUNKS
from dowse.chunking.spans import Text, make_chunks
from dowse.chunking.splitter import CODE_SIZE, DOCS_SIZE, ChunkSize, split_text
from dowse.searching.written_symbols import defined_names, heading_in
from dowse.types import Chunk, Entry, FileContent, Kind, Reading, Symbol, Verdict, View

MAX_KEPT_BYTES = 64 * 1024 * 1024
"""The bytes of all files that are kept; further files are read again by each search."""
PARSED_SIZE = ChunkSize(size=1300, overlap=0, separators=CODE_SIZE.separators)
PARSED_BYTES = 1050
"""The size of chunks that a parser would cut, and their mean length: 1,017 to 1,074 bytes in code and Markdown of four
projects. With chunks of 4,000 characters instead, as of code without a grammar, words look more common than they are."""
_LINE_CHARACTERS = 300
"""The length of a line in which a definition is looked for."""

ReadFile = Callable[[Entry], Sequence[FileContent] | Verdict]
ReadText = Callable[[FileContent], Reading | None]
"""Returns the text of a file, or None if that would take too long."""
ParseFiles = Callable[[Sequence[FileContent]], Iterable[tuple[FileContent, Reading, Sequence[Chunk]]]]
"""Has files parsed; returns those that are ready in time, each with its text and its chunks."""
Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class CutFile:
    """The text of a file, and the chunks that it is cut into."""

    reading: Reading
    kind: Kind
    chunks: Sequence[Chunk]
    is_parsed: bool = False
    """Whether a parser has cut it, and found the names that each chunk defines."""
    _named: dict[int, Chunk] = field(default_factory=dict)

    def named_chunk(self, at: int) -> Chunk:
        """Return a chunk with the names that it defines or seems to define, or its first heading."""
        if self.is_parsed:
            return self.chunks[at]
        if at not in self._named:
            self._named[at] = _name(self.chunks[at], self.kind)
        return self._named[at]


class KeptFiles:
    """The files that a source returned, each for as long as its entry stays the same."""

    def __init__(self, read: ReadFile) -> None:
        self._read = read
        self._files: dict[str, tuple[Entry, Sequence[FileContent] | Verdict]] = {}
        self._cut: dict[tuple[str, View], tuple[bytes, CutFile]] = {}
        self._readings: dict[tuple[str, View], tuple[bytes, Reading]] = {}
        self._bytes = 0

    def read(self, entry: Entry) -> Sequence[FileContent] | Verdict:
        """Return the representations of a file as the walk has just seen it, or the verdict against it."""
        known = self._files.get(entry.path)
        if known and known[0] == entry:
            return known[1]
        found = self._read(entry)
        size = 0 if isinstance(found, Verdict) else len(found[0].data)
        self._bytes -= self._forget(entry.path)
        is_current = isinstance(found, Verdict) or found[0].stat == entry.stat
        if is_current and self._bytes + size <= MAX_KEPT_BYTES:
            self._files[entry.path] = entry, found
            self._bytes += size
        return found

    def parse(self, contents: Iterable[FileContent], parse: ParseFiles) -> dict[str, CutFile]:
        """Return those of the files by path that were parsed before, or are now in time."""
        found, missing = dict[str, CutFile](), list[FileContent]()
        for content in contents:
            digest, known = self._cut.get((content.path, content.views), (b"", None))
            if known and known.is_parsed and digest == content.content_hash:
                found[content.path] = known
            else:
                missing.append(content)
        for content, reading, chunks in parse(missing) if missing else ():
            cut = found[content.path] = CutFile(reading, content.kind, chunks, is_parsed=True)
            if content.path in self._files:
                self._cut[content.path, content.views] = content.content_hash, cut
        return found

    def cut(self, content: FileContent, read_text: ReadText) -> CutFile | None:
        """Return a file cut into chunks; None if its text cannot be had in time."""

        def cut() -> CutFile | None:
            if (reading := self.reading(content, read_text)) is None:
                return None
            spans = split_text(reading.text, PARSED_SIZE if is_parsed(content) else DOCS_SIZE)
            return CutFile(reading, content.kind, list(islice(make_chunks(Text(reading.text), spans), MAX_CHUNKS)))

        return self._keep(self._cut, content, cut)

    def reading(self, content: FileContent, read_text: ReadText) -> Reading | None:
        """Return the text of a file; None if it cannot be had in time. A converted text is kept."""
        if not content.is_converted:
            return read_text(content)
        return self._keep(self._readings, content, lambda: read_text(content))

    def _keep(
        self, kept: dict[tuple[str, View], tuple[bytes, Kept]], content: FileContent, make: Callable[[], Kept | None]
    ) -> Kept | None:
        """Return what was made of a file, unless it has changed."""
        key = content.path, content.views
        digest, known = kept.get(key, (b"", None))
        if known and digest == content.content_hash:
            return known
        found = make()
        if found and content.path in self._files:
            kept[key] = content.content_hash, found
        return found

    def _forget(self, path: str) -> int:
        """Forget a file; return how many bytes it had."""
        _, found = self._files.pop(path, (None, None))
        return len(found[0].data) if found and not isinstance(found, Verdict) else 0


def is_parsed(content: FileContent) -> bool:
    """Return whether a parser will cut a file, by its syntax or its sections."""
    return content.kind == "code" or content.language != "text"


def _name(chunk: Chunk, kind: Kind) -> Chunk:
    lines = chunk.text.split("\n")
    symbols = [
        Symbol(name, "definition", number)
        for number, line in enumerate(lines if kind == "code" else (), chunk.start_line)
        for name in defined_names(line[:_LINE_CHARACTERS])
    ]
    headings = [heading for line in lines if (heading := heading_in(line))] if kind == "docs" else []
    return replace(chunk, symbols=tuple(symbols), headings=tuple(headings[:1]))
