"""Units of a document: parts that can be read by themselves.

A unit of code is a function, the head of a class or a block of other lines; of Markdown, a section. They are found by the
definitions that were indexed, with their first and last lines, by indentation where the last lines are not known, and by
blank lines, so no grammar is needed when a query is answered.
"""

import re
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from math import log
from typing import Literal

from dowse.searching import ranking_constants
from dowse.searching.term_positions import terms_of_word
from dowse.text.markup_lines import MARKUP_LANGUAGES, find_markup_headings
from dowse.types import Kind, StoredDocument, Symbol

UnitKind = Literal["function", "class", "section", "block"]

MAX_BLOCK_LINES = 30
"""Lines outside of definitions are units of about this length, cut at blank lines."""
MAX_SIGNATURE_LINES = 12
LONG_FUNCTION_LINES = 110
"""The functions inside of a longer function are units of their own, as the methods of a class are."""
MAX_FRONT_MATTER = 100
MAX_UNITS = 10_000
"""Units of a document: half a million took 4 s, and a file of 2 MB can have as many."""

_BLANK = 1 << 30
"""The indentation of a blank line."""
_FUNCTIONS = frozenset({"function", "method", "macro"})
_PARTS = frozenset({"variable", "constant", "field"})
"""Kinds of definitions that are units only where they have several lines."""
_LEAD = re.compile(r"\s*(?:@|#\[|#(?!\s*(?:if|el|end|define|include))|//|/\*|\*|--\s|;;|\"\"\"$)")
"""A line that belongs to the definition below it: a decorator, an attribute, a comment."""
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--\s)")
_CONTINUED = re.compile(r"\s*(?:[)\]}{]|where\b|end\b|fi\b|done\b|esac\b|#\s*(?:if|el|end))")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_TITLE = re.compile(r" {0,3}[^\s#>|*+-]")
"""A line that a rule below it makes a heading."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKS = frozenset("#=-`~")
_SETEXT_LEVELS = {"=": 1, "-": 2}


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines of a document, numbered from 0, both ends included."""

    start: int
    end: int
    kind: UnitKind = "block"
    names: tuple[str, ...] = ()
    """The name of the definition or the heading of the section, after those around it."""
    body: int = 0
    """The first line after the signature or the heading; that of the unit if it has none."""
    definition: int = 0
    """The line with the name of the definition, below its comments and decorators; else the first line."""

    @property
    def name(self) -> str:
        """Its own name; empty for a block outside of all definitions."""
        return self.names[-1] if self.names else ""

    @property
    def size(self) -> int:
        """The number of its lines."""
        return self.end - self.start + 1


def has_sections(language: str, kind: Kind) -> bool:
    """Return whether a document is read by its sections. The markup that a project shows as code is not."""
    return language == "markdown" or (kind == "docs" and language in MARKUP_LANGUAGES)


def find_units(
    lines: Sequence[str], symbols: Iterable[Symbol], language: str, first_line: int = 1, kind: Kind = "code"
) -> list[Unit]:
    """Return the units of a text, in order; together they have all lines that are not blank. The last has what is too much.

    `first_line` is the number of the first of the lines in the document whose symbols are given.
    """
    if has_sections(language, kind):
        headings = _headings(lines) if language == "markdown" else find_markup_headings(lines, language)
        units = list(islice(_sections(lines, headings), MAX_UNITS))
    else:
        units = list(islice(_code_units(lines, symbols, first_line), MAX_UNITS))
    if len(units) == MAX_UNITS and units[-1].end + 1 < len(lines):
        units.append(Unit(units[-1].end + 1, len(lines) - 1))
    return units


# Code


@dataclass(frozen=True, slots=True)
class _Definition:
    line: int
    indentation: int
    name: str
    is_function: bool
    end: int
    """Its last line; -1 if it is not known."""

    def has(self, line: int, indentation: int) -> bool:
        """Return whether a later line is in it."""
        return line <= self.end if self.end >= 0 else indentation > self.indentation

    @property
    def has_units(self) -> bool:
        """Whether the definitions inside of it are units."""
        return not self.is_function or self.end - self.line >= LONG_FUNCTION_LINES


def _code_units(lines: Sequence[str], symbols: Iterable[Symbol], first_line: int) -> Iterator[Unit]:
    """Yield a unit for each function and each head of a class, and blocks for the lines between them."""
    indents = [len(line) - len(text) if (text := line.lstrip()) else _BLANK for line in lines]
    definitions = list(_definitions(lines, indents, symbols, first_line))
    starts = [_with_lead(lines, indents, definition) for definition in definitions]
    first = starts[0] if starts else len(lines)
    yield from _blocks(lines, 0, first - 1, ())
    around: list[_Definition] = []
    for at, definition in enumerate(definitions):
        while around and not around[-1].has(definition.line, definition.indentation):
            around.pop()
        names = (*(outer.name for outer in around), definition.name)
        following = starts[at + 1] if at + 1 < len(starts) else len(lines)
        if following <= starts[at]:  # two names on one line
            continue
        end = _last_line(lines, indents, definition, following) if definition.end < 0 else definition.end
        end = max(definition.line, min(end, following - 1))
        while end > definition.line and not lines[end].strip():
            end -= 1
        body = _signature_end(lines, definition.line, end) + 1
        kind: UnitKind = "function" if definition.is_function else "class"
        yield Unit(starts[at], end, kind, names, min(body, end), definition.line)
        if definition.has_units:
            around.append(definition)
        yield from _blocks(lines, end + 1, following - 1, names[:-1])


def _definitions(
    lines: Sequence[str], indents: Sequence[int], symbols: Iterable[Symbol], first_line: int
) -> Iterator[_Definition]:
    """Yield the definitions that are units, in order: those inside of a function belong to it, unless it is long."""
    current: _Definition | None = None
    long_end = -1
    for symbol in sorted({symbol.line: symbol for symbol in symbols}.values(), key=lambda symbol: symbol.line):
        line = symbol.line - first_line
        if not 0 <= line < len(lines):
            continue
        indentation = indents[line]
        if current and not current.has_units and current.has(line, indentation):
            continue
        is_function = symbol.kind in _FUNCTIONS
        if line <= long_end and not is_function:  # a variable of a long function
            continue
        end = min(symbol.end_line - first_line, len(lines) - 1) if symbol.end_line else -1
        has_body = line + 1 < len(lines) and indentation < indents[line + 1] < _BLANK  # more indented lines follow
        if symbol.kind in _PARTS and (end == line or not has_body):
            continue
        current = _Definition(line, indentation, symbol.name, is_function, end)
        if is_function and current.has_units:
            long_end = max(long_end, end)
        yield current


def _with_lead(lines: Sequence[str], indents: Sequence[int], definition: _Definition) -> int:
    """Return the first of the decorators and comments directly above a definition."""
    line = definition.line
    while line and indents[line - 1] == definition.indentation and _LEAD.match(lines[line - 1]):
        line -= 1
    return line


def _last_line(lines: Sequence[str], indents: Sequence[int], definition: _Definition, following: int) -> int:
    """Return the last line of a definition: all that follow are less indented, or begin something else."""
    last = definition.line
    for line in range(definition.line + 1, following):
        if definition.indentation < indents[line] < _BLANK or (
            indents[line] == definition.indentation and _CONTINUED.match(lines[line])
        ):
            last = line
        elif indents[line] != _BLANK and not _COMMENT.match(lines[line]):
            break
    return last


def _signature_end(lines: Sequence[str], line: int, end: int) -> int:
    """Return the last line of a signature, where all its brackets are closed."""
    depth = 0
    for at in range(line, min(end, line + MAX_SIGNATURE_LINES) + 1):
        text = lines[at]
        depth += sum(map(text.count, "([")) - sum(map(text.count, ")]"))
        if depth <= 0:
            return at
    return line


def _blocks(lines: Sequence[str], start: int, end: int, names: tuple[str, ...]) -> Iterator[Unit]:
    """Yield lines outside of definitions: whole paragraphs, as many as make a unit."""
    first = None
    for line in range(start, end + 2):
        is_blank = line > end or not lines[line].strip()
        if not is_blank and first is None:
            first = line
        elif is_blank and first is not None and (line > end or line - first >= MAX_BLOCK_LINES):
            last = next(at for at in range(line - 1, first - 1, -1) if lines[at].strip())
            yield Unit(first, last, "block", names, first, first)
            first = None


# Markdown and other markup


def _sections(lines: Sequence[str], headings: Iterable[tuple[int, int, int, str]]) -> Iterator[Unit]:
    """Yield a unit for each heading with the text below it, up to the next heading."""
    around: list[tuple[int, str]] = []
    start, body = 0, 0
    for line, length, level, title in chain(headings, [(len(lines), 0, 0, "")]):
        end = next((at for at in range(line - 1, start - 1, -1) if lines[at].strip()), None)
        if end is not None:
            names = tuple(name for _, name in around)
            yield Unit(start, end, "section", names, min(body, end), start)
        around = [*(outer for outer in around if outer[0] < level), (level, title)]
        start, body = line, line + length


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, int, str]]:
    """Yield the headings outside of code: the line, the number of lines, the level and the text of each."""
    fence, previous = "", ""
    first = _front_matter_end(lines)
    for line, text in enumerate(lines[first:], first):
        if text.lstrip(" ")[:1] not in _MARKS:
            previous = text
            continue
        if marks := _FENCE.match(text):
            if not fence:
                fence = marks[1]
            elif marks[1].startswith(fence):
                fence = ""
        elif not fence:
            if heading := _HEADING.match(text):
                yield line, 1, len(heading[1]), heading[2][:1] + heading[2][1:].rstrip(" \t#")
            elif (rule := _UNDERLINE.match(text)) and _TITLE.match(previous):
                yield line - 1, 2, _SETEXT_LEVELS[rule[1][0]], previous.strip()
        previous = text


def _front_matter_end(lines: Sequence[str]) -> int:
    """Return the number of lines of metadata above a text."""
    mark = lines[0].rstrip() if lines else ""
    ends = (at + 1 for at, line in enumerate(lines[1:MAX_FRONT_MATTER], 1) if line.rstrip() == mark)
    return next(ends, 0) if mark in ("---", "+++") else 0


MAX_KEPT_UNITS = 20_000
"""Units that are kept, those of 200 to 2,000 files and chunks: 9 MB; finding those of a reply takes 2 ms."""


class DocumentUnits:
    """Units in order, at least one."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self.units = units
        self.starts, self.ends = [unit.start for unit in units], [unit.end for unit in units]
        self.sizes = [unit.size for unit in units]
        self.average_size = sum(self.sizes) / len(units)
        length, kinds = ranking_constants.UNIT_LENGTH, ranking_constants.UNIT_KINDS
        self.scores = [length * log(size) + kinds[unit.kind] for size, unit in zip(self.sizes, units, strict=True)]
        """The part of the score of each unit that is the same for every query."""
        self.by_name: dict[str, list[int]] = {}
        for at, unit in enumerate(units):
            self.by_name.setdefault(unit.name, []).append(at)

    @cached_property
    def names_by_term(self) -> dict[str, list[str]]:
        """The names of units that have a term, for each term."""
        names: dict[str, list[str]] = {}
        for name in self.by_name:
            for term in set(terms_of_word(name)):
                names.setdefault(term, []).append(name)
        return names

    def named(self, name: str) -> list[int]:
        """Return the positions of the units with a name; if there is none, of those with it in other capitals."""
        if name in self.by_name:
            return self.by_name[name]
        return [at for other, places in self.by_name.items() if other.lower() == name.lower() for at in places]

    def at(self, line: int) -> int | None:
        """Return the position of the unit that has a line."""
        at = bisect_right(self.starts, line) - 1
        return at if at >= 0 and line <= self.ends[at] else None

    def within(self, start: int, end: int) -> "DocumentUnits":
        """Return the units that have some of the lines; those lines as a unit if there is none."""
        first, last = bisect_left(self.ends, start), bisect_right(self.starts, end)
        if first == 0 and last == len(self.units):
            return self
        return DocumentUnits(self.units[first:last] or [Unit(start, end)])


_KEPT: dict[tuple[object, ...], DocumentUnits] = {}
"""The units of documents that were shown lately. Any thread may add some, with the lock."""
_LOCK = threading.Lock()


def units_of(
    document: StoredDocument, read_symbols: Callable[[], Iterable[Symbol]], lines: Sequence[str], first: int
) -> DocumentUnits:
    """Return the units of some lines of a document, of which the first has this number."""
    is_kept = document.id > 0 and bool(document.content_hash)  # the names in other files are guessed for each query
    key = (document.content_hash, document.language, document.kind, first, len(lines))
    units = _KEPT.get(key) if is_kept else None
    if units is None:
        found = find_units(lines, read_symbols(), document.language, first, document.kind)
        units = DocumentUnits(found or [Unit(0, len(lines) - 1)])
        if is_kept and len(units.units) <= MAX_KEPT_UNITS:
            with _LOCK:
                _KEPT[key] = units
                count = sum(len(one.units) for one in _KEPT.values())
                while count > MAX_KEPT_UNITS:
                    count -= len(_KEPT.pop(next(iter(_KEPT))).units)
    return units
