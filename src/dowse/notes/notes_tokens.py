"""The tokens of a text: runs of letters, digits, marks and underscores, with the configured case and minimum length.

Marks are, for example, the vowel signs of Hindi and the combining accents of NFD; without them such words would be
split.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from string import ascii_letters, digits
from typing import Any

from dowse.errors import UsageError
from dowse.notes.limits import DEFAULT_MIN_LENGTH, MAX_MIN_LENGTH
from dowse.text.query_syntax import Query

ASCII_WORD_CHARACTERS = frozenset(f"{ascii_letters}{digits}_")
Span = tuple[int, int, str]
"""Where a token begins and ends in the text, and the token."""


@dataclass(frozen=True, slots=True)
class NotesTokenizer:
    """The tokenizer of an index, fixed when the index is created."""

    lowercase: bool = True
    min_length: int = DEFAULT_MIN_LENGTH
    """In characters of the original text."""

    def tokens(self, text: str) -> list[str]:
        """Return all tokens of a text, in order."""
        if text.isascii():
            found: list[str] = _token_pattern(self.min_length, is_ascii=True).findall(
                text.lower() if self.lowercase else text
            )
            return found
        found = _token_pattern(self.min_length, is_ascii=False).findall(text)
        return [token.lower() for token in found] if self.lowercase else found

    def spans(self, text: str) -> Iterator[Span]:
        """Yield the same tokens with their positions."""
        for match in _token_pattern(self.min_length, is_ascii=text.isascii()).finditer(text):
            token = match[0].lower() if self.lowercase else match[0]
            yield match.start(), match.end(), token


def parse_tokenizer_config(config: Mapping[str, Any] | None) -> NotesTokenizer:
    """Return the tokenizer that a configuration describes. Raise a UsageError that names an invalid field."""
    config = {key: value for key, value in (config or {}).items() if value is not None}
    for key in config:
        if key not in ("lowercase", "min_length"):
            raise UsageError(f"tokenizer_config has no field {key[:60]!r}. It takes: lowercase, min_length.")
    lowercase, min_length = config.get("lowercase", True), config.get("min_length", DEFAULT_MIN_LENGTH)
    if not isinstance(lowercase, bool):
        raise UsageError(f"tokenizer_config.lowercase has to be true or false, not {str(lowercase)[:60]!r}.")
    if isinstance(min_length, float) and min_length.is_integer():
        min_length = int(min_length)
    if not isinstance(min_length, int) or isinstance(min_length, bool) or not 1 <= min_length <= MAX_MIN_LENGTH:
        raise UsageError(f"tokenizer_config.min_length has to be a whole number from 1 to {MAX_MIN_LENGTH}.")
    return NotesTokenizer(lowercase, min_length)


def is_one_run(text: str) -> bool:
    """Return whether all characters of a text can be part of one token."""
    return _token_pattern(1, is_ascii=text.isascii()).fullmatch(text) is not None


@cache
def _token_pattern(min_length: int, *, is_ascii: bool) -> Any:
    # A run that is too short does not match, and a longer one matches as a whole.
    if is_ascii:
        return re.compile(rf"\w{{{min_length},}}", re.ASCII)
    import regex  # here, since it takes 24 ms and only non-ASCII text needs it: `re` has no class for marks

    return regex.compile(rf"[\p{{L}}\p{{N}}\p{{M}}_]{{{min_length},}}")


TokenSequence = tuple[str, ...]
"""Tokens next to each other."""


@dataclass(frozen=True, slots=True)
class NotesQuery:
    """A tokenized query.

    A document matches if it has every required sequence, no excluded sequence, and at least one positive token.
    """

    positive: tuple[str, ...]
    """All tokens that score, each once, in the order in which their scores are added."""
    required: tuple[TokenSequence, ...]
    excluded: tuple[TokenSequence, ...]
    ignored: tuple[str, ...] = ()
    """Words that yield no token in this index."""


def tokenize_query(query: Query, tokenizer: NotesTokenizer) -> NotesQuery:
    """Return a query as the tokens of an index with this tokenizer.

    A word of several tokens (`node-js`) after an operator means those tokens next to each other; without an
    operator it means the separate tokens.
    """
    terms, ignored = _tokenize_words(query.terms, tokenizer)
    required, more = _tokenize_words((*query.must, *query.phrases), tokenizer)
    excluded, rest = _tokenize_words((*query.must_not, *query.not_phrases), tokenizer)
    positive = sorted({token for tokens in (*terms, *required) for token in tokens})
    return NotesQuery(
        tuple(positive),
        tuple(dict.fromkeys(required)),
        tuple(dict.fromkeys(excluded)),
        tuple(dict.fromkeys((*ignored, *more, *rest))),
    )


def _tokenize_words(words: Iterable[str], tokenizer: NotesTokenizer) -> tuple[list[TokenSequence], list[str]]:
    kept: list[TokenSequence] = []
    ignored: list[str] = []
    for word in words:
        tokens = tuple(tokenizer.tokens(word))
        if tokens:
            kept.append(tokens)
        else:
            ignored.append(word)
    return kept, ignored
