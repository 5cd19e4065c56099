"""Definitions as text: each whole and once, with line numbers, its callers and its constants; others by their first line."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from dowse.searching.passages import Passage, first_match
from dowse.searching.references.definition_context import DefinitionContext
from dowse.searching.references.reference_lines import Place
from dowse.searching.search import SHOWN_COPIES
from dowse.text.excerpts import cut_line
from dowse.visible_text import pluralize, shown_name

ShowPath = Callable[[str], str]
MAX_LINE_CHARACTERS = 300
"""A longer line is cut around its first match."""
SIGNATURE_CHARACTERS = 110


class FoundDefinition(NamedTuple):
    """A definition of a file that answers, in the order of all."""

    path: str
    passage: Passage
    context: DefinitionContext = DefinitionContext()
    same_in: tuple[str, ...] = ()
    """Other files with the same definition."""
    address: str = ""
    """The URL of a page."""


def definitions_text(
    whole: Sequence[FoundDefinition],
    others: Sequence[FoundDefinition],
    terms: Mapping[str, float],
    texts: Sequence[str] = (),
) -> str:
    """Return definitions as text, best first, then texts that are quoted, then other places by their first line."""
    shown = {name for one in whole for name in one.passage.symbols}
    parts = [_definition(one, terms, shown) for one in whole]
    if texts:
        parts.append(
            "\n".join(["Texts with these words, and the code that uses their keys:", *(f"  {one}" for one in texts)])
        )
    if others:
        parts.append("\n".join(["Other places:" if whole else "Places:", *_other_places(others)]))
    return "\n\n".join(parts)


def line_range(start: int, end: int) -> str:
    """Return the first and last line of a place, or its only line."""
    return f"{start}-{end}" if end > start else str(start)


def numbered(lines: Iterable[tuple[int, str]], terms: Mapping[str, float] | None = None) -> str:
    """Return lines with their numbers; a line with the number 0 stands for others."""
    rows = list(lines)
    width = len(str(max((number for number, _ in rows), default=0)))
    return "\n".join(
        f"{number:>{width}} {_cut(line, terms)}".rstrip() if number else f"{'…':>{width}}" for number, line in rows
    )


def _cut(line: str, terms: Mapping[str, float] | None) -> str:
    if len(line) <= MAX_LINE_CHARACTERS:
        return line
    return cut_line(line, MAX_LINE_CHARACTERS, lambda text: first_match(text, terms or {}))


def _definition(one: FoundDefinition, terms: Mapping[str, float], shown_names: Collection[str]) -> str:
    passage = one.passage
    start, end = passage.whole or (passage.start_line, passage.end_line)
    lines = [f"{one.path}:{line_range(start, end)}  {shown_name(passage.name)}".rstrip()]
    if one.address:
        lines.append(f"  at {one.address}")
    if one.same_in:
        more = len(one.same_in) - SHOWN_COPIES
        listed = ", ".join(one.same_in[:SHOWN_COPIES])
        lines.append(f"  the same in {listed}" + (f" and {pluralize(more, 'more file')}" if more > 0 else ""))
    lines.append(numbered(passage.numbered_lines, terms))
    if passage.whole:
        shown = [number for number, _ in passage.numbered_lines if number]
        lines.append(f"  {len(shown)} of {end - start + 1} lines; read {one.path}:{start}-{end} for all")
    return "\n".join([*lines, *context_lines(one.context, one.path, shown_names)])


def context_lines(context: DefinitionContext, path: str, hidden: Collection[str] = ()) -> list[str]:
    """Return the context of a definition of a file, a line for each fact; calls of hidden names are left out."""
    lines = []
    more = context.caller_count - len(context.callers)
    callers = [_caller(place, path) for place in context.callers] + ([f"{more} more"] if more else [])
    callers += [pluralize(context.test_count, "test")] if context.test_count else []
    if callers:
        lines.append(f"  called by {', '.join(callers)}")
    if context.overrides:
        more = context.override_count - len(context.overrides)
        places = [f"{place.path}:{place.line} {place.within}" for place in context.overrides]
        lines.append(f"  overridden in {', '.join(places + ([f'{more} more'] if more else []))}")
    if callees := [f"{name} {_short(place, path)}" for name, place in context.callees if name not in hidden]:
        lines.append(f"  calls {', '.join(callees)}")
    lines += [f"  uses {place.text}  ({place.path}:{place.line})" for place in context.constants]
    return lines


def _caller(place: Place, path: str) -> str:
    return f"{_short(f'{place.path}:{place.line}', path)} {place.within}".rstrip()


def _short(place: str, path: str) -> str:
    """Return a place without its path, if that is the path of the definition it is beside."""
    return place.removeprefix(path) if place.startswith(f"{path}:") else place


def _other_places(others: Sequence[FoundDefinition]) -> Iterable[str]:
    """Yield the first line of definitions, under the path of their file."""
    order = {path: at for at, path in reversed(list(enumerate(one.path for one in others)))}
    for path, found in groupby(sorted(others, key=lambda one: order[one.path]), lambda one: one.path):
        yield path
        for one in sorted(found, key=lambda one: one.passage.start_line):
            start, end = one.passage.whole or (one.passage.start_line, one.passage.end_line)
            around = ".".join(one.passage.headings) if one.passage.symbols else " > ".join(one.passage.headings[:-1])
            text = " ".join(one.passage.text.split())
            shown = text if len(text) <= SIGNATURE_CHARACTERS else text[: SIGNATURE_CHARACTERS - 1] + "…"
            yield f"  {line_range(start, end)}  {shown}" + (f"  ({shown_name(around)})" if around else "")
