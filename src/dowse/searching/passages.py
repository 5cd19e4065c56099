"""The lines that matter: which part of which chunks is shown, and where the words stand in it."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from dowse.lines import line_starts
from dowse.store.analysis import terms_of
from dowse.types import StoredChunk

MAX_LINES = 10
"""Lines shown of one passage: a signature and the lines around the best match fit."""
MIN_LINES = 6
"""Fewer lines say too little, where the chunk has more."""
AROUND = 2
"""Lines of context before the first and after the last match of a passage."""

_TOKEN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of a document, both ends included, with their text and what they define."""

    start_line: int
    end_line: int
    text: str
    symbols: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()


class Lines:
    """A text by its lines."""

    def __init__(self, text: str) -> None:
        self._data = text.encode()
        self._starts = line_starts(self._data)

    def __len__(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> str:
        """One line, counted from 1, without its end."""
        return self.text(number, number)

    def between(self, first: int, last: int) -> list[str]:
        """Lines `first` to `last`, each without its end."""
        start, end = self._span(first, last)
        return [line.decode("utf-8", "replace") for line in self._data[start:end].splitlines()]

    def text(self, first: int, last: int) -> str:
        """Lines `first` to `last`, without the end of the last."""
        start, end = self._span(first, last)
        return self._data[start:end].decode("utf-8", "replace").rstrip("\r\n")

    def _span(self, first: int, last: int) -> tuple[int, int]:
        return self._starts[first - 1], self._starts[last] if last < len(self._starts) else len(self._data)


def passage_of(lines: Lines, chunk: StoredChunk, terms: Mapping[str, float], names: Collection[str] = ()) -> Passage:
    """The part of a chunk that answers: around its best lines, or where it defines what is asked for."""
    first, last = chunk.start_line, min(chunk.end_line, len(lines))
    weights = {number: line_weight(line, terms) for number, line in enumerate(lines.between(first, last), first)}
    for symbol in chunk.symbols:
        if symbol.line in weights:
            weights[symbol.line] *= 100 if symbol.name in names else 2
    start, end = _window(weights, first, last)
    while start < end and not lines.line(start).strip():
        start += 1
    shown = [symbol.name for symbol in chunk.symbols if start <= symbol.line <= end]
    symbols = sorted(shown, key=lambda name: name not in names) or [symbol.name for symbol in chunk.symbols[:1]]
    return Passage(start, end, lines.text(start, end), tuple(symbols), chunk.headings)


def merged(lines: Lines, passages: Iterable[Passage]) -> list[Passage]:
    """Passages in the order of the text, those that touch or overlap as one."""
    result: list[Passage] = []
    for passage in sorted(passages, key=lambda one: (one.start_line, one.end_line)):
        if result and passage.start_line <= result[-1].end_line + 1:
            last = result[-1]
            end = max(last.end_line, passage.end_line)
            symbols = tuple(dict.fromkeys((*last.symbols, *passage.symbols)))
            result[-1] = Passage(last.start_line, end, lines.text(last.start_line, end), symbols, last.headings)
        else:
            result.append(passage)
    return result


def line_weight(line: str, terms: Mapping[str, float]) -> float:
    """How much of a query a line holds."""
    if not _beginnings(frozenset(terms)).search(line):
        return 0.0
    return sum(terms[term] for term in set(terms_of(line)) if term in terms)


@lru_cache(maxsize=64)
def _beginnings(terms: frozenset[str]) -> re.Pattern[str]:
    """What a line must hold for one of the terms to be in it: cutting all lines into terms takes ten times as long."""
    beginnings = {term[:4] if len(term) > 4 else term[: max(1, len(term) - 1)] for term in terms}
    return re.compile("|".join(map(re.escape, sorted(beginnings))) or r"(?!)", re.IGNORECASE)


def holds_phrase(text: str, phrase: str) -> bool:
    """Whether a text has the words of a phrase one after the other."""
    words = _TOKEN.findall(phrase.lower())
    if not words:
        return False
    expression = r"(?<!\w)" + r"\W+".join(map(re.escape, words)) + r"(?!\w)"
    return re.search(expression, text.lower()) is not None


def matches_in(line: str, terms: Mapping[str, float]) -> list[tuple[int, int]]:
    """Where the words of a query stand in a line, for whoever makes them visible."""
    found: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(line):
        if set(terms_of(token[0])) & terms.keys():
            found.append(token.span())
    return found


def _window(weights: Mapping[int, float], first: int, last: int) -> tuple[int, int]:
    """The lines around the best run of matches; a chunk that is short enough is shown whole."""
    if last - first < MAX_LINES:
        return first, last
    before = list(accumulate((weights.get(number, 0.0) for number in range(first, last + 1)), initial=0.0))
    starts = range(len(before) - MAX_LINES)
    best = first + max(starts, key=lambda start: (before[start + MAX_LINES] - before[start], -start))
    matching = [number for number in range(best, best + MAX_LINES) if weights.get(number)] or [first]
    start = max(first, matching[0] - AROUND)
    return start, min(last, max(matching[-1] + AROUND, start + MIN_LINES - 1))
