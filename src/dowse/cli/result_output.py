"""Search results as text, with matches in colour, and notes about them."""

import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from dowse.cli.output import SafeText, escape
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.searching.exact_search import Occurrences
    from dowse.searching.search import SearchHit
    from dowse.types import Coverage

Spans = list[tuple[int, int]]

MAX_WIDTH = 300
"""Longer lines are cut; on a terminal, to its width."""
MIN_WIDTH = 40
_GUTTER_COLUMNS = 8
"""Columns of the line number. It equals a tab stop, so that tabs align as in the file."""
_COLOUR_SECONDS = 0.5
_NUMBERED_LINE = re.compile(r"( *\d+)( .*)?")


def definition_lines(text: str, terms: Mapping[str, float]) -> Iterator[str | tuple[str, ...]]:
    """Yield definitions as an assistant gets them; on a terminal with colours, and lines cut to its width."""
    from dowse.searching.passages import found_terms

    is_heading = True
    for line in text.split("\n") if text else ():
        if numbered := _NUMBERED_LINE.fullmatch(line):
            number, code = numbered.groups()
            width = _output_width() - len(number)
            shown = _format_line(code or "", lambda code: [word[:2] for word in found_terms(code, terms)], width)
            yield escape(number, dim=True), *shown
        elif is_heading:
            path, gap, name = line.partition("  ")
            yield escape(path, bold=True), gap, escape(name, fg="cyan")
        else:
            yield escape(line, dim=line.startswith("  "))
        is_heading = not line


def occurrence_lines(found: "Occurrences", query: str, *, is_pattern: bool) -> Iterator[tuple[str, ...]]:
    """Yield the occurrences, one per line, as path:line:column: text."""
    from dowse.searching.exact_search import exact_matcher, pattern_matcher

    find = pattern_matcher(query) if is_pattern else exact_matcher(query)
    deadline = time.monotonic() + _COLOUR_SECONDS

    def spans_in(line: str) -> Spans:
        try:
            return list(find(line, deadline))
        except TimeoutError:
            return []

    for occurrence in found.found:
        place = f":{occurrence.line}:{occurrence.column}: "
        width = _output_width() - len(occurrence.path) - len(place)
        line = _format_line(occurrence.text, spans_in, max(MIN_WIDTH, width))
        yield escape(occurrence.path, bold=True), place, *line, *format_flags(occurrence.flags)


def format_flags(flags: Iterable[str], lines: Iterable[int] = ()) -> list[SafeText]:
    """Return the content warnings of a hit, with their lines."""
    text = _flags_text(flags, lines)
    return [SafeText("  "), escape(f"[{text}]", fg="yellow")] if text else []


def _flags_text(flags: Iterable[str], lines: Iterable[int] = ()) -> str:
    kinds, places = sorted(set(flags)), ", ".join(map(str, sorted(set(lines))))
    where = f", line{'s' if ',' in places else ''} {places}" if places else ""
    return " and ".join(_FLAG_TEXTS.get(kind, kind) for kind in kinds) + where


_FLAG_TEXTS = {"instructions": "instructions to assistants", "hidden-characters": "hidden characters"}


def visible_range(text: str, match: tuple[int, int], width: int) -> tuple[int, int]:
    """Return the part of a line that fits into a width: its beginning if that contains the match, else around it."""
    if len(text) <= width and sum(map(_column_count, text)) <= width:
        return 0, len(text)
    start, last = match
    if last < width and sum(map(_column_count, text[:last])) < width:
        start = 0
    room = width // 3
    while start and (room := room - _column_count(text[start - 1])) >= 0:
        start -= 1
    end, room = start, width - 1 - (start > 0)
    while end < len(text) and (room := room - _column_count(text[end])) >= 0:
        end += 1
    return start, end


def _format_line(text: str, spans_in: Callable[[str], Spans], width: int) -> list[SafeText]:
    """Return a line cut to a width around its first match, with matches in colour."""
    safe = str(escape(text, keeps_tabs=True))
    if sys.stdout.isatty():
        safe = safe.expandtabs(_GUTTER_COLUMNS)
    spans = spans_in(safe)
    start, end = visible_range(safe, spans[0] if spans else (0, 0), width)
    pieces, done = [SafeText("…" if start else "")], start
    for first, last in ((max(span[0], start), min(span[1], end)) for span in spans):
        if first < last:
            pieces += [SafeText(safe[done:first]), escape(safe[first:last], keeps_tabs=True, fg="red", bold=True)]
            done = last
    return [*pieces, SafeText(safe[done:end]), SafeText("…" if end < len(safe) else "")]


def _output_width() -> int:
    return max(MIN_WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else MAX_WIDTH + _GUTTER_COLUMNS


def _column_count(character: str) -> int:
    """Return how many terminal columns a character takes."""
    return 0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1


def content_notes(hits: Iterable["SearchHit"]) -> list[str]:
    """Return what to say about hits whose text addresses an assistant or hides characters."""
    notes = []
    for hit in hits:
        flags = {flag for passage in hit.passages for flag in passage.flags}
        lines = {line for passage in hit.passages for line in passage.flagged_lines}
        notes += [f"{hit.path}: {_flags_text(flags, lines)}"] if flags else []
    return notes


def correction_notes(corrected: Mapping[str, str]) -> list[str]:
    """Return what to say about words of a query that were replaced."""
    if not corrected:
        return []
    return ["corrected: " + ", ".join(f"{known} instead of {word}" for word, known in corrected.items())]


def filters_note(count: int, noun: str) -> str:
    """Return what to say where the filters of a query left nothing."""
    return f'without +, -, "…" and filters there would be {pluralize(count, noun)}'


def coverage_notes(coverage: "Coverage") -> list[str]:
    """Return what to say about an answer that is not about all files as they are now."""
    from dowse.indexes.remaining_time import format_seconds_left

    left = format_seconds_left(coverage.seconds_left)
    if coverage.direct:
        searched = coverage.files + coverage.direct
        of = f" of {coverage.expected:,}" if searched < coverage.expected else ""
        by_words = f", {coverage.direct:,} of them" if coverage.files else ""
        note = f"searched {searched:,}{of} files{by_words} by words alone"
        if coverage.problem:
            return [f"dowse: warning: {note}, because they cannot be indexed. {coverage.problem}"]
        return [f"{note}; indexing continues in the background{left} (--wait waits for it)"]
    if coverage.is_indexing:
        of = f" of {coverage.expected:,}" if coverage.expected else ""
        background = f"indexing continues in the background{left} (--wait waits for it)"
        return [f"searched {coverage.files:,}{of} files; {background}"]
    if coverage.problem:
        count = pluralize(coverage.pending, "changed file") if coverage.pending else "some changes"
        return [f"dowse: warning: {count} not searched. {coverage.problem}"]
    if coverage.pending:
        return [f"{pluralize(coverage.pending, 'changed file')} not searched yet; indexing continues in the background"]
    return []
