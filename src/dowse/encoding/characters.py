"""The normalization of characters in BERT: they are dropped, become a space or a lower-case letter, or stand alone."""

import functools
import tomllib
import unicodedata
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources

MAX_CACHED_CHARACTERS = 5_000
"""The number of cached characters; the texts of a project have a few hundred."""


class CharacterSet:
    """A set of characters, stored as ranges."""

    def __init__(self, written: str) -> None:
        self.ranges = tuple(_parse_ranges(written))
        self._starts = [start for start, _ in self.ranges]

    def __contains__(self, code: int) -> bool:
        number = bisect(self._starts, code) - 1
        return number >= 0 and code <= self.ranges[number][1]


@dataclass(frozen=True, slots=True)
class CharacterSets:
    """The sets of characters that BERT treats differently."""

    dropped: CharacterSet
    white: CharacterSet
    marks: CharacterSet
    punctuation: CharacterSet
    ideographs: CharacterSet


class Folding:
    """The normalization of a text into words, by the flags of BERT's normalizer."""

    def __init__(self, *, cleans: bool, strips_accents: bool, lowers: bool) -> None:
        self._cleans, self._strips_accents, self._lowers = cleans, strips_accents, lowers
        self._sets = character_sets()
        self._clean, self._fold = _Table(self._cleaned), _Table(self._folded)

    def split_words(self, text: str) -> list[str]:
        """Return the words of a text. Each punctuation character is a word of its own."""
        if self._cleans:
            text = text.translate(self._clean)
        if self._strips_accents:
            text = unicodedata.normalize("NFD", text)
        return [word for word in text.translate(self._fold).split(" ") if word]

    def _cleaned(self, code: int) -> str | None:
        if code in self._sets.dropped:
            return None
        return " " if code in self._sets.white else chr(code)

    def _folded(self, code: int) -> str | None:
        if code in self._sets.white:
            return " "
        if code in self._sets.punctuation:
            return f" {chr(code)} "
        if self._strips_accents and code in self._sets.marks:
            return None
        # Single characters have no context: a sigma at the end of a word is like any other.
        # Capitals newer than this Python stay capitals, but BERT knows neither them nor their lower case.
        return chr(code).lower() if self._lowers else chr(code)


class _Table(dict[int, str | None]):
    """A table for `str.translate` that is filled when a character first occurs."""

    def __init__(self, translate: Callable[[int], str | None]) -> None:
        super().__init__()
        self._translate = translate

    def __missing__(self, code: int) -> str | None:
        if len(self) >= MAX_CACHED_CHARACTERS:
            self.clear()
        replacement = self[code] = self._translate(code)
        return replacement


@functools.cache
def character_sets() -> CharacterSets:
    """Return the sets of characters in `characters.toml`."""
    written = tomllib.loads((resources.files(__package__) / "characters.toml").read_text(encoding="utf-8"))
    return CharacterSets(**{name: CharacterSet(ranges) for name, ranges in written.items()})


def _parse_ranges(written: str) -> Iterator[tuple[int, int]]:
    for item in written.split():
        first, _, last = item.partition("-")
        yield int(first, 16), int(last or first, 16)
