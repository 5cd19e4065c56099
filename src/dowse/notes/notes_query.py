"""A query as the tokens of one index."""

from collections.abc import Iterable
from dataclasses import dataclass

from dowse.notes.notes_tokens import NotesTokenizer
from dowse.query_syntax import Query

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
