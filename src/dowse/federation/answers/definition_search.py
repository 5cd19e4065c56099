"""The definitions of projects that answer a question, with their callers and constants, and as text: each whole and once, others by their first line."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import NamedTuple

from dowse.errors import DowseError, NotWritable
from dowse.federation.answers.translated_texts import find_translated_texts
from dowse.indexes.early_parsing import start_parser
from dowse.indexes.first_search import FIRST_QUERY
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import definition_options, search_now
from dowse.indexes.reference_lookup import read_missing_references, read_references_to
from dowse.searching.passages import Passage, first_match
from dowse.searching.query_terms import parse_plain_query
from dowse.searching.references.definition_context import ContextFinder, DefinitionContext
from dowse.searching.references.reference_search import Place
from dowse.searching.search import SHOWN_COPIES, Answer
from dowse.text.excerpts import cut_line
from dowse.types import View
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


CONTEXT_SECONDS = 0.3
"""How long an answer waits for references that are missing, for the callers of what it shows."""


class FoundDefinitions(NamedTuple):
    """The definitions that answer, best first: those that are shown whole, and others."""

    whole: list[FoundDefinition]
    others: list[FoundDefinition]
    terms: dict[str, float]
    texts: list[str]
    """The texts of translation and resource files that the question quotes, each with the places that use its key."""

    @property
    def text(self) -> str:
        """The definitions as text; empty if there is none."""
        return definitions_text(self.whole, self.others, self.terms, self.texts)


def describe_definitions(
    indexes: Mapping[str, ProjectIndex],
    answer: Answer,
    show: Callable[[str], str] = str,
    *,
    most_unread: int | None = None,
) -> FoundDefinitions:
    """Return the definitions of an answer in their order, with what indexes know around them; `show` writes a path.

    The indexes stand under the beginnings of the paths of their files. If more files than `most_unread` lack their
    references, another process reads those, and only files that have the names of these definitions are read here.
    """
    found = sorted(
        ((hit, passage) for hit in answer.hits for passage in (*hit.passages, *hit.named)),
        key=lambda pair: pair[1].rank,
    )
    is_indexed = not answer.searched.direct and not answer.searched.unread
    around = {}
    for lead, index in indexes.items() if is_indexed else ():
        if index.exists and index.view is not View.DOCUMENTS:
            own = [(hit, passage) for hit, passage in found if hit.path.startswith(lead)]
            shown = [passage for hit, passage in own if passage not in hit.named and not passage.is_spare]
            names = [passage.symbols[-1] for passage in shown if passage.symbols]
            finder = _context_finder(index, partial(_show_below, lead, show))
            around[lead] = finder, _read_references(index, names, most_unread)

    def context_of(path: str, passage: Passage) -> DefinitionContext:
        """Return what is known around a definition; that of one that fills a short reply would make it long."""
        lead = next((lead for lead in around if path.startswith(lead)), None)
        if lead is None or not passage.symbols or passage.is_spare:
            return DefinitionContext()
        finder, known = around[lead]
        return _context(finder, path.removeprefix(lead), passage, known)

    whole, others = list[FoundDefinition](), list[FoundDefinition]()
    for hit, passage in found:
        if passage in hit.named:
            others.append(FoundDefinition(show(hit.path), passage))
        else:
            context, same_in = context_of(hit.path, passage), tuple(map(show, hit.same_in))
            whole.append(FoundDefinition(show(hit.path), passage, context, same_in))
    texts = [text for lead, index in indexes.items() for text in _texts(index, answer, lead, show)]
    return FoundDefinitions(whole, others, dict(answer.terms), texts)


def search_first_definitions(index: ProjectIndex) -> None:
    """Search an index as it is, so that the first question finds everything loaded.

    References are wanted from now on: what keeps the index fresh reads those that are missing.
    """
    options = definition_options(1, None, None)  # the callers of more take 0.1 s
    answer = search_now(index, parse_plain_query(FIRST_QUERY, ()), options)
    if index.whole.references.is_current():
        _ = describe_definitions({"": index}, answer).text
    else:
        _want_references(index)
        start_parser()


def _texts(index: ProjectIndex, answer: Answer, lead: str, show: Callable[[str], str]) -> Iterator[str]:
    if index.exists:
        hits = [hit for hit in answer.hits if hit.path.startswith(lead)]
        for one in find_translated_texts(index, hits, frozenset(answer.terms)):
            uses = ", ".join(f"{show(lead + path)}:{line}" for path, line in one.uses)
            yield f"{show(one.path)}:{one.line} {one.key}, used at {uses}"


def _show_below(lead: str, show: Callable[[str], str], path: str) -> str:
    return show(lead + path)


def _context_finder(index: ProjectIndex, show: Callable[[str], str]) -> ContextFinder:
    masks = index.settings.mask_secrets
    return ContextFinder(index.store, index.whole.references, index.read_bytes, show, index.shows, masks=masks)


def _read_references(index: ProjectIndex, names: Sequence[str], most_unread: int | None) -> Collection[str]:
    """Read references that are missing, as far as that takes a moment; return those of the names whose callers are known."""
    references = index.whole.references
    if references.is_current():
        return names
    is_quick = most_unread is None or references.missing() <= most_unread
    with suppress(NotWritable):
        if is_quick and not index.is_being_updated() and not read_missing_references(index, CONTEXT_SECONDS):
            return names
        _want_references(index)
        return read_references_to(index, names, CONTEXT_SECONDS) if references.is_used else ()
    return ()


def _want_references(index: ProjectIndex) -> None:
    """Let references be kept from now on, without reading any."""
    with suppress(DowseError):
        if not index.is_being_updated() and not index.whole.references.is_used:
            index.whole.references.catch_up(seconds=-1.0)


def _context(finder: ContextFinder, path: str, passage: Passage, known: Collection[str]) -> DefinitionContext:
    start, end = passage.whole or (passage.start_line, passage.end_line)
    name = passage.symbols[-1]
    return finder.context(path, name, range(start, end + 1), passage.text, has_references=name in known)
