"""The lines of a document: the unit that a query means, and the lines of a unit that are worth showing."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, pairwise
from math import fsum

from dowse.searching import ranking_constants
from dowse.searching.passages import Passage
from dowse.searching.term_positions import WantedLines, terms_by_line
from dowse.searching.units import Unit, has_sections, units_of
from dowse.types import StoredChunk, StoredDocument, Symbol

MAX_LINE_BYTES = 1000
"""Maximum bytes of a line that are read beyond a chunk; a file of 900 KB in one line took a second."""
SHOWN_SIGNATURE_LINES = 3
"""Lines of a signature that are shown beside other lines of its unit."""
WINDOW_LINES = 10
"""Lines of a passage of usual length. A shorter unit is shown with those next to it, up to so many lines."""
REACH = 50_000
"""Bytes or characters before and after a chunk that are looked at if its section is longer. A section of a million lines
took 6 s."""

_IMPORT = re.compile(r"\s*(?:import|from|if (?:typing\.)?TYPE_CHECKING|#\s*include|use|using|package|require|extern)\b")
_BOILERPLATE = re.compile(rf"{_IMPORT.pattern}|#|//|/\*|\*|--\s|[)}}\]]")
_OPEN_BRACKET = re.compile(r"[({]")
_NEAR_LINES = [
    (step, 1 - abs(step) / (ranking_constants.LINE_REACH + 1))
    for step in range(-ranking_constants.LINE_REACH, ranking_constants.LINE_REACH + 1)
]
"""How much a match counts for the lines around it."""
_QUOTES = re.compile(r"\s*[rRuUbB]{0,2}(\"{3}|'{3})")


class DocumentLines:
    """The lines of a document, or of one chunk of it, with the units and the terms of a query in them."""

    def __init__(
        self,
        document: StoredDocument,
        data: bytes,
        read_symbols: Callable[[], Iterable[Symbol]],
        wanted: WantedLines,
        within: StoredChunk | None = None,
    ) -> None:
        """Read the lines; `read_symbols` returns the names that they define, which is seldom needed."""
        self._path, self.language, self.wanted = document.path, document.language, wanted
        # A section has the headings above it.
        has_headings = has_sections(document.language, document.kind)
        is_slice = within is not None and not (has_headings and _has_short_lines(data, within))
        self._data = _whole_lines(data, within) if within and is_slice else data
        if b"\r" in self._data:
            self._data = self._data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self.lines = self._data.decode("utf-8", "replace").split("\n")
        if len(self.lines) > 1 and not self.lines[-1]:  # a line end at the end begins no line
            self.lines.pop()
        self.first = within.start_line if within and is_slice else 1
        """The number of the first line. Lines are counted from 0 below."""
        last = len(self.lines) - 1
        start, end = 0, last
        if within:
            start, end = (min(line - self.first, last) for line in (within.start_line, within.end_line))
        self._units = units_of(document, read_symbols, self.lines, self.first).within(start, end)
        self.units = self._units.units
        self._looked_at = self._around(start, end) if within and not is_slice else range(last + 1)

    def _around(self, first: int, last: int) -> range:
        """Return lines and those before and after them, as many as are looked at."""
        room = REACH
        while first and (room := room - len(self.lines[first - 1])) > 0:
            first, room = first - 1, room - 1
        room = REACH
        while last + 1 < len(self.lines) and (room := room - len(self.lines[last + 1])) > 0:
            last, room = last + 1, room - 1
        return range(first, last + 1)

    @staticmethod
    def find_terms(documents: Sequence["DocumentLines"]) -> None:
        """Find the terms of their query in documents; in all at once, which takes a third of the time."""
        if not documents:
            return
        wanted = documents[0].wanted
        terms = frozenset(wanted.terms) | frozenset(wanted.title_terms)
        for one, found in zip(documents, terms_by_line([one._searched() for one in documents], terms), strict=True):
            start, first, last = one._looked_at.start, one.units[0].start, one.units[-1].end
            one._terms = {start + line: some for line, some in found.items() if first <= start + line <= last}
        others = [one for one in documents if not one._terms]
        if wanted.terms is not wanted.all_terms:
            for one in others:
                one.wanted = replace(wanted, terms=wanted.all_terms)
            DocumentLines.find_terms(others)

    def _searched(self) -> bytes:
        """Return the text of the lines that are looked at."""
        if len(self._looked_at) == len(self.lines):
            return self._data
        return "\n".join(self.lines[self._looked_at.start : self._looked_at.stop]).encode()

    def _lines_of(self, unit: Unit) -> range:
        return range(max(unit.start, self._looked_at.start), min(unit.end + 1, self._looked_at.stop))

    @cached_property
    def _terms(self) -> dict[int, list[str]]:
        """The terms of the query in each line."""
        self.find_terms([self])
        return self._terms

    @cached_property
    def _weights(self) -> dict[int, float]:
        terms, title_terms = self.wanted.terms, self.wanted.title_terms
        weights = {term: terms.get(term, 0.0) + title_terms.get(term, 0.0) for term in (*terms, *title_terms)}
        return {line: sum([weights[term] for term in found]) for line, found in self._terms.items()}

    def scored_text(self, unit: Unit, characters: int) -> str:
        """Return the text of a unit that is scored: the path, and so many characters."""
        text = "\n".join(self.lines[unit.start : min(unit.end + 1, unit.start + characters)])
        return f"{self._path}\n{text[:characters]}"

    def best_unit(self, chunk_scores: Mapping[tuple[int, int], float]) -> Unit:
        """Return the unit that is most likely meant: of those with words of the query or in the best chunk, else of all.

        They are ranked by their words, their names, their kind, their length, and the scores of their chunks, which are
        given by their first and last line.
        """
        by_words, by_chunk = self._word_scores(), self.chunk_shares(chunk_scores)
        scores = list(self._units.scores)
        for at, score in by_words.items():
            scores[at] += score
        for at, share in by_chunk.items():
            scores[at] += ranking_constants.UNIT_CHUNK * share
        for name in self.wanted.words & self._units.by_name.keys():
            for at in self._units.by_name[name]:
                scores[at] += ranking_constants.UNIT_NAMED
        for name in self.wanted.symbols:
            for at in self._units.named(name):
                scores[at] += ranking_constants.UNIT_SYMBOL
        for name, share in self._named_shares().items():
            for at in self._units.by_name[name]:
                scores[at] += ranking_constants.UNIT_NAME_TERMS * share
        for at in self.framed_units():
            scores[at] += ranking_constants.UNIT_FRAME
        found = {at for at in (*by_words, *by_chunk) if by_words.get(at) or by_chunk.get(at) == 1.0}
        found -= {at for at in found if self.units[at].kind == "block" and self.is_boilerplate(at)}
        return self.units[min(found or range(len(scores)), key=lambda at: (-scores[at], at))]

    def _named_shares(self) -> dict[str, float]:
        """Return the names of units that have terms of a typed query, each with the share of the query that it has."""
        terms, total = self.wanted.terms, sum(self.wanted.terms.values())
        if self.wanted.title_terms or not total:
            return {}
        found = dict[str, list[float]]()
        for term, rarity in terms.items():
            for name in self._units.names_by_term.get(term, ()):
                found.setdefault(name, []).append(rarity)
        return {name: fsum(rarities) / total for name, rarities in found.items()}

    def framed_units(self) -> set[int]:
        """Return the units with a line that a traceback names."""
        named = [line - self.first for frame in self.wanted.frames if (line := frame.line_in(self._path))]
        return {at for line in named if (at := self._units.at(line)) is not None}

    def _word_scores(self) -> dict[int, float]:
        """Return the weight of the terms in each unit, from 0 to 2; those of a title count as much as all others."""
        counts = self.term_counts()
        totals = dict.fromkeys(counts, 0.0)
        weightings = [self.wanted.terms, self.wanted.title_terms] if self.wanted.title_terms else [self.wanted.terms]
        for weights in weightings:
            scores = self.weights_of(counts, weights)
            highest = max(scores, default=0.0) or 1.0
            for at, score in zip(counts, scores, strict=True):
                totals[at] += score / highest * (2 / len(weightings))
        return totals

    def term_counts(self) -> dict[int, dict[str, int]]:
        """Return how often each unit has each term."""
        counts, starts, ends = dict[int, dict[str, int]](), self._units.starts, self._units.ends
        for line, terms in self._terms.items():
            at = bisect_right(starts, line) - 1
            if at >= 0 and line <= ends[at]:
                of_unit = counts.setdefault(at, {})
                for term in terms:
                    of_unit[term] = of_unit.get(term, 0) + 1
        return counts

    def count_terms(self, lines: Iterable[int]) -> dict[str, int]:
        """Return how often some lines have each term."""
        return Counter(term for line in lines for term in self._terms.get(line, ()))

    def weights_of(self, counts: Mapping[int, Mapping[str, int]], weights: Mapping[str, float]) -> list[float]:
        """Return the weight of the terms in each of the units that are counted; in a longer unit a term counts less."""
        share = ranking_constants.UNIT_LENGTH_SHARE
        saturations = {
            at: 1.2 * (1 - share + share * self._units.sizes[at] / self._units.average_size) for at in counts
        }
        return [
            sum([weights.get(term, 0.0) * count / (count + saturations[at]) for term, count in found.items()])
            for at, found in counts.items()
        ]

    def chunk_shares(self, chunk_scores: Mapping[tuple[int, int], float]) -> dict[int, float]:
        """Return for units in chunks with a score that of the best one, as a share of the highest."""
        highest = max(chunk_scores.values(), default=0.0) or 1.0
        scores, starts, ends = dict[int, float](), self._units.starts, self._units.ends
        for (start_line, end_line), score in chunk_scores.items():
            first, last = start_line - self.first, end_line - self.first
            at = max(0, bisect_right(starts, first) - 1)
            while score and at < len(starts) and starts[at] <= last:
                if ends[at] >= first:
                    scores[at] = max(scores.get(at, 0.0), score / highest)
                at += 1
        return scores

    def unit_at(self, line: int) -> int | None:
        """Return the position of the unit that has a line."""
        return self._units.at(line)

    def line_chances(self, unit: Unit) -> dict[int, float]:
        """Return the lines of a unit that are worth showing, each with the chance that it is the one that is meant.

        Imports and descriptions of functions are not, unless words of the query are in nothing else.
        """
        lines = self._worth_showing(unit)
        near = dict.fromkeys(lines, 0.0)
        for line in self._weights.keys() & near.keys():
            weight = self._weights[line]
            for step, share in _NEAR_LINES:
                if line + step in near:
                    near[line + step] += weight * share
        base, values = ranking_constants.BASE_CHANCE, near.values()
        highest = max(values, default=0.0) or 1.0
        total = base * len(near) + sum(values) / highest
        first, share = base / total, 1 / (highest * total)
        return {line: first + value * share for line, value in near.items()}

    def _worth_showing(self, unit: Unit) -> list[int]:
        filled = [line for line in self._lines_of(unit) if self.lines[line].strip()] or [unit.start]
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
        for line in self._lines_of(unit):
            text = self.lines[line]
            if closing or _IMPORT.match(text):
                found.add(line)
                opening = _OPEN_BRACKET.search(text, max(text.rfind(")"), text.rfind("}")) + 1)
                closing = (
                    {"(": ")", "{": "}"}[opening[0]] if opening else "" if closing and closing in text else closing
                )
        return found

    def is_boilerplate(self, at: int) -> bool:
        """Return whether a block has nothing but imports and comments, such as a licence."""
        lines = self.lines[self.units[at].start : self.units[at].end + 1]
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

    def first_line(self, unit: Unit) -> Passage:
        """Return the first line of a definition or section, or the best line of others."""
        if unit.kind != "block" and (signature := self.signature(unit)):
            return self.passage(unit, signature[:1])
        chances = self.line_chances(unit)
        return self.passage(unit, [max(chances, key=chances.__getitem__)])

    def excerpt(self, unit: Unit, most: int) -> Passage:
        """Return the lines of a unit that matter, at most so many and without gaps; a function that fits whole and alone."""
        is_whole = unit.kind == "function" and unit.size <= most
        return self.passage(unit, range(unit.start, unit.end + 1)) if is_whole else self.window(unit, most)

    def window(self, unit: Unit, most: int = WINDOW_LINES) -> Passage:
        """Return the lines of a unit that matter, at most so many and without gaps; a short unit with those next to it."""
        if unit.size > most:
            shown = self.stretch(unit, most)
            while len(shown) > 1 and not self.lines[shown[0]].strip():
                shown = shown[1:]
            return self.passage(unit, shown)
        first = last = bisect_right(self._units.starts, unit.start) - 1
        while last + 1 < len(self.units) and self.units[last + 1].end - unit.start < WINDOW_LINES:
            last += 1
        while first and self.units[last].end - self.units[first - 1].start < WINDOW_LINES:
            first -= 1
        named = [unit, *self.units[first : last + 1]]
        names = dict.fromkeys(name for one in named if one.kind != "section" for name in one.names[-1:])
        return self.passage(unit, range(self.units[first].start, self.units[last].end + 1), tuple(names))

    def stretch(self, unit: Unit, length: int) -> list[int]:
        """Return the lines of a long unit, so many without gaps, that are most likely meant; the first of equal ones."""
        chances, lines = self.line_chances(unit), list(self._lines_of(unit))
        if len(lines) <= length:  # the others are too far away, as lines are long
            return lines
        before = list(accumulate([chances.get(line, 0.0) for line in lines], initial=0.0))
        # Rounded, so that the first of equal stretches is chosen, whatever the last digit of a sum is on this machine.
        sums = [round(after - start, 9) for start, after in zip(before, before[length:], strict=False)]
        start = sums.index(max(sums))
        return lines[start : start + length]

    def passage(self, unit: Unit, lines: Sequence[int], symbols: tuple[str, ...] | None = None) -> Passage:
        """Return lines of a unit as a passage, with a sign for the lines between them that are left out.

        It has the name of the unit, or the given ones.
        """
        numbers, texts = [lines[0] + self.first], [self.lines[lines[0]]]
        for previous, line in pairwise(lines):
            if line > previous + 1:
                numbers.append(0)
                texts.append(f"… {line + self.first}")
            numbers.append(line + self.first)
            texts.append(self.lines[line])
        if symbols is None:
            symbols = () if unit.kind == "section" else unit.names[-1:]
        is_whole = 0 not in numbers and lines[0] <= unit.start and lines[-1] >= unit.end
        lacks_signature = unit.kind == "function" and lines[0] >= unit.body > unit.start
        is_section = unit.kind == "section"
        return Passage(
            numbers[0],
            numbers[-1],
            "\n".join(texts),
            symbols,
            unit.names if is_section else unit.names[:-1],
            numbers=tuple(numbers) if 0 in numbers else (),
            signature=self.lines[unit.definition].strip() if lacks_signature else "",
            whole=None if is_whole else (unit.start + self.first, unit.end + self.first),
        )


def _has_short_lines(data: bytes, chunk: StoredChunk) -> bool:
    """Return whether the lines that a chunk is in end near it."""
    first, last = chunk.start_byte - REACH, chunk.end_byte + REACH
    is_begun = first <= 0 or data.rfind(b"\n", first, chunk.start_byte) >= 0
    return is_begun and (last >= len(data) or data.find(b"\n", chunk.end_byte, last) >= 0)


def _whole_lines(data: bytes, chunk: StoredChunk) -> bytes:
    """Return the whole lines that a chunk is in."""
    first, last = max(0, chunk.start_byte - MAX_LINE_BYTES), min(len(data), chunk.end_byte + MAX_LINE_BYTES)
    start = max(first - 1, *(data.rfind(end, first, chunk.start_byte) for end in (b"\n", b"\r"))) + 1
    ends = [at for end in (b"\n", b"\r") if (at := data.find(end, max(start, chunk.end_byte - 1), last)) >= 0]
    return data[start : min(ends, default=last)]
