"""Selection of passages: the lines of a chunk that are shown, and the positions of query words in them."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import fsum

from dowse.text.analysis import terms_of
from dowse.types import StoredChunk

MAX_LINES = 10
"""Maximum lines of a passage: a signature and the lines around the best match fit."""
MIN_LINES = 6
"""Minimum lines of a passage, if the chunk has as many: fewer say too little."""
CONTEXT_LINES = 2
"""Lines of context before the first and after the last match of a passage."""

MAX_LINE_BYTES = 1000
"""Maximum bytes of a line that are read beyond the chunk; a file of 900 KB in one line took a second."""

_TOKEN = re.compile(r"\w+")
_STEMS_OF_YING = frozenset({"die", "lie", "tie"})
"""The stems of `dying`, `lying` and `tying`, the only ones that do not begin like their words."""
_WORD_REST = re.compile(r"\w*")


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of a document, both ends included, with their text and the symbols they define."""

    start_line: int
    end_line: int
    text: str
    symbols: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()
    """The kinds of secrets that are masked."""
    flags: tuple[str, ...] = ()
    flagged_lines: tuple[int, ...] = ()
    """The content warnings of the passage, and the lines of the document that caused them."""


def select_passage(data: bytes, chunk: StoredChunk, terms: Mapping[str, float], names: Collection[str] = ()) -> Passage:
    """Select the lines of a chunk around the best match, or where it defines one of the `names`.

    `data` is the text of the document in UTF-8.
    """
    lines, first = _lines_of(data, chunk), chunk.start_line
    start, end = 0, len(lines) - 1
    if len(lines) > MAX_LINES:  # a short chunk is shown whole
        weights = _line_weights(lines, terms)
        for symbol in chunk.symbols:
            if 0 <= symbol.line - first < len(lines):
                weights[symbol.line - first] *= 100 if symbol.name in names else 2
        start, end = _best_window(weights)
    while start < end and not lines[start].strip():
        start += 1
    shown = [symbol.name for symbol in chunk.symbols if start <= symbol.line - first <= end]
    symbols = sorted(shown, key=lambda name: name not in names) or [symbol.name for symbol in chunk.symbols[:1]]
    return Passage(first + start, first + end, "\n".join(lines[start : end + 1]), tuple(symbols), chunk.headings)


def merge_passages(passages: Iterable[Passage]) -> list[Passage]:
    """Sort passages by line, and join those that touch or overlap."""
    result: list[Passage] = []
    for passage in sorted(passages, key=lambda passage: (passage.start_line, passage.end_line)):
        if result and passage.start_line <= result[-1].end_line + 1:
            result[-1] = _join_passages(result[-1], passage)
        else:
            result.append(passage)
    return result


def _join_passages(first: Passage, second: Passage) -> Passage:
    new = second.text.split("\n")[first.end_line + 1 - second.start_line :]
    return Passage(
        first.start_line,
        max(first.end_line, second.end_line),
        "\n".join([first.text, *new]),
        tuple(dict.fromkeys((*first.symbols, *second.symbols))),
        first.headings,
    )


def terms_among(text: str, terms: frozenset[str]) -> set[str]:
    """Return those of the terms that a text has."""
    return {term for _, word in _similar_words(text, terms) for term in terms_of_word(word) if term in terms}


@lru_cache(maxsize=100_000)
def terms_of_word(word: str) -> tuple[str, ...]:
    """Return the terms of a word; those of most words are cached."""
    return tuple(terms_of(word))


def _lines_of(data: bytes, chunk: StoredChunk) -> list[str]:
    """Return the whole lines that a chunk is in, without line ends."""
    first, last = max(0, chunk.start_byte - MAX_LINE_BYTES), min(len(data), chunk.end_byte + MAX_LINE_BYTES)
    start = max(first - 1, *(data.rfind(end, first, chunk.start_byte) for end in (b"\n", b"\r"))) + 1
    ends = [at for end in (b"\n", b"\r") if (at := data.find(end, max(start, chunk.end_byte - 1), last)) >= 0]
    shown = data[start : min(ends, default=last)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    text = shown.decode("utf-8", "ignore")  # a very long line may be cut within a character
    return text.removesuffix("\n").split("\n")


def _line_weights(lines: list[str], terms: Mapping[str, float]) -> list[float]:
    """Return the weight of the query terms in each line; only words that may match are analyzed."""
    ends = list(accumulate(len(line) + 1 for line in lines))
    found: dict[int, set[str]] = {}
    for at, word in _similar_words("\n".join(lines), frozenset(terms)):
        found.setdefault(bisect_right(ends, at), set()).update(terms_of_word(word))
    weights = [0.0] * len(lines)
    for line, words in found.items():
        weights[line] = fsum(terms[term] for term in words if term in terms)  # the same for any order of the set
    return weights


def _similar_words(text: str, terms: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield the words of a text that may contain one of the terms, each with a position in it."""
    small = text.lower()
    if len(small) != len(text):  # a few letters become two in lower case
        small = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    for prefix in _prefixes(terms):
        at = small.find(prefix)
        while at >= 0:
            end = at + len(prefix)
            end += len(_WORD_REST.match(small, end)[0])  # type: ignore[index]  # it matches the empty text, too
            yield at, text[word_start(text, at) : end]
            at = small.find(prefix, end)


def word_start(text: str, start: int) -> int:
    """Return where the word at a position begins."""
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return start


@lru_cache(maxsize=64)
def _prefixes(terms: frozenset[str]) -> list[str]:
    """Return letters that a word contains if it may be one of the terms; analyzing all words takes ten times as long."""
    prefixes = {term[:4] if len(term) > 4 else term[: max(1, len(term) - 1)] for term in terms}
    return sorted(prefixes | {f"{term[0]}y" for term in terms & _STEMS_OF_YING})


def holds_phrase(text: str, phrase: str) -> bool:
    """Return whether a text has the words of a phrase one after the other."""
    words = _TOKEN.findall(phrase.lower())
    if not words:
        return False
    expression = r"(?<!\w)" + r"\W+".join(map(re.escape, words)) + r"(?!\w)"
    return re.search(expression, text.lower()) is not None


def match_spans(line: str, terms: Mapping[str, float]) -> list[tuple[int, int]]:
    """Return the start and end of each word of a line that matches the query, for highlighting."""
    return [word.span() for word in _TOKEN.finditer(line) if not terms.keys().isdisjoint(terms_of_word(word[0]))]


def first_match(line: str, terms: Mapping[str, float]) -> int | None:
    """Return where the first matching word of a line begins; None if none matches."""
    found = (word.start() for word in _TOKEN.finditer(line) if not terms.keys().isdisjoint(terms_of_word(word[0])))
    return next(found, None)


def _best_window(weights: Sequence[float]) -> tuple[int, int]:
    """Return the first and last line around the best run of matches; there are more lines than a passage shows."""
    last = len(weights) - 1
    before = list(accumulate(weights, initial=0.0))
    window_weights = [after - start for start, after in zip(before, before[MAX_LINES:], strict=False)]
    best = window_weights.index(max(window_weights))
    matching = [at for at in range(best, best + MAX_LINES) if weights[at]] or [0]
    start = max(0, matching[0] - CONTEXT_LINES)
    return start, min(last, max(matching[-1] + CONTEXT_LINES, start + MIN_LINES - 1))
