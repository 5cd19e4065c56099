"""Highlights: the passages of a document that matter to a question, at most three and no two alike.

Each is a slice of the text around whole tokens, in its own case, with `...` where text was cut.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from dowse.notes.limits import (
    HIGHLIGHT_LINE,
    HIGHLIGHT_PLACES,
    HIGHLIGHT_REACH,
    HIGHLIGHT_TOKEN,
    HIGHLIGHT_TOKENS,
    HIGHLIGHTS,
)
from dowse.notes.notes_query import NotesQuery
from dowse.notes.notes_tokens import NotesTokenizer, Span, is_word

CUT = "..."
_SIGMA = "\N{GREEK CAPITAL LETTER SIGMA}"


@dataclass(frozen=True, slots=True)
class Group:
    """Matches that one passage shows."""

    start: int
    end: int
    tokens: frozenset[str]
    weight: float
    """What these tokens count together."""
    phrases: int
    """Required sequences that stand in it whole."""


def highlights(text: str, question: NotesQuery, weights: Mapping[str, float], tokenizer: NotesTokenizer) -> list[str]:
    """The best passages of a text, best first."""
    found = sorted(_matches(text, _telling(question, weights), tokenizer))
    phrases = [tokens for tokens in question.required if len(tokens) > 1]
    groups = []
    for spans in _grouped(found):
        tokens = frozenset(token for *_, token in spans)
        whole = sum(_stands(text, spans, phrase, tokenizer) for phrase in phrases)
        end = min(spans[-1][1], spans[-1][0] + HIGHLIGHT_TOKEN)
        groups.append(Group(spans[0][0], end, tokens, _weight(tokens, weights), whole))
    return list(_chosen(text, groups, weights))


def _telling(question: NotesQuery, weights: Mapping[str, float]) -> list[str]:
    """The tokens to look for: of a question of thousands those that are required, then the rarest."""
    if len(question.positive) <= HIGHLIGHT_TOKENS:
        return list(question.positive)
    required = {token for tokens in question.required for token in tokens}
    order = sorted(question.positive, key=lambda token: (token not in required, -weights[token], token))
    return order[:HIGHLIGHT_TOKENS]


def _matches(text: str, tokens: Iterable[str], tokenizer: NotesTokenizer) -> Iterator[Span]:
    """The first places of each token."""
    lowered = text.lower() if tokenizer.lowercase else text
    # Find is a hundred times faster than cutting, which counts in a text of megabytes. Where letters grow when they are
    # made small, places are others; and a sigma is made small by what stands around it.
    if text.isascii() or (len(lowered) == len(text) and _SIGMA not in text):
        for token in tokens:
            yield from _places(lowered, token)
        return
    left = dict.fromkeys(tokens, HIGHLIGHT_PLACES)
    for start, end, token in tokenizer.spans(text):
        if left.get(token):
            left[token] -= 1
            yield start, end, token
            if not left[token] and not any(left.values()):
                return


def _places(text: str, token: str) -> Iterator[Span]:
    start, found, size = text.find(token), 0, len(text)
    while start >= 0 and found < HIGHLIGHT_PLACES:
        end = start + len(token)
        if (not start or not is_word(text[start - 1])) and (end == size or not is_word(text[end])):
            found += 1
            yield start, end, token
        start = text.find(token, end)


def _is_edge(text: str, place: int) -> bool:
    """Whether no token goes on across a place."""
    return place <= 0 or place >= len(text) or not (is_word(text[place - 1]) and is_word(text[place]))


def _grouped(found: list[Span]) -> Iterator[list[Span]]:
    """Matches that one passage shows: those within reach of each other, as long as it stays a line."""
    group: list[Span] = []
    for span in found:
        if group and (span[0] > group[-1][1] + HIGHLIGHT_REACH or span[1] > group[0][0] + HIGHLIGHT_LINE):
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def _stands(text: str, group: list[Span], tokens: tuple[str, ...], tokenizer: NotesTokenizer) -> bool:
    """Whether tokens stand next to each other among the matches."""
    size = len(tokens)
    for first in range(len(group) - size + 1):
        some = group[first : first + size]
        if tuple(token for *_, token in some) == tokens and not any(
            tokenizer.tokens(text[one[1] : other[0]]) for one, other in pairwise(some)
        ):
            return True
    return False


def _chosen(text: str, groups: list[Group], weights: Mapping[str, float]) -> Iterator[str]:
    """Passages by what they add to those before: whole phrases, then tokens not shown yet, then all tokens."""
    shown: frozenset[str] = frozenset()
    told: set[str] = set()
    places: list[tuple[int, int]] = []
    left = list(groups)

    def worth(group: Group) -> tuple[float, float, float, int]:
        new = group.weight if shown.isdisjoint(group.tokens) else _weight(group.tokens - shown, weights)
        return group.phrases, new, group.weight, -group.start

    while left and len(told) < HIGHLIGHTS:
        best = max(left, key=worth)
        left.remove(best)
        shown |= best.tokens
        if any(start <= best.start and best.end <= end for start, end in places):
            continue  # it was seen beside another
        start, end = _around(text, best)
        places.append((start, end))
        passage = text[start:end].strip()
        alike = " ".join(passage.lower().split())
        if alike not in told:
            told.add(alike)
            yield f"{CUT if text[:start].strip() else ''}{passage}{CUT if text[end:].strip() else ''}"


def _weight(tokens: frozenset[str], weights: Mapping[str, float]) -> float:
    return sum(weights[token] for token in sorted(tokens))


def _around(text: str, group: Group) -> tuple[int, int]:
    """A group with what stands around it, whole tokens of that."""
    left = max(0, group.start - HIGHLIGHT_REACH)
    while left < group.start and not _is_edge(text, left):
        left += 1
    right = min(len(text), group.end + HIGHLIGHT_REACH)
    while right > group.end and not _is_edge(text, right):
        right -= 1
    return left, right
