"""The WordPiece tokenizer: it turns text into the token ids of a BERT model, for words and pieces of rare words."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dowse.encoding.characters import Folding, character_sets
from dowse.errors import Failed
from dowse.small_files import read_small_file

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
