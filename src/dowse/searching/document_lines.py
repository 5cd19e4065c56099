"""The lines of a document: its units, ranked for a query, and the lines of a unit that are worth showing."""

import re
import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from itertools import accumulate, pairwise
from math import log

from dowse.searching import ranking_constants
from dowse.searching.passages import Passage, common_beginning, similar_words, terms_of_word
from dowse.searching.pasted_text import Frame
from dowse.searching.query_terms import SearchQuery
from dowse.searching.units import Unit, find_units
from dowse.types import StoredChunk, StoredDocument

MAX_LINE_BYTES = 1000
"""Maximum bytes of a line that are read beyond a chunk; a file of 900 KB in one line took a second."""
SHOWN_SIGNATURE_LINES = 3
"""Lines of a signature that are shown beside other lines of its unit."""
WINDOW_LINES = 10
"""Lines of a passage where each file has a single one."""
MAX_GAP = 2
"""So many lines between two shown ones are shown as well: the sign for them would take nearly as much room."""
LONG_TERM = 7
"""Letters of a term that is found by its beginning."""

MAX_KNOWN_UNITS = 200
"""Files and chunks whose units are remembered: 3 MB; finding those of the ten files of a reply takes 2 ms."""

_KNOWN_UNITS: dict[tuple[object, ...], Sequence[Unit]] = {}
_KNOWN_UNITS_LOCK = threading.Lock()
_LINE_END = re.compile(r"\r\n|\r|\n")
_WORD = re.compile(r"\w{3,}")
_IMPORT = re.compile(r"\s*(?:import|from|#\s*include|use|using|package|require|extern)\b")
_BOILERPLATE = re.compile(rf"{_IMPORT.pattern}|#|//|/\*|\*|--\s|[)}}\]]")
_OPEN_BRACKET = re.compile(r"([({])[^)}]*$")
_QUOTES = re.compile(r"\s*[rRuUbB]{0,2}(\"{3}|'{3})")


@dataclass(frozen=True, slots=True)
class WantedLines:
    """The terms, names and lines of a query that decide which lines of a file answer it."""

    terms: Mapping[str, float]
    """The rarest terms of the query, each with its rarity."""
    title_terms: Mapping[str, float] = field(default_factory=dict)
    """Those of the title of pasted text."""
    words: frozenset[str] = frozenset()
    """The words of the query as they are written, which may be names."""
    symbols: frozenset[str] = frozenset()
    """The names in a query that is a name."""
    frames: tuple[Frame, ...] = ()
    """The lines that a traceback in the query names."""
    all_terms: Mapping[str, float] = field(default_factory=dict)
    """All its terms, for a document that has none of the rarest."""

    @classmethod
    def of(
        cls, query: SearchQuery, terms: Mapping[str, float], title_terms: Mapping[str, float] | None = None
    ) -> "WantedLines":
        """Return what a query with these terms says."""
        return cls(
            _rarest(terms),
            _rarest(title_terms or {}),
            frozenset(_WORD.findall(query.text)),
            frozenset(query.names if query.shape == "symbol" else ()),
            query.pasted.frames if query.pasted else (),
            terms,
        )


def _rarest(terms: Mapping[str, float]) -> dict[str, float]:
    """Return the terms that count within a file: the frequent ones take time and say little."""
    least = ranking_constants.MIN_UNIT_RARITY * max(terms.values(), default=0.0)
    best = nlargest(ranking_constants.UNIT_TERMS, terms, key=terms.__getitem__)
    return {term: terms[term] for term in best if terms[term] >= least}


@dataclass(frozen=True, slots=True)
class RankedUnit:
    """A unit of a document and its score."""

    unit: Unit
    score: float
    is_found: bool = True
    """Whether it has words of the query, or is in the best chunk."""


class DocumentLines:
    """The lines of a document, or of one chunk of it, with the units and the terms of a query in them."""

    def __init__(
        self,
        document: StoredDocument,
        data: bytes,
        chunks: Sequence[StoredChunk],
        wanted: WantedLines,
        within: StoredChunk | None = None,
    ) -> None:
        self._path, self._wanted, self._chunks = document.path, wanted, chunks
        self._chances: dict[int, dict[int, float]] = {}
        is_slice = within is not None and document.language != "markdown"  # a section has the headings above it
        text = (_whole_lines(data, within) if within and is_slice else data).decode("utf-8", "replace")
        self.lines = _LINE_END.split(text) if "\r" in text else text.split("\n")
        if len(self.lines) > 1 and not self.lines[-1]:  # a line end at the end begins no line
            self.lines.pop()
        self.first = within.start_line if within and is_slice else 1
        """The number of the first line. Lines are counted from 0 below."""
        start, end = (within.start_line - self.first, within.end_line - self.first) if within else (0, len(self.lines))
        units = _units_of(document, chunks, self.lines, self.first)
        self.units = [unit for unit in units if start <= unit.end and unit.start <= end] or [
            Unit(0, len(self.lines) - 1)
        ]
        self._terms = self._find_terms(frozenset(wanted.terms) | frozenset(wanted.title_terms))
        if not self._terms:
            self._wanted = replace(wanted, terms=wanted.all_terms)
            self._terms = self._find_terms(frozenset(wanted.all_terms))

    def _find_terms(self, terms: frozenset[str]) -> dict[int, list[str]]:
        return _terms_by_line(self.lines, self.units[0].start, self.units[-1].end, terms)

    def ranked_units(self, chunk_scores: Mapping[int, float]) -> list[RankedUnit]:
        """Return the units, best first, by the words in them, their names, and the scores of their chunks."""
        wanted, by_words, by_chunk = self._wanted, self._word_scores(), self._chunk_scores(chunk_scores)
        named = [frame.line_in(self._path) for frame in wanted.frames]
        frames = [line - self.first for line in named if line]
        ranked = []
        for at, unit in enumerate(self.units):
            is_found = by_words[at] > 0 or by_chunk[at] == 1.0
            is_found = is_found and not (unit.kind == "block" and self._is_boilerplate(unit))
            score = (
                by_words[at]
                + ranking_constants.UNIT_CHUNK * by_chunk[at]
                + ranking_constants.UNIT_NAMED * (unit.name in wanted.words)
                + ranking_constants.UNIT_SYMBOL * (unit.name in wanted.symbols)
                + ranking_constants.UNIT_LENGTH * log(unit.size)
                + ranking_constants.UNIT_KINDS[unit.kind]
                + ranking_constants.UNIT_FRAME * any(unit.start <= line <= unit.end for line in frames)
            )
            ranked.append(RankedUnit(unit, score, is_found))
        return sorted(ranked, key=lambda one: (not one.is_found, -one.score, one.unit.start))

    def _word_scores(self) -> list[float]:
        """Return the weight of the terms in each unit, from 0 to 2; those of a title count as much as all others."""
        counts, starts = dict[int, Counter[str]](), [unit.start for unit in self.units]
        for line, terms in self._terms.items():
            if (at := bisect_right(starts, line) - 1) >= 0 and line <= self.units[at].end:
                counts.setdefault(at, Counter()).update(terms)
        average = sum(unit.size for unit in self.units) / max(1, len(self.units))
        share = ranking_constants.UNIT_LENGTH_SHARE
        totals = [0.0] * len(self.units)
        for weights in (self._wanted.terms, self._wanted.title_terms or self._wanted.terms):
            scores = dict[int, float]()
            for at, found in counts.items():
                saturation = 1.2 * (1 - share + share * self.units[at].size / average)
                scores[at] = sum(weights.get(term, 0.0) * count / (count + saturation) for term, count in found.items())
            highest = max(scores.values(), default=0.0) or 1.0
            for at, score in scores.items():
                totals[at] += score / highest
        return totals

    def _chunk_scores(self, chunk_scores: Mapping[int, float]) -> list[float]:
        """Return for each unit the score of its best chunk, as a share of the highest."""
        highest = max(chunk_scores.values(), default=0.0) or 1.0
        scores, starts = [0.0] * len(self.units), [unit.start for unit in self.units]
        for chunk in self._chunks:
            share = chunk_scores.get(chunk.id, 0.0) / highest
            first, last = chunk.start_line - self.first, chunk.end_line - self.first
            at = max(0, bisect_right(starts, first) - 1)
            while share and at < len(starts) and starts[at] <= last:
                if self.units[at].end >= first:
                    scores[at] = max(scores[at], share)
                at += 1
        return scores

    def line_chances(self, unit: Unit) -> dict[int, float]:
        """Return the lines of a unit that are worth showing, each with the chance that it is the one that is meant.

        Imports and descriptions of functions are not, unless words of the query are in nothing else.
        """
        known = self._chances.get(unit.start)
        if known is None:
            known = self._chances[unit.start] = self._count_chances(unit)
        return known

    def _count_chances(self, unit: Unit) -> dict[int, float]:
        lines = self._worth_showing(unit)
        near, reach = dict.fromkeys(lines, 0.0), ranking_constants.LINE_REACH
        for line in lines:
            if weight := self._line_weight(line):
                for step in range(-reach, reach + 1):
                    if line + step in near:
                        near[line + step] += weight * (1 - abs(step) / (reach + 1))
        highest = max(near.values(), default=0.0) or 1.0
        base = ranking_constants.BASE_CHANCE
        total = base * len(near) + sum(near.values()) / highest
        return {line: (base + value / highest) / total for line, value in near.items()}

    def _line_weight(self, line: int) -> float:
        terms, title_terms = self._wanted.terms, self._wanted.title_terms
        return sum(terms.get(term, 0.0) + title_terms.get(term, 0.0) for term in self._terms.get(line, ()))

    def _worth_showing(self, unit: Unit) -> list[int]:
        filled = [line for line in _lines_of(unit) if self.lines[line].strip()] or [unit.start]
        if unit.kind == "block":
            imports = self._imports(unit)
            lines = [line for line in filled if line not in imports]
        else:
            first, last = self._docstring(unit)
            lines = [line for line in filled if not first <= line <= last]
        is_elsewhere = self._terms.keys().isdisjoint(lines) and not self._terms.keys().isdisjoint(filled)
        return filled if is_elsewhere or not lines else lines

    def _imports(self, unit: Unit) -> set[int]:
        """Return the lines of a block that import something, with those between the brackets of an import."""
        found, closing = set[int](), ""
        for line in _lines_of(unit):
            text = self.lines[line]
            if closing or _IMPORT.match(text):
                found.add(line)
                opening = _OPEN_BRACKET.search(text)
                closing = (
                    {"(": ")", "{": "}"}[opening[1]] if opening else "" if closing and closing in text else closing
                )
        return found

    def _is_boilerplate(self, unit: Unit) -> bool:
        """Return whether a block has nothing but imports and comments, such as a licence."""
        lines = self.lines[unit.start : unit.end + 1]
        return all(_BOILERPLATE.match(line) for line in lines if line[:1].strip())

    def _docstring(self, unit: Unit) -> tuple[int, int]:
        """Return the first and last line of the text that describes a function or class; an empty range without one."""
        quotes = _QUOTES.match(self.lines[unit.body]) if unit.start < unit.body else None
        if quotes is None or unit.kind == "section":
            return 0, -1
        if quotes[1] in self.lines[unit.body][quotes.end() :]:
            return unit.body, unit.body
        ends = (line for line in range(unit.body + 1, unit.end + 1) if quotes[1] in self.lines[line])
        return unit.body, next(ends, unit.end)

    def signature(self, unit: Unit) -> list[int]:
        """Return the lines that say what a unit is: its signature, the first line of a class, or its heading."""
        lines = range(unit.definition, max(unit.body, unit.definition + 1))
        return [line for line in lines if self.lines[line].strip()][:SHOWN_SIGNATURE_LINES]

    def window(self, unit: Unit) -> Passage:
        """Return the best lines of a unit without gaps; a short unit whole, with those next to it."""
        if unit.size > WINDOW_LINES:
            chances, lines = self.line_chances(unit), list(_lines_of(unit))
            before = list(accumulate((chances.get(line, 0.0) for line in lines), initial=0.0))
            sums = [after - start for start, after in zip(before, before[WINDOW_LINES:], strict=False)]
            start = sums.index(max(sums))
            shown = lines[start : start + WINDOW_LINES]
            while len(shown) > 1 and not self.lines[shown[0]].strip():
                shown = shown[1:]
            return self.passage(unit, shown)
        at = self.units.index(unit)
        first = last = at
        while last + 1 < len(self.units) and self.units[last + 1].end - unit.start < WINDOW_LINES:
            last += 1
        while first and self.units[last].end - self.units[first - 1].start < WINDOW_LINES:
            first -= 1
        passage = self.passage(unit, list(range(self.units[first].start, self.units[last].end + 1)))
        named = [unit, *self.units[first : last + 1]]
        names = dict.fromkeys(name for one in named if one.kind != "section" for name in one.names[-1:])
        return replace(passage, symbols=tuple(names))

    def other_places(self, ranked: Sequence[RankedUnit], passages: Sequence[Passage]) -> tuple[str, ...]:
        """Return the line and the name of units that are not shown: of a class its members, else those with words."""
        shown = {number for passage in passages for number, _ in passage.numbered_lines}
        best = ranked[0].unit
        if best.kind == "class":
            units = [unit for unit in self.units if unit.names[: len(best.names)] == best.names]
        else:
            units = [one.unit for one in ranked if not self._terms.keys().isdisjoint(_lines_of(one.unit))]
        others = (unit for unit in units if shown.isdisjoint(range(unit.start + self.first, unit.end + self.first + 1)))
        return tuple(f"{unit.start + self.first} {unit.name}".strip() for unit in others)

    def passage(self, unit: Unit, lines: Sequence[int]) -> Passage:
        """Return lines of a unit as a passage, with a sign for the lines between them that are left out."""
        numbers, texts = [lines[0] + self.first], [self.lines[lines[0]]]
        for previous, line in pairwise(lines):
            if line > previous + 1:
                numbers.append(0)
                texts.append(f"… {line + self.first}")
            numbers.append(line + self.first)
            texts.append(self.lines[line])
        is_whole = 0 not in numbers and lines[0] <= unit.start and lines[-1] >= unit.end
        lacks_signature = unit.kind == "function" and lines[0] >= unit.body > unit.start
        is_section = unit.kind == "section"
        return Passage(
            numbers[0],
            numbers[-1],
            "\n".join(texts),
            () if is_section else unit.names[-1:],
            unit.names if is_section else unit.names[:-1],
            numbers=tuple(numbers) if 0 in numbers else (),
            signature=self.lines[unit.definition].strip() if lacks_signature else "",
            whole=None if is_whole else (unit.start + self.first, unit.end + self.first),
        )

    def joined(self, passages: Sequence[Passage]) -> list[Passage]:
        """Return passages, those without gaps joined to an earlier one that is next to them."""
        result = list[Passage]()
        for one in passages:
            passage, place = one, len(result)
            while (
                near := next((at for at, other in enumerate(result) if _is_next_to(passage, other)), None)
            ) is not None:
                passage, place = self._join(result.pop(near), passage), min(place, near)
            result.insert(place, passage)
        return result

    def _join(self, one: Passage, other: Passage) -> Passage:
        start, end = min(one.start_line, other.start_line), max(one.end_line, other.end_line)
        is_part = one.whole or other.whole
        return replace(
            one,
            start_line=start,
            end_line=end,
            text="\n".join(self.lines[start - self.first : end - self.first + 1]),
            symbols=tuple(dict.fromkeys((*one.symbols, *other.symbols))),
            signature=one.signature if start == one.start_line else "",
            whole=(min(start, is_part[0]), max(end, is_part[1])) if is_part else None,
        )


def _lines_of(unit: Unit) -> range:
    return range(unit.start, unit.end + 1)


def _units_of(
    document: StoredDocument, chunks: Sequence[StoredChunk], lines: Sequence[str], first: int
) -> Sequence[Unit]:
    """Return the units of some lines; those of files that were shown lately are remembered."""
    is_direct = document.id < 0  # its symbols are guessed
    key = (document.content_hash, is_direct, document.language, first, len(lines), len(chunks))
    units = _KNOWN_UNITS.get(key) if document.content_hash else None
    if units is None:
        symbols = [symbol for chunk in chunks for symbol in chunk.symbols]
        units = find_units(lines, symbols, document.language, first)
        with _KNOWN_UNITS_LOCK:
            while len(_KNOWN_UNITS) >= MAX_KNOWN_UNITS:
                del _KNOWN_UNITS[next(iter(_KNOWN_UNITS))]
            _KNOWN_UNITS[key] = units
    return units


def _is_next_to(one: Passage, other: Passage) -> bool:
    """Return whether two passages without gaps touch, or have only a few lines between them."""
    first, second = sorted((one, other), key=lambda passage: passage.start_line)
    return not one.numbers and not other.numbers and second.start_line - first.end_line - 1 <= MAX_GAP


def _whole_lines(data: bytes, chunk: StoredChunk) -> bytes:
    """Return the whole lines that a chunk is in."""
    first, last = max(0, chunk.start_byte - MAX_LINE_BYTES), min(len(data), chunk.end_byte + MAX_LINE_BYTES)
    start = max(first - 1, *(data.rfind(end, first, chunk.start_byte) for end in (b"\n", b"\r"))) + 1
    ends = [at for end in (b"\n", b"\r") if (at := data.find(end, max(start, chunk.end_byte - 1), last)) >= 0]
    return data[start : min(ends, default=last)]


def _terms_by_line(lines: Sequence[str], start: int, end: int, terms: frozenset[str]) -> dict[int, list[str]]:
    """Return the query terms in each line. The words of long terms are not analyzed, which would take four times as long."""
    searched = lines[start : end + 1]
    ends, text = list(accumulate([len(line) + 1 for line in searched])), "\n".join(searched)
    found: dict[int, list[str]] = {}
    lowered = text.lower()
    long_terms = sorted(term for term in terms if len(term) >= LONG_TERM) if len(lowered) == len(text) else []
    for term in long_terms:
        beginning = common_beginning(term)
        at = lowered.find(beginning)
        while at >= 0:
            line = bisect_right(ends, at)
            found.setdefault(start + line, []).append(term)
            at = lowered.find(beginning, ends[line])
    known: dict[str, list[str]] = {}
    for at, word in similar_words(text, terms.difference(long_terms)):
        matching = known.get(word)
        if matching is None:
            matching = known[word] = [term for term in terms_of_word(word) if term in terms]
        if matching:
            found.setdefault(start + bisect_right(ends, at), []).extend(matching)
    return found
