"""Highlights: up to three different passages of a document that match a query.

Each is a slice of the text that starts and ends at whole tokens, in its original case, with `...` where text was cut.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from dowse.notes import limits
from dowse.notes.notes_tokens import ASCII_WORD_CHARACTERS, NotesQuery, NotesTokenizer, is_one_run
from dowse.text.excerpts import FoundWord, Splitting, Window, choose_windows, find_words

ELLIPSIS = "..."
_CAPITAL_SIGMA = "\N{GREEK CAPITAL LETTER SIGMA}"
"""Its lower case depends on its neighbours."""
_REACH = (limits.HIGHLIGHT_CONTEXT_CHARACTERS, limits.HIGHLIGHT_CONTEXT_CHARACTERS + limits.MAX_HIGHLIGHT_CHARACTERS)


def find_highlights(text: str, query: NotesQuery, weights: Mapping[str, float], tokenizer: NotesTokenizer) -> list[str]:
    """Return the best passages of a text, best first: whole phrases, then tokens that no passage before has."""
    required = {token for sequence in query.required for token in sequence}
    order = sorted(query.positive, key=lambda token: (token not in required, -weights[token], token))
    tokens = order[: limits.MAX_HIGHLIGHT_TOKENS]  # of a query with more, the required and the rarest
    phrases = [phrase for phrase in query.required if len(phrase) > 1]
    places = list(find_words(text, {token: number for number, token in enumerate(tokens)}, _splitting(tokenizer)))
    found = sorted([*places, *_find_phrases(text, places, tokens, phrases, tokenizer)])
    by_group = [weights[token] for token in tokens]
    by_group += [1 + sum(by_group)] * len(phrases)
    chosen = choose_windows(
        found, dict(enumerate(by_group)), 2 * limits.MAX_HIGHLIGHTS, partial(_window, text, places), reach=_REACH
    )
    passages = dict[str, str]()
    for start, end in chosen:
        passage = text[start:end].strip()
        before, after = (ELLIPSIS if rest.strip() else "" for rest in (text[:start], text[end:]))
        passages.setdefault(" ".join(passage.lower().split()), f"{before}{passage}{after}")
    return list(passages.values())[: limits.MAX_HIGHLIGHTS]


def _splitting(tokenizer: NotesTokenizer) -> Splitting:
    return Splitting(
        lambda text: ((token, start, end) for start, end, token in tokenizer.spans(text)),
        lambda text: _CAPITAL_SIGMA not in text,
        ASCII_WORD_CHARACTERS,
        str.lower if tokenizer.lowercase else str,
    )


def _find_phrases(
    text: str,
    places: Sequence[FoundWord],
    tokens: Sequence[str],
    phrases: Sequence[tuple[str, ...]],
    tokenizer: NotesTokenizer,
) -> Iterator[FoundWord]:
    """Yield the places where the tokens of a phrase are next to each other."""
    for number, phrase in enumerate(phrases, len(tokens)):
        for first in range(len(places) - len(phrase) + 1):
            spans = places[first : first + len(phrase)]
            if tuple(tokens[span.group] for span in spans) == phrase and not any(
                tokenizer.tokens(text[left.end : right.start]) for left, right in pairwise(spans)
            ):
                yield FoundWord(spans[0].start, spans[-1].end, number)


def _window(text: str, places: Sequence[FoundWord], place: FoundWord) -> Window:
    """Return the passage of a token and of those close behind it, no longer than a line, with context of whole tokens."""
    last = place
    for following in places[bisect_left(places, place) :]:
        if following.start > last.end + limits.HIGHLIGHT_CONTEXT_CHARACTERS:
            break
        if following.end <= place.start + limits.MAX_HIGHLIGHT_CHARACTERS:
            last = following
    end = max(place.end, last.end)
    if end - last.start > limits.MAX_HIGHLIGHT_TOKEN_CHARACTERS:
        end = last.start + limits.MAX_HIGHLIGHT_TOKEN_CHARACTERS
    left, right = (
        max(0, place.start - limits.HIGHLIGHT_CONTEXT_CHARACTERS),
        min(len(text), end + limits.HIGHLIGHT_CONTEXT_CHARACTERS),
    )
    while left < place.start and not _is_token_edge(text, left):
        left += 1
    while right > end and not _is_token_edge(text, right):
        right -= 1
    return left, right


def _is_token_edge(text: str, position: int) -> bool:
    """Return whether no token extends across a position."""
    around = text[max(0, position - 1) : position + 1]
    return len(around) < 2 or not is_one_run(around)
