"""What BERT makes of characters before it looks up words: none, a blank, a small letter, or a word of its own."""

import functools
import tomllib
import unicodedata
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources

MAX_CACHED_CHARACTERS = 5_000
"""Characters whose fate is remembered; the texts of a project have some hundred."""


class CharacterSet:
    """A set of characters, as the ranges it is written in."""

    def __init__(self, written: str) -> None:
        self.ranges = tuple(_parse_ranges(written))
        self._starts = [start for start, _ in self.ranges]

    def __contains__(self, code: int) -> bool:
        place = bisect(self._starts, code) - 1
        return place >= 0 and code <= self.ranges[place][1]


@dataclass(frozen=True, slots=True)
class CharacterSets:
    """The kinds of characters that BERT tells apart."""

    dropped: CharacterSet
    white: CharacterSet
    marks: CharacterSet
    punctuation: CharacterSet
    ideographs: CharacterSet


class Folding:
    """Texts without what does not count, in words; what counts is up to the flags of BERT's normalizer."""

    def __init__(self, *, cleans: bool, strips_accents: bool, lowers: bool) -> None:
        self._cleans, self._strips_accents, self._lowers = cleans, strips_accents, lowers
        self._kinds = character_sets()
        self._clean, self._fold = _Table(self._cleaned), _Table(self._folded)

    def split_words(self, text: str) -> list[str]:
        """The words of a text, and between them its punctuation, each character a word."""
        if self._cleans:
            text = text.translate(self._clean)
        if self._strips_accents:
            text = unicodedata.normalize("NFD", text)
        return [word for word in text.translate(self._fold).split(" ") if word]

    def _cleaned(self, code: int) -> str | None:
        if code in self._kinds.dropped:
            return None
        return " " if code in self._kinds.white else chr(code)

    def _folded(self, code: int) -> str | None:
        if code in self._kinds.white:
            return " "
        if code in self._kinds.punctuation:
            return f" {chr(code)} "
        if self._strips_accents and code in self._kinds.marks:
            return None
        # Each for itself: a sigma that ends a word is one like any other.
        # Capitals that came after this Python have small letters that no BERT knows, so both are unknown.
        return chr(code).lower() if self._lowers else chr(code)


class _Table(dict[int, str | None]):
    """What `str.translate` asks, found out for each character when it first comes."""

    def __init__(self, fate: Callable[[int], str | None]) -> None:
        super().__init__()
        self._fate = fate

    def __missing__(self, code: int) -> str | None:
        if len(self) >= MAX_CACHED_CHARACTERS:
            self.clear()
        found = self[code] = self._fate(code)
        return found


@functools.cache
def character_sets() -> CharacterSets:
    """The characters that `characters.toml` lists."""
    written = tomllib.loads((resources.files(__package__) / "characters.toml").read_text(encoding="utf-8"))
    return CharacterSets(**{name: CharacterSet(ranges) for name, ranges in written.items()})


def _parse_ranges(written: str) -> Iterator[tuple[int, int]]:
    for one in written.split():
        first, _, last = one.partition("-")
        yield int(first, 16), int(last or first, 16)
