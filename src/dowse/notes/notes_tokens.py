"""Tokens of a text: runs of letters, digits, marks and underscores, lower-cased and long enough as configured.

Marks are the vowels of Hindi and the loose accents of NFD; without them such words would fall apart.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from dowse.errors import UsageError
from dowse.notes.limits import MIN_LENGTH, MOST_MIN_LENGTH

ASCII_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
Span = tuple[int, int, str]
"""Where a token begins and ends in the text, and the token."""


@dataclass(frozen=True, slots=True)
class NotesTokenizer:
    """How an index cuts text; fixed when it is created."""

    lowercase: bool = True
    min_length: int = MIN_LENGTH
    """Characters as they stand in the text."""

    def tokens(self, text: str) -> list[str]:
        """All tokens, in order."""
        if text.isascii():
            found: list[str] = _pattern(self.min_length, is_ascii=True).findall(
                text.lower() if self.lowercase else text
            )
            return found
        found = _pattern(self.min_length, is_ascii=False).findall(text)
        return [token.lower() for token in found] if self.lowercase else found

    def spans(self, text: str) -> Iterator[Span]:
        """The same tokens with their places."""
        for match in _pattern(self.min_length, is_ascii=text.isascii()).finditer(text):
            token = match[0].lower() if self.lowercase else match[0]
            yield match.start(), match.end(), token

    def as_json(self) -> dict[str, Any]:
        """The configuration as it was or could have been given."""
        return {"lowercase": self.lowercase, "min_length": self.min_length}


def tokenizer_of(config: Mapping[str, Any] | None) -> NotesTokenizer:
    """A tokenizer as somebody configures it."""
    config = {key: value for key, value in (config or {}).items() if value is not None}
    for key in config:
        if key not in ("lowercase", "min_length"):
            raise UsageError(f"tokenizer_config has no field {key[:60]!r}. It takes: lowercase, min_length.")
    lowercase, min_length = config.get("lowercase", True), config.get("min_length", MIN_LENGTH)
    if not isinstance(lowercase, bool):
        raise UsageError(f"tokenizer_config.lowercase has to be true or false, not {str(lowercase)[:60]!r}.")
    if isinstance(min_length, float) and min_length.is_integer():
        min_length = int(min_length)
    if not isinstance(min_length, int) or isinstance(min_length, bool) or not 1 <= min_length <= MOST_MIN_LENGTH:
        raise UsageError(f"tokenizer_config.min_length has to be a whole number from 1 to {MOST_MIN_LENGTH}.")
    return NotesTokenizer(lowercase, min_length)


def is_word(character: str) -> bool:
    """Whether a character is part of a token."""
    return character in ASCII_WORD or (not character.isascii() and _is_word_anywhere(character))


@lru_cache(maxsize=4096)
def _is_word_anywhere(character: str) -> bool:
    return _pattern(1, is_ascii=False).fullmatch(character) is not None


@cache
def _pattern(min_length: int, *, is_ascii: bool) -> Any:
    # A run that is too short has no match in it, a longer one is taken whole.
    if is_ascii:
        return re.compile(rf"\w{{{min_length},}}", re.ASCII)
    import regex  # 24 ms, and only who writes more than ASCII needs it: `re` knows no marks

    return regex.compile(rf"[\p{{L}}\p{{N}}\p{{M}}_]{{{min_length},}}")
