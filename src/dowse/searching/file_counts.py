"""How often files have the words of a query, counted by letters alone: three thousand files take about a second."""

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from pathlib import PurePosixPath
from typing import Literal

from dowse.chunking.splitter import DOCS_SIZE
from dowse.searching.kept_files import PARSED_BYTES, ReadFile, is_parsed
from dowse.searching.written_symbols import defines_any
from dowse.text.analysis import terms_of
from dowse.types import Entry, Verdict

MAX_FILES = 3000
"""Files that are read at most."""
SAMPLED_PLACES = 60
"""Places with some letters that are looked at, to tell words from letters within other words."""
NEW_CHUNK_SHARE = 0.55
"""The share of the further occurrences of a word in a file that may be in another chunk: they come in groups. With the
sample and this share, the rarity of the words of judged questions is 0.2 off on average (abseil-cpp, commons-lang, curl, vitest),
with neither 0.35 to 0.65, and in chunks of 4,000 characters 0.7 to 1.25."""

_WORD = re.compile(rb"[\w\x80-\xff]+")
_NO_WORD = re.compile(rb"[^\w\x80-\xff]")
_WORD_BYTES = 64
"""A word is at most so long before the letters that are looked for."""


@dataclass(frozen=True, slots=True)
class CountedFile:
    """A file, and how often its text has some letters."""

    entry: Entry
    chunks: int
    """About how many chunks the file has."""
    counts: Mapping[bytes, int]
    path_terms: frozenset[str]
    stem_terms: frozenset[str]
    is_definer: bool
    """Whether the file seems to define a name of the query."""

    def count(self, letters: bytes) -> int:
        """Return how often the text has some letters."""
        return self.counts.get(letters, 0)

    def terms_of(self, field: Literal["path", "stem"]) -> frozenset[str]:
        """Return the terms of the path, or of the file name without its extension."""
        return self.path_terms if field == "path" else self.stem_terms


class FileCounts:
    """Files that are read and counted one after the other: those whose paths have terms of the query first."""

    def __init__(
        self, entries: Iterable[Entry], read: ReadFile, letters: Sequence[bytes], terms: Collection[str],
        names: Sequence[str],
    ) -> None:  # fmt: skip
        self.files: list[CountedFile] = []
        self._read, self._letters = read, letters
        self._names = [name.encode() for name in names if name.isascii()]
        found = [(entry, *_path_terms(entry.path)) for entry in entries]
        wanted = frozenset(terms)
        self._waiting = sorted(found, key=lambda file: (len(wanted.intersection(file[1])), -file[0].stat.size))

    def count(self, seconds: float) -> bool:
        """Read and count files for at most this long; return whether all were."""
        deadline = time.monotonic() + seconds
        while self._waiting and len(self.files) < MAX_FILES and time.monotonic() < deadline:
            self._count(*self._waiting.pop())
        return not self._waiting

    @property
    def unread_paths(self) -> frozenset[str]:
        """The paths of the files that were not read."""
        return frozenset(entry.path for entry, _, _ in self._waiting)

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
        small = data.lower()
        for place in range(places):
            at = small.find(letters, len(data) * place // places)
            if at < 0:  # or the file has other capitals than those of ASCII
                return
            start = _NO_WORD.split(data[max(0, at - _WORD_BYTES) : at])[-1]
            found = _WORD.match(data, at)
            yield (start + (found[0] if found else b"")).decode("utf-8", "replace")

    def _count(self, entry: Entry, path_terms: frozenset[str], stem_terms: frozenset[str]) -> None:
        read = self._read(entry)
        if isinstance(read, Verdict) or not read:
            return
        data = read[0].data
        small = data.lower() if data.isascii() else data.decode("utf-8", "replace").lower().encode()
        counts = {letters: count for letters in self._letters if (count := small.count(letters))}
        is_definer = bool(counts) and defines_any(data, self._names)
        chunks = 1 + len(data) // (PARSED_BYTES if is_parsed(read[0]) else DOCS_SIZE.size)
        self.files.append(CountedFile(entry, chunks, counts, path_terms, stem_terms, is_definer))


@lru_cache(maxsize=2 * MAX_FILES)
def _path_terms(path: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the terms of a path, and those of the file name without its extension."""
    return frozenset(terms_of(path)), frozenset(terms_of(PurePosixPath(path).stem))
