"""Selection of passages: the lines of the files that were found that are worth their room.

A line is worth the probability that it is meant, for each character that it takes: that of its file, of its unit in the
file, and of the line in the unit. The best lines of all files are shown, up to a number of characters.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop
from typing import NamedTuple

from dowse.searching.document_lines import MAX_GAP, DocumentLines, RankedUnit
from dowse.searching.passages import Passage
from dowse.searching.units import Unit

MAX_UNITS = 5
"""Maximum units of a file that are shown."""
KEYS_CHARACTERS, PASSAGE_CHARACTERS, LINE_CHARACTERS = 150, 50, 6
"""The characters that a reply takes for a hit, a further passage and a line, beside the text."""
PIECE_REACH, FIRST_REACH = 1, 3
"""Lines around a chosen one that are shown with it; and around the best line of a file."""
MIN_WEIGHT = 0.05
"""A file of less weight is shown with one line."""
MIN_CHANCE = 0.005
"""A unit that is less likely meant is not shown, such as the methods beside a class whose name is the query."""
SURE_WEIGHT, SURE_LINES = 0.5, 25
"""The best unit of a file of at least this weight is shown whole, up to so many lines."""
LIKELY_CHANCE = 0.15
"""Another unit of such a file that is at least this likely meant is shown with its signature and its best lines, however
long it is: the chance of a line of a long function is small."""
CLASS_SHARE = 0.5
"""The head of a class is shown beside a unit that is more likely meant if its chance is at least this share. Attributes
beside the method that answers are as good as never meant: with 0 to 0.5, issues show the same."""
WHOLE_SHARE = 0.7
"""A unit of which at least this share is chosen is shown whole."""
_has_word = re.compile(r"\w").search


@dataclass(frozen=True, slots=True)
class FileLines:
    """The lines of a file that was found, with its units, and its weight among the files."""

    document: DocumentLines
    units: Sequence[RankedUnit]
    weight: float
    path_length: int = 0


@dataclass(slots=True)
class _Candidate:
    """A unit that may be shown, with the chance of each of its lines, and the lines that were chosen."""

    file: int
    unit: Unit
    chance: float
    lines: Mapping[int, float]
    chosen: set[int] = field(default_factory=set)
    shown: set[int] = field(default_factory=set)


class ChosenPassages(NamedTuple):
    """The passages of a file: those of its hit, at least one, and further ones."""

    passages: list[Passage]
    further: list[Passage]


def choose_passages(
    files: Sequence[FileLines], characters: int, further_characters: int = 0, *, are_whole: bool = False
) -> list[ChosenPassages]:
    """Return the passages of each file; together they take about so many characters.

    Whole units are chosen instead of lines if they are asked for.
    """
    candidates = [_candidates(number, file) for number, file in enumerate(files)]
    total = sum(file.weight for file in files) or 1.0
    queue, ordered = list[tuple[float, int, int]](), list[_Candidate]()
    for file, units in zip(files, candidates, strict=True):
        lines = file.document.lines
        for rank, one in enumerate(units):
            if rank == 0:  # every file shows its best line
                best = max(one.lines, key=one.lines.__getitem__)
                if file.weight >= SURE_WEIGHT and one.unit.size <= SURE_LINES and one.unit.kind != "block":
                    one.chosen |= set(range(one.unit.start, one.unit.end + 1))
                one.chosen |= _around(one, best, FIRST_REACH if file.weight >= MIN_WEIGHT else 0)
                characters -= KEYS_CHARACTERS + file.path_length + sum(len(lines[line]) for line in one.chosen)
            elif file.weight >= SURE_WEIGHT and one.chance >= LIKELY_CHANCE:
                best = max(one.lines, key=one.lines.__getitem__)
                one.chosen |= _around(one, best, PIECE_REACH).union(file.document.signature(one.unit))
                characters -= PASSAGE_CHARACTERS + sum(len(lines[line]) + LINE_CHARACTERS for line in one.chosen)
            chance, number = -file.weight / total * one.chance, len(ordered)
            ordered.append(one)
            queue += [
                (chance * value / (len(lines[line]) + LINE_CHARACTERS), number, line)
                for line, value in one.lines.items()
            ]
    first: list[list[Passage]] | None = None
    heapify(queue)
    while queue:
        _, number, line = heappop(queue)
        one = ordered[number]
        if characters <= 0:
            if first is not None or not further_characters:
                break
            first = _take(files, candidates)
            characters = further_characters
        texts = files[one.file].document.lines
        new = (
            set(range(one.unit.start, one.unit.end + 1)) if are_whole else _around(one, line, PIECE_REACH)
        ) - one.chosen
        if not new:
            continue
        if not one.chosen:
            new |= set(files[one.file].document.signature(one.unit))
            characters -= PASSAGE_CHARACTERS
        characters -= sum(len(texts[at]) + LINE_CHARACTERS for at in new)
        one.chosen |= new
    shown = first or _take(files, candidates)
    return [ChosenPassages(*both) for both in zip(shown, _take(files, candidates), strict=True)]


def _take(files: Sequence[FileLines], candidates: Sequence[Sequence[_Candidate]]) -> list[list[Passage]]:
    """Return the passages of each file that were chosen and not returned before."""
    return [
        file.document.joined(list(_passages(file.document, units)))
        for file, units in zip(files, candidates, strict=True)
    ]


def _around(one: _Candidate, line: int, reach: int) -> set[int]:
    """Return a line and those around it that are worth showing."""
    return {near for near in range(line - reach, line + reach + 1) if near in one.lines}


def _candidates(number: int, file: FileLines) -> list[_Candidate]:
    first, *others = file.units[:MAX_UNITS]
    least = {"class": max(MIN_CHANCE, CLASS_SHARE * first.chance)}
    shown = [first, *(one for one in others if one.is_found and one.chance >= least.get(one.unit.kind, MIN_CHANCE))]
    return [_Candidate(number, one.unit, one.chance, file.document.line_chances(one.unit)) for one in shown]


def _passages(document: DocumentLines, units: Sequence[_Candidate]) -> Iterator[Passage]:
    """Yield the chosen lines that were not shown: first the best ones without gaps, then those of each unit.

    Closing brackets are shown with the lines that they close, and not by themselves.
    """
    for rank, one in enumerate(units):
        if one.shown and len(one.chosen) == len(one.shown):
            continue
        if len(one.chosen) >= min(WHOLE_SHARE * one.unit.size, one.unit.size - MAX_GAP):
            one.chosen.update(range(one.unit.start, one.unit.end + 1))
        runs = list(_runs(one.chosen - one.shown, one.shown))
        runs = [run for run in runs if any(_has_word(document.lines[line]) for line in run)] or runs[:1]
        if rank == 0 and not one.shown:
            best = max(runs, key=lambda run: sum(one.lines.get(line, 0.0) for line in run))
            yield document.passage(one.unit, best)
            runs.remove(best)
        if runs:
            yield document.passage(one.unit, [line for run in runs for line in run])
        one.shown |= one.chosen


def _runs(lines: Collection[int], shown: Collection[int]) -> Iterator[list[int]]:
    """Yield lines as runs without gaps; small gaps are filled, unless their lines were shown before."""
    run = list[int]()
    for line in sorted(lines):
        if run and (line > run[-1] + MAX_GAP + 1 or any(at in shown for at in range(run[-1] + 1, line))):
            yield run
            run = []
        run += range(run[-1] + 1 if run else line, line + 1)
    if run:
        yield run
