"""The WordPiece tokenizer: it turns text into the token ids of a BERT model, for words and pieces of rare words."""

import functools
import json
import re
import tomllib
import unicodedata
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from pathlib import Path

from dowse.encoding.static import WordPieces

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


class Folding:
    """The normalization of a text into words, as BERT does it."""

    def __init__(self) -> None:
        self._sets = character_sets()
        self._clean, self._fold = _Table(self._cleaned), _Table(self._folded)

    def split_words(self, text: str) -> list[str]:
        """Return the words of a text. Each punctuation character is a word of its own."""
        text = unicodedata.normalize("NFD", text.translate(self._clean))
        return [word for word in text.translate(self._fold).split(" ") if word]

    def _cleaned(self, code: int) -> str | None:
        if code in self._sets["dropped"]:
            return None
        return " " if code in self._sets["white"] else chr(code)

    def _folded(self, code: int) -> str | None:
        if code in self._sets["white"]:
            return " "
        if code in self._sets["punctuation"]:
            return f" {chr(code)} "
        if code in self._sets["marks"]:
            return None
        # Single characters have no context: a sigma at the end of a word is like any other.
        # Capitals newer than this Python stay capitals, but BERT knows neither them nor their lower case.
        return chr(code).lower()


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
def character_sets() -> Mapping[str, CharacterSet]:
    """Return the sets of characters in `characters.toml`, which BERT treats differently, by name."""
    written = tomllib.loads((resources.files(__package__) / "characters.toml").read_text(encoding="utf-8"))
    return {name: CharacterSet(ranges) for name, ranges in written.items()}


def _parse_ranges(written: str) -> Iterator[tuple[int, int]]:
    for item in written.split():
        first, _, last = item.partition("-")
        yield int(first, 16), int(last or first, 16)


MAX_CACHED_STRETCHES = 20_000
"""The number of stretches of text whose ids are cached, in about 4 MB; a project of 3,000 files has 30,000 words."""
MAX_CACHED_STRETCH_CHARACTERS = 100
"""Longer stretches are not cached: they are blobs and do not occur again."""
SEPARATORS = r"\t\n\r !-/:-@\[-`{-~"
"""White space and ASCII punctuation. Words end at these characters, and normalization does not look across them."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a part of a camel-case name begins."""
MAX_WORD_LETTERS = 100


class WordPiece:
    """A tokenizer of the words that MiniLM knows, which caches the ids of stretches of text."""

    special_token_count = 2

    def __init__(self, vocabulary: Mapping[str, int], added: Mapping[str, int]) -> None:
        """`added` are the tokens that are recognized in the text before normalization, such as `[SEP]`."""
        self.vocabulary, self._added_ids, self._folding = vocabulary, added, Folding()
        self._first, self._last, self._unknown = (vocabulary[name] for name in ("[CLS]", "[SEP]", "[UNK]"))
        self._words = WordPieces(vocabulary)
        self._known: dict[str, tuple[int, ...]] = {}
        apart = "".join(f"{chr(first)}-{chr(last)}" for first, last in character_sets()["ideographs"].ranges)
        self._stretch = re.compile(rf"[^{SEPARATORS}{apart}]+|[^\t\n\r ]")
        self._word = re.compile(rf"[^{SEPARATORS}{apart}]+|[^{SEPARATORS}]")
        longest_first = sorted(added, key=len, reverse=True)
        self._added = re.compile(f"({'|'.join(map(re.escape, longest_first)) or '(?!)'})")

    @classmethod
    def from_file(cls, file: Path) -> "WordPiece":
        """Load the words of a `tokenizer.json`, which was verified: it has BERT's rules, as they are written here."""
        content = json.loads(file.read_bytes())
        return cls(content["model"]["vocab"], {token["content"]: token["id"] for token in content["added_tokens"]})

    def ids(self, text: str, max_tokens: int) -> list[int]:
        """Return at most `max_tokens` ids of a text, with the special tokens around it."""
        room = max_tokens - self.special_token_count
        found: list[int] = []
        for number, part in enumerate(self._added.split(text)):
            if number % 2:
                found.append(self._added_ids[part])
            else:
                self._append_ids(part, found, room)
            if len(found) >= room:
                break
        return self.with_special_tokens(found[:room])

    def words(self, text: str) -> Iterator[tuple[int, ...]]:
        """Yield the ids of each word: names are split at their capitals, and ASCII punctuation is left out."""
        return self._stretches(_HUMP.sub(" ", text), self._word)

    def with_special_tokens(self, ids: list[int]) -> list[int]:
        """Return ids with the special tokens around them."""
        return [self._first, *ids, self._last]

    def _append_ids(self, text: str, found: list[int], room: int) -> None:
        for numbers in self._stretches(text, self._stretch):
            found += numbers
            if len(found) >= room:
                return

    def _stretches(self, text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, ...]]:
        known = self._known
        for match in pattern.finditer(text):
            stretch = match.group()
            numbers = known.get(stretch)
            yield self._tokenize_stretch(stretch) if numbers is None else numbers

    def _tokenize_stretch(self, stretch: str) -> tuple[int, ...]:
        words = self._folding.split_words(stretch)
        numbers = tuple(number for word in words for number in self._pieces(word) or (self._unknown,))
        if len(stretch) <= MAX_CACHED_STRETCH_CHARACTERS:
            if len(self._known) >= MAX_CACHED_STRETCHES:
                self._known.clear()
            self._known[stretch] = numbers
        return numbers

    def _pieces(self, word: str) -> list[int]:
        return self._words.split(word) if len(word) <= MAX_WORD_LETTERS else []
