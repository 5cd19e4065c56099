"""Highlights: the passages of a document that matter to a question, at most three and no two alike.

Each is a slice of the text around whole tokens, in its own case, with `...` where text was cut.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from dowse.notes.limits import HIGHLIGHT_PLACES, HIGHLIGHT_REACH, HIGHLIGHT_TOKEN, HIGHLIGHTS
from dowse.notes.question import Question
from dowse.notes.tokens import Span, Tokenizer, is_word

CUT = "..."


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of text with the matches in it."""

    start: int
    end: int
    tokens: frozenset[str]
    phrases: int
    """Required sequences that stand in it whole."""


def highlights(text: str, question: Question, weights: Mapping[str, float], tokenizer: Tokenizer) -> list[str]:
    """The best passages of a text, best first."""
    found = sorted(_matches(text, question.positive, tokenizer))
    passages = [_passage(text, group, question, tokenizer) for group in _grouped(found)]
    return list(_chosen(text, passages, weights))


def _matches(text: str, tokens: Iterable[str], tokenizer: Tokenizer) -> Iterator[Span]:
    """The first places of each token."""
    if text.isascii():  # find is a hundred times faster than cutting, which counts in a text of megabytes
        lowered = text.lower() if tokenizer.lowercase else text
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
    start, found = text.find(token), 0
    while start >= 0 and found < HIGHLIGHT_PLACES:
        end = start + len(token)
        if _is_edge(text, start) and _is_edge(text, end):
            found += 1
            yield start, end, token
        start = text.find(token, end)


def _is_edge(text: str, place: int) -> bool:
    """Whether no token goes on across a place."""
    return place <= 0 or place >= len(text) or not (is_word(text[place - 1]) and is_word(text[place]))


def _grouped(found: list[Span]) -> Iterator[list[Span]]:
    """Matches that one passage shows: those within reach of the first."""
    group: list[Span] = []
    for span in found:
        if group and span[1] > group[0][1] + HIGHLIGHT_REACH:
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def _passage(text: str, group: list[Span], question: Question, tokenizer: Tokenizer) -> Passage:
    start, end = group[0][0], min(group[-1][1], group[-1][0] + HIGHLIGHT_TOKEN)
    left = max(0, start - HIGHLIGHT_REACH)
    while left < start and not _is_edge(text, left):
        left += 1
    right = min(len(text), end + HIGHLIGHT_REACH)
    while right > end and not _is_edge(text, right):
        right -= 1
    whole = sum(_stands(text, group, tokens, tokenizer) for tokens in question.required if len(tokens) > 1)
    return Passage(left, right, frozenset(token for *_, token in group), whole)


def _stands(text: str, group: list[Span], tokens: tuple[str, ...], tokenizer: Tokenizer) -> bool:
    """Whether tokens stand next to each other among the matches."""
    size = len(tokens)
    for first in range(len(group) - size + 1):
        some = group[first : first + size]
        if tuple(token for *_, token in some) == tokens and not any(
            tokenizer.tokens(text[one[1] : other[0]]) for one, other in pairwise(some)
        ):
            return True
    return False


def _chosen(text: str, passages: list[Passage], weights: Mapping[str, float]) -> Iterator[str]:
    """Passages by what they add to those before: whole phrases, then tokens not shown yet, then all tokens."""
    shown: set[str] = set()
    told: set[str] = set()
    left = list(passages)

    def worth(passage: Passage) -> tuple[float, float, float, int]:
        new = sum(weights[token] for token in sorted(passage.tokens - shown))
        every = sum(weights[token] for token in sorted(passage.tokens))
        return passage.phrases, new, every, -passage.start

    while left and len(told) < HIGHLIGHTS:
        best = max(left, key=worth)
        left.remove(best)
        shown |= best.tokens
        passage = text[best.start : best.end].strip()
        alike = " ".join(passage.lower().split())
        if alike not in told:
            told.add(alike)
            yield _with_cuts(text, passage, best)


def _with_cuts(text: str, passage: str, place: Passage) -> str:
    before = CUT if text[: place.start].strip() else ""
    after = CUT if text[place.end :].strip() else ""
    return f"{before}{passage}{after}"
