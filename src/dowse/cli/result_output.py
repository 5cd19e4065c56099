"""Hits as a person reads them: where, what, how good, and the lines with what was asked for in colour."""

import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from dowse.cli.output import SafeText, show, shown

if TYPE_CHECKING:
    from dowse.searching.exact_search import Occurrences
    from dowse.searching.passages import Passage
    from dowse.searching.search import Answer, SearchHit

Spans = list[tuple[int, int]]

MAX_WIDTH = 300
"""Of a longer line only a part is shown; in a terminal, what fits into its width."""
MIN_WIDTH = 40
_GUTTER = 8
"""Columns of the line number; also a tab stop, so that tabs come out as in the file."""
_COLOUR_SECONDS = 0.5
_LINE_END = re.compile(r"\r\n|\n|\r")


def show_hits(answer: "Answer") -> None:
    """Print the hits, a blank line between them."""
    from dowse.searching.passages import matches_in

    for number, hit in enumerate(answer.hits):
        if number:
            show()
        show(*_heading(hit))
        for count, passage in enumerate(hit.passages):
            if count:
                show(shown("     …", dim=True))
            _show_passage(passage, lambda line: matches_in(line, answer.terms))


def show_occurrences(found: "Occurrences", query: str, *, is_pattern: bool) -> None:
    """Print the occurrences, one line each, as compilers do."""
    from dowse.searching.exact_search import exact_text, pattern

    find = pattern(query) if is_pattern else exact_text(query)
    deadline = time.monotonic() + _COLOUR_SECONDS

    def spans_in(line: str) -> Spans:
        try:
            return list(find(line, deadline))
        except TimeoutError:
            return []

    for one in found.found:
        place = f":{one.line}:{one.column}: "
        width = _width() - len(one.path) - len(place)
        line = _line(one.text, spans_in, max(MIN_WIDTH, width))
        show(shown(one.path, bold=True), place, *line, *flagged(one.flags))


def flagged(flags: Iterable[str], lines: Iterable[int] = ()) -> list[SafeText]:
    """What a hit is to be read with care for."""
    kinds, places = sorted(set(flags)), ", ".join(map(str, sorted(set(lines))))
    said = " and ".join(_FLAGS.get(kind, kind) for kind in kinds)
    where = f", line{'s' if ',' in places else ''} {places}" if places else ""
    return [SafeText("  "), shown(f"[{said}{where}]", fg="yellow")] if kinds else []


_FLAGS = {"instructions": "speaks to assistants", "hidden-characters": "has hidden characters"}


def window(text: str, match: tuple[int, int], width: int) -> tuple[int, int]:
    """Which part of a line fits into a width: its beginning where the match is in it, else what is around the match."""
    if len(text) <= width and sum(map(_columns, text)) <= width:
        return 0, len(text)
    start, last = match
    if last < width and sum(map(_columns, text[:last])) < width:
        start = 0
    room = width // 3
    while start and (room := room - _columns(text[start - 1])) >= 0:
        start -= 1
    end, room = start, width - 1 - (start > 0)
    while end < len(text) and (room := room - _columns(text[end])) >= 0:
        end += 1
    return start, end


def _heading(hit: "SearchHit") -> list[str]:
    parts: list[str] = [shown(hit.path, bold=True)]
    if hit.passages:
        first = hit.passages[0]
        last = first.start_line + len(_lines_of(first)) - 1
        parts.append(f":{first.start_line}" + (f"-{last}" if last > first.start_line else ""))
        names = (*first.headings, *first.symbols[:1])
        if names:
            parts += ["  ", shown((" > " if hit.kind == "docs" else ".").join(names), fg="cyan")]
    lines = [line for passage in hit.passages for line in passage.flagged_lines]
    return [*parts, "  ", shown(f"({hit.relevance:.2f})", dim=True), *flagged(_flags(hit), lines)]


def _flags(hit: "SearchHit") -> list[str]:
    return [flag for passage in hit.passages for flag in passage.flags]


def _show_passage(passage: "Passage", spans_in: Callable[[str], Spans]) -> None:
    for number, line in enumerate(_lines_of(passage), passage.start_line):
        gutter = shown(f"{number:>6}", dim=True)
        if line.strip():
            show(gutter, "  ", *_line(line, spans_in, _width() - _GUTTER))
        else:
            show(gutter)


def _lines_of(passage: "Passage") -> list[str]:
    """The lines of a passage, without blank ones at its end."""
    return _LINE_END.split(passage.text.rstrip())


def _line(text: str, spans_in: Callable[[str], Spans], width: int) -> list[SafeText]:
    """A line, cut to a width around what was found in it, which is in colour."""
    safe = str(shown(text, keeps_tabs=True))
    if sys.stdout.isatty():
        safe = safe.expandtabs(_GUTTER)
    spans = spans_in(safe)
    start, end = window(safe, spans[0] if spans else (0, 0), width)
    pieces, done = [SafeText("…" if start else "")], start
    for first, last in ((max(span[0], start), min(span[1], end)) for span in spans):
        if first < last:
            pieces += [SafeText(safe[done:first]), shown(safe[first:last], keeps_tabs=True, fg="red", bold=True)]
            done = last
    return [*pieces, SafeText(safe[done:end]), SafeText("…" if end < len(safe) else "")]


def _width() -> int:
    return max(MIN_WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else MAX_WIDTH + _GUTTER


def _columns(character: str) -> int:
    """How many columns of a terminal a character takes."""
    return 0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1
