"""Highlights: up to three different passages of a document that match a query.

Each is a slice of the text that starts and ends at whole tokens, in its original case, with `...` where text was cut.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from dowse.notes.limits import (
    HIGHLIGHT_CONTEXT_CHARACTERS,
    MAX_HIGHLIGHT_CHARACTERS,
    MAX_HIGHLIGHT_OCCURRENCES,
    MAX_HIGHLIGHT_TOKEN_CHARACTERS,
    MAX_HIGHLIGHT_TOKENS,
    MAX_HIGHLIGHTS,
)
from dowse.notes.notes_query import NotesQuery
from dowse.notes.notes_tokens import NotesTokenizer, Span, is_word_character

TotalWeight = Callable[[frozenset[str]], float]

ELLIPSIS = "..."
_CAPITAL_SIGMA = "\N{GREEK CAPITAL LETTER SIGMA}"


class MatchGroup(NamedTuple):
    """The matches that one passage shows."""

    start: int
    end: int
    tokens: frozenset[str]
    weight: float
    """The summed weight of these tokens."""
    phrases: int
    """The number of required phrases that the group contains in full."""


def find_highlights(text: str, query: NotesQuery, weights: Mapping[str, float], tokenizer: NotesTokenizer) -> list[str]:
    """Return the best passages of a text, best first."""
    found = sorted(_find_matches(text, _choose_tokens(query, weights), tokenizer))
    phrases = [tokens for tokens in query.required if len(tokens) > 1]
    groups, total_weight = [], _sum_weights(weights)
    for spans in _group_matches(found):
        tokens = frozenset(token for *_, token in spans)
        whole = sum(_has_phrase(text, spans, phrase, tokenizer) for phrase in phrases)
        end = min(spans[-1][1], spans[-1][0] + MAX_HIGHLIGHT_TOKEN_CHARACTERS)
        groups.append(MatchGroup(spans[0][0], end, tokens, total_weight(tokens), whole))
    return list(_select_passages(text, groups, total_weight))


def _choose_tokens(query: NotesQuery, weights: Mapping[str, float]) -> list[str]:
    """Return the tokens to look for. A query with too many keeps the required tokens, then the rarest."""
    if len(query.positive) <= MAX_HIGHLIGHT_TOKENS:
        return list(query.positive)
    required = {token for tokens in query.required for token in tokens}
    order = sorted(query.positive, key=lambda token: (token not in required, -weights[token], token))
    return order[:MAX_HIGHLIGHT_TOKENS]


def _find_matches(text: str, tokens: Iterable[str], tokenizer: NotesTokenizer) -> Iterator[Span]:
    """Yield the first occurrences of each token."""
    lowered = text.lower() if tokenizer.lowercase else text
    # `str.find` is a hundred times faster than tokenizing, which matters in a text of megabytes. It is exact only where
    # lower-casing keeps every position; and the lower case of a capital sigma depends on its neighbours.
    if text.isascii() or (len(lowered) == len(text) and _CAPITAL_SIGMA not in text):
        for token in tokens:
            yield from _find_token(lowered, token)
        return
    left = dict.fromkeys(tokens, MAX_HIGHLIGHT_OCCURRENCES)
    for start, end, token in tokenizer.spans(text):
        if left.get(token):
            left[token] -= 1
            yield start, end, token
            if not left[token] and not any(left.values()):
                return


def _find_token(text: str, token: str) -> Iterator[Span]:
    start, found, size = text.find(token), 0, len(text)
    while start >= 0 and found < MAX_HIGHLIGHT_OCCURRENCES:
        end = start + len(token)
        if (not start or not is_word_character(text[start - 1])) and (end == size or not is_word_character(text[end])):
            found += 1
            yield start, end, token
        start = text.find(token, end)


def _is_token_edge(text: str, position: int) -> bool:
    """Return whether no token extends across a position."""
    return (
        position <= 0
        or position >= len(text)
        or not (is_word_character(text[position - 1]) and is_word_character(text[position]))
    )


def _group_matches(found: list[Span]) -> Iterator[list[Span]]:
    """Yield the matches that one passage shows: close to each other, and no longer than a line together."""
    group: list[Span] = []
    for span in found:
        if group and (
            span[0] > group[-1][1] + HIGHLIGHT_CONTEXT_CHARACTERS or span[1] > group[0][0] + MAX_HIGHLIGHT_CHARACTERS
        ):
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def _has_phrase(text: str, group: list[Span], tokens: tuple[str, ...], tokenizer: NotesTokenizer) -> bool:
    """Return whether the matches contain these tokens next to each other."""
    size = len(tokens)
    for first in range(len(group) - size + 1):
        spans = group[first : first + size]
        if tuple(token for *_, token in spans) == tokens and not any(
            tokenizer.tokens(text[left[1] : right[0]]) for left, right in pairwise(spans)
        ):
            return True
    return False


def _select_passages(text: str, groups: list[MatchGroup], total_weight: TotalWeight) -> Iterator[str]:
    """Yield passages by their phrases, then the weight of tokens not shown yet, then the weight of all tokens."""
    shown: frozenset[str] = frozenset()
    yielded: set[str] = set()
    ranges: list[tuple[int, int]] = []
    left = list(groups)

    def worth(group: MatchGroup) -> tuple[float, float, float, int]:
        new = group.weight if shown.isdisjoint(group.tokens) else total_weight(group.tokens - shown)
        return group.phrases, new, group.weight, -group.start

    while left and len(yielded) < MAX_HIGHLIGHTS:
        best = max(left, key=worth)
        left.remove(best)
        shown |= best.tokens
        if any(start <= best.start and best.end <= end for start, end in ranges):
            continue  # another passage already shows it
        start, end = _add_context(text, best)
        ranges.append((start, end))
        passage = text[start:end].strip()
        normalized = " ".join(passage.lower().split())
        if normalized not in yielded:
            yielded.add(normalized)
            yield f"{ELLIPSIS if text[:start].strip() else ''}{passage}{ELLIPSIS if text[end:].strip() else ''}"


def _sum_weights(weights: Mapping[str, float]) -> TotalWeight:
    """Return a function that sums the weights of tokens; most passages have one of a few sets of tokens."""
    return cache(lambda tokens: sum(weights[token] for token in sorted(tokens)))


def _add_context(text: str, group: MatchGroup) -> tuple[int, int]:
    """Return the start and end of a group with its context, which is made of whole tokens."""
    left = max(0, group.start - HIGHLIGHT_CONTEXT_CHARACTERS)
    while left < group.start and not _is_token_edge(text, left):
        left += 1
    right = min(len(text), group.end + HIGHLIGHT_CONTEXT_CHARACTERS)
    while right > group.end and not _is_token_edge(text, right):
        right -= 1
    return left, right
