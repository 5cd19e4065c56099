"""Files that are searched before they are indexed: counted, and kept with their chunks for the next searches.

Questions come in groups, and reading and cutting files is most of what a direct search does.
"""

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from math import exp
from pathlib import PurePosixPath
from typing import Literal

from dowse.parsing.spans import CODE_SIZE, DOCS_SIZE, ChunkSize, Text, make_chunks, split_text
from dowse.parsing.text_cutting import MAX_CHUNKS
from dowse.reading.file_reading import read_as_plain_text
from dowse.searching.written_symbols import defined_names, defines_any, find_title, heading_in
from dowse.text.analysis import terms_of
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
PathField = Literal["path", "stem"]


@dataclass(frozen=True, slots=True)
class CutFile:
    """The text of a file, and the chunks that it is cut into."""

    reading: Reading
    kind: Kind
    chunks: Sequence[Chunk]
    is_parsed: bool = False
    """Whether a parser has cut it, and found the names that each chunk defines."""

    def named_chunk(self, at: int) -> Chunk:
        """Return a chunk with the names that it defines or seems to define, or its first heading."""
        return self.chunks[at] if self.is_parsed else _name(self.chunks[at], self.kind)


@dataclass(frozen=True, slots=True)
class _KeptFile:
    """What a source returned for an entry, and what was made of that, for each way the file is shown."""

    found: Sequence[FileContent] | Verdict
    entry: Entry | None = None
    cut: dict[View, CutFile] = field(default_factory=dict)
    readings: dict[View, Reading] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return 0 if isinstance(self.found, Verdict) else len(self.found[0].data)

    def has(self, content: FileContent) -> bool:
        return not isinstance(self.found, Verdict) and self.found[0].content_hash == content.content_hash


class KeptFiles:
    """The files that a source returned, each for as long as its entry stays the same."""

    def __init__(self, read: ReadFile) -> None:
        self._read = read
        self._files: dict[str, _KeptFile] = {}
        self._bytes = 0

    def read(self, entry: Entry) -> Sequence[FileContent] | Verdict:
        """Return the representations of a file as the walk has just seen it, or the verdict against it."""
        known = self._files.get(entry.path)
        if known and known.entry == entry:
            return known.found
        kept = _KeptFile(self._read(entry), entry)
        if old := self._files.pop(entry.path, None):
            self._bytes -= old.size
        is_current = isinstance(kept.found, Verdict) or kept.found[0].stat == entry.stat
        if is_current and self._bytes + kept.size <= MAX_KEPT_BYTES:
            self._files[entry.path] = kept
            self._bytes += kept.size
        return kept.found

    def _kept(self, content: FileContent) -> _KeptFile:
        """Return what keeps a file; for one that is not kept, something that is not kept either."""
        known = self._files.get(content.path)
        return known if known and known.has(content) else _KeptFile([content])

    def parse(self, contents: Iterable[FileContent], parse: ParseFiles) -> dict[str, CutFile]:
        """Return those of the files by path that were parsed before, or are now in time."""
        found, missing = dict[str, CutFile](), list[FileContent]()
        for content in contents:
            known = self._kept(content).cut.get(content.views)
            if known and known.is_parsed:
                found[content.path] = known
            else:
                missing.append(content)
        for content, reading, chunks in parse(missing) if missing else ():
            found[content.path] = CutFile(reading, content.kind, chunks, is_parsed=True)
            self._kept(content).cut[content.views] = found[content.path]
        return found

    def cut(self, content: FileContent, read_text: ReadText) -> CutFile | None:
        """Return a file cut into chunks; None if its text cannot be had in time."""
        cut = self._kept(content).cut
        if content.views not in cut and (reading := self.reading(content, read_text)):
            spans = split_text(reading.text, PARSED_SIZE if is_parsed(content) else DOCS_SIZE)
            chunks = list(islice(make_chunks(Text(reading.text), spans), MAX_CHUNKS))
            cut[content.views] = CutFile(reading, content.kind, chunks)
        return cut.get(content.views)

    def reading(self, content: FileContent, read_text: ReadText) -> Reading | None:
        """Return the text of a file; None if it cannot be had in time. A converted text is kept."""
        if not content.is_converted:
            return read_text(content)
        readings = self._kept(content).readings
        if content.views not in readings and (found := read_text(content)):
            readings[content.views] = found
        return readings.get(content.views)


def read_directly(content: FileContent) -> Reading:
    """Return the text of a file as it is; the title of a document is its first heading or line."""
    reading = read_as_plain_text(content.data, content.path)
    title = find_title(reading.text, content.language) if content.kind == "docs" else None
    return replace(reading, title=title) if title else reading


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


MAX_FILES = 3000
"""Files that are read at most."""
SAMPLED_PLACES = 60
"""Places with some letters that are looked at, to tell words from letters within other words."""
NEW_CHUNK_SHARE = 0.55
"""The share of the further occurrences of a word in a file that may be in another chunk: they come in groups. With the
sample and this share, the rarity of the words of judged questions is 0.2 off on average (abseil-cpp, commons-lang, curl, vitest),
with neither 0.35 to 0.65, and in chunks of 4,000 characters 0.7 to 1.25."""

_CHANGED_ENDINGS = "iey"
"""A stem may end with a letter that a form of the word does not have: `queri` and `query`."""
_WORD = re.compile(rb"[\w\x80-\xff]+")
_NO_WORD = re.compile(rb"[^\w\x80-\xff]")
_WORD_BYTES = 64
"""A word is at most so long before and after the place that is looked at."""


@dataclass(frozen=True, slots=True)
class CountedFile:
    """A file, and how often its text has some letters."""

    entry: Entry
    chunks: int
    """About how many chunks the file has."""
    counts: Mapping[bytes, int]
    terms: Mapping[PathField, frozenset[str]]
    """The terms of the path, and of the file name without its extension."""
    is_definer: bool
    """Whether the file seems to define a name of the query."""


class FileCounts:
    """Files that are read and counted for some seconds, those whose paths have terms of the query first."""

    def __init__(
        self, entries: Iterable[Entry], read: ReadFile, letters: Sequence[bytes], terms: Collection[str],
        names: Sequence[str], *, seconds: float,
    ) -> None:  # fmt: skip
        self.files: list[CountedFile] = []
        self._read, self._letters = read, letters
        self._names = [name.encode() for name in names if name.isascii()]
        found = [(entry, _path_terms(entry.path)) for entry in entries]
        wanted, deadline = frozenset(terms), time.monotonic() + seconds
        waiting = sorted(found, key=lambda file: (len(wanted & file[1]["path"]), -file[0].stat.size))
        while waiting and len(self.files) < MAX_FILES and time.monotonic() < deadline:
            self._count(*waiting.pop())
        self.unread_paths = frozenset(entry.path for entry, _ in waiting)
        """The paths of the files that were not read."""

    def chunk_frequency(self, letters: bytes, is_word: Callable[[str], bool]) -> int:
        """Return about how many chunks have a word that these letters begin: its occurrences lie in any chunks of a file."""
        files = [(file.counts[letters], file.chunks) for file in self.files if letters in file.counts]
        share, found = self._share_of_words(letters, is_word), 0.0
        for count, chunks in files:
            occurrences = share * (1 + NEW_CHUNK_SHARE * (count - 1))
            found += max(share, chunks * (1 - exp(-occurrences / chunks)))
        return max(round(found), bool(files))

    def _share_of_words(self, letters: bytes, is_word: Callable[[str], bool]) -> float:
        """Return about which share of the places with some letters has the word, and not another one with these letters."""
        files = [file for file in self.files if letters in file.counts]
        places = 1 + SAMPLED_PLACES // (len(files) or 1)
        words = [
            word
            for file in files[:: 1 + len(files) // SAMPLED_PLACES]
            for word in self._words_with(letters, file.entry, min(places, file.counts[letters]))
        ]
        return (sum(map(is_word, words)) + 0.5) / (len(words) + 0.5)

    def _words_with(self, letters: bytes, entry: Entry, places: int) -> Iterator[str]:
        """Yield words with some letters, at places all over a file."""
        read = self._read(entry)
        data = b"" if isinstance(read, Verdict) or not read else read[0].data
        small, at = data.lower(), -1
        for place in range(places):
            first = len(data) * place // places
            at = at if at >= first else small.find(letters, first)
            if at < 0:  # or the file has other capitals than those of ASCII
                return
            start = _NO_WORD.split(data[max(0, at - _WORD_BYTES) : at])[-1]
            found = _WORD.match(data, at, at + _WORD_BYTES)
            yield (start + (found[0] if found else b"")).decode("utf-8", "replace")

    def _count(self, entry: Entry, terms: Mapping[PathField, frozenset[str]]) -> None:
        read = self._read(entry)
        if isinstance(read, Verdict) or not read:
            return
        data = read[0].data
        small = data.lower() if data.isascii() else data.decode("utf-8", "replace").lower().encode()
        counts = {letters: count for letters in self._letters if (count := small.count(letters))}
        is_definer = bool(counts) and defines_any(data, self._names)
        chunks = 1 + len(data) // (PARSED_BYTES if is_parsed(read[0]) else DOCS_SIZE.size)
        self.files.append(CountedFile(entry, chunks, counts, terms, is_definer))


@lru_cache(maxsize=2 * MAX_FILES)
def _path_terms(path: str) -> Mapping[PathField, frozenset[str]]:
    return {"path": frozenset(terms_of(path)), "stem": frozenset(terms_of(PurePosixPath(path).stem))}


def letters_of(term: str) -> bytes:
    """Return the letters that every form of a word with this stem has."""
    return (term[:-1] if len(term) > 3 and term[-1] in _CHANGED_ENDINGS else term).encode()
