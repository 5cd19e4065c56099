"""The WordPiece tokenizer: it turns text into the token ids of a BERT model, for words and pieces of rare words."""

import functools
import json
import re
import tomllib
import unicodedata
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from dowse.errors import Failed
from dowse.system.small_files import read_small_file

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


MAX_TOKENIZER_BYTES = 64 * 1024 * 1024
"""A `tokenizer.json` has about 1 MB; the largest vocabularies take 20."""
MAX_CACHED_STRETCHES = 20_000
"""The number of stretches of text whose ids are cached, in about 4 MB; a project of 3,000 files has 30,000 words."""
MAX_CACHED_STRETCH_CHARACTERS = 100
"""Longer stretches are not cached: they are blobs and do not occur again."""
SEPARATORS = r"\t\n\r !-/:-@\[-`{-~"
"""White space and ASCII punctuation. Words end at these characters, and normalization does not look across them."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a part of a camel-case name begins."""
REQUIRED_TYPES = {
    "model": ("WordPiece",),
    "normalizer": ("BertNormalizer",),
    "pre_tokenizer": ("BertPreTokenizer",),
    "post_processor": ("TemplateProcessing", "BertProcessing"),
}
"""The parts of a `tokenizer.json`, and the types that they must have."""
UNSUPPORTED_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
"""Flags of added tokens that no BERT sets."""


@dataclass(frozen=True, slots=True)
class WordPieceRules:
    """The rules of a `tokenizer.json`: how it splits words, and the special tokens around a text."""

    vocabulary: Mapping[str, int]
    unknown: int
    prefix: str
    max_word_letters: int
    added: Mapping[str, int]
    """Tokens that are recognized in the text before normalization, such as `[SEP]`."""
    before: tuple[int, ...]
    after: tuple[int, ...]
    folding: Folding
    separates_ideographs: bool


class WordPiece:
    """A tokenizer that caches the ids of stretches of text."""

    def __init__(self, rules: WordPieceRules) -> None:
        self._rules = rules
        self._longest = max(map(len, rules.vocabulary))
        self._letters = frozenset().union(*rules.vocabulary)
        self._known: dict[str, tuple[int, ...]] = {}
        ideographs = character_sets().ideographs.ranges if rules.separates_ideographs else ()
        apart = "".join(f"{chr(first)}-{chr(last)}" for first, last in ideographs)
        self._stretch = re.compile(rf"[^{SEPARATORS}{apart}]+|[^\t\n\r ]")
        self._word = re.compile(rf"[^{SEPARATORS}{apart}]+|[^{SEPARATORS}]")
        longest_first = sorted(rules.added, key=len, reverse=True)
        self._added = re.compile(f"({'|'.join(map(re.escape, longest_first)) or '(?!)'})")
        self.special_token_count = len(rules.before) + len(rules.after)

    @classmethod
    def from_file(cls, file: Path) -> "WordPiece":
        """Load the tokenizer of a `tokenizer.json`, or raise Failed if it is not for a BERT."""
        try:
            return cls(parse_rules(json.loads(read_small_file(file, MAX_TOKENIZER_BYTES, follows_links=True))))
        except Failed as error:
            raise Failed(f"{file} {error}") from None
        except (OSError, ValueError, RecursionError) as error:
            raise Failed(f"{file} cannot be read ({str(error)[:200]}).") from error
        except KeyError as error:
            raise Failed(f"{file} is incomplete: {error} is missing.") from error
        except (TypeError, AttributeError, IndexError) as error:
            raise Failed(f"{file} is not a valid tokenizer.json ({str(error)[:200]}).") from error

    def ids(self, text: str, max_tokens: int) -> list[int]:
        """Return at most `max_tokens` ids of a text, with the special tokens around it."""
        room = max_tokens - self.special_token_count
        found: list[int] = []
        for number, part in enumerate(self._added.split(text)):
            if number % 2:
                found.append(self._rules.added[part])
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
        return [*self._rules.before, *ids, *self._rules.after]

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
        words = self._rules.folding.split_words(stretch)
        numbers = tuple(number for word in words for number in self._pieces(word))
        if len(stretch) <= MAX_CACHED_STRETCH_CHARACTERS:
            if len(self._known) >= MAX_CACHED_STRETCHES:
                self._known.clear()
            self._known[stretch] = numbers
        return numbers

    def _pieces(self, word: str) -> list[int]:
        """Return the id of a word, or of its longest pieces; the unknown token if a part of it is in no piece."""
        vocabulary, length = self._rules.vocabulary, len(word)
        if length > self._rules.max_word_letters or not self._letters.issuperset(word):
            return [self._rules.unknown]
        found, start = list[int](), 0
        while start < length:
            prefix = self._rules.prefix if start else ""
            for end in range(min(length, start + self._longest), start, -1):
                number = vocabulary.get(prefix + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return [self._rules.unknown]
        return found


def parse_rules(content: dict[str, Any]) -> WordPieceRules:
    """Parse the content of a `tokenizer.json`, or raise Failed if it is not supported."""
    for part, types in REQUIRED_TYPES.items():
        found = (content.get(part) or {}).get("type")
        if found not in types:
            raise Failed(f"is not for a BERT: its {part} is {found}, not {' or '.join(types)}.")
    model, normalizer, vocabulary = content["model"], content["normalizer"], content["model"]["vocab"]
    if not all(type(number) is int for number in vocabulary.values()):
        raise Failed("has words without an id in its vocabulary.")
    if model["unk_token"] not in vocabulary:
        raise Failed(f"has no id for {model['unk_token']} in its vocabulary.")
    lowers, accents = bool(normalizer["lowercase"]), normalizer["strip_accents"]
    before, after = _parse_special_tokens(content["post_processor"])
    return WordPieceRules(
        vocabulary=vocabulary,
        unknown=vocabulary[model["unk_token"]],
        prefix=model["continuing_subword_prefix"],
        max_word_letters=model["max_input_chars_per_word"],
        added=dict(_parse_added_token(token) for token in content.get("added_tokens") or ()),
        before=before,
        after=after,
        folding=Folding(
            cleans=normalizer["clean_text"], strips_accents=lowers if accents is None else accents, lowers=lowers
        ),
        separates_ideographs=normalizer["handle_chinese_chars"],
    )


def _parse_added_token(token: dict[str, Any]) -> tuple[str, int]:
    odd = [flag for flag in UNSUPPORTED_FLAGS if token[flag]]
    if odd or not token["content"]:
        raise Failed(f"is not for a BERT: its token {token['content']!r} is {odd[0] if odd else 'empty'}.")
    return token["content"], token["id"]


def _parse_special_tokens(processor: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids of the special tokens before and after every text."""
    if processor["type"] == "BertProcessing":
        return (processor["cls"][1],), (processor["sep"][1],)
    positions = [number for number, item in enumerate(processor["single"]) if "Sequence" in item]
    if len(positions) != 1:
        raise Failed("does not define the position of the text among its special tokens.")
    ids = {name: tuple(token["ids"]) for name, token in processor["special_tokens"].items()}
    parts = [ids[item["SpecialToken"]["id"]] if "SpecialToken" in item else () for item in processor["single"]]
    return sum(parts[: positions[0]], ()), sum(parts[positions[0] :], ())
