"""What a query asks of one index: its words as that index's tokens."""

from collections.abc import Iterable
from dataclasses import dataclass

from dowse.notes.notes_tokens import NotesTokenizer
from dowse.query_syntax import Query

Sequence = tuple[str, ...]
"""Tokens that stand next to each other."""


@dataclass(frozen=True, slots=True)
class NotesQuery:
    """A document answers when it has every required sequence, none of the excluded, and some positive token."""

    positive: tuple[str, ...]
    """All tokens that score, each once, in the order in which scores are added up."""
    required: tuple[Sequence, ...]
    excluded: tuple[Sequence, ...]
    ignored: tuple[str, ...] = ()
    """Words of which the index keeps no token."""


def ask(query: Query, tokenizer: NotesTokenizer) -> NotesQuery:
    """The question that a query is to an index with this tokenizer.

    A word of several tokens (`node-js`) after a sign is those tokens next to each other; without one it is just
    those tokens.
    """
    terms, ignored = _cut(query.terms, tokenizer)
    required, more = _cut((*query.must, *query.phrases), tokenizer)
    excluded, rest = _cut((*query.must_not, *query.not_phrases), tokenizer)
    positive = sorted({token for tokens in (*terms, *required) for token in tokens})
    return NotesQuery(
        tuple(positive),
        tuple(dict.fromkeys(required)),
        tuple(dict.fromkeys(excluded)),
        tuple(dict.fromkeys((*ignored, *more, *rest))),
    )


def _cut(words: Iterable[str], tokenizer: NotesTokenizer) -> tuple[list[Sequence], list[str]]:
    kept: list[Sequence] = []
    ignored: list[str] = []
    for word in words:
        tokens = tuple(tokenizer.tokens(word))
        if tokens:
            kept.append(tokens)
        else:
            ignored.append(word)
    return kept, ignored
