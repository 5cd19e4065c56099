"""The definitions of one project that answer a question, with their callers and constants."""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from dowse.answers.definition_replies import FoundDefinition, definitions_text
from dowse.answers.translated_texts import find_translated_texts
from dowse.errors import DowseError, NotWritable
from dowse.indexes.first_search import FIRST_QUERY
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import definition_options, search_now
from dowse.indexes.reference_lookup import read_missing_references
from dowse.references.definition_context import ContextFinder, DefinitionContext
from dowse.searching.passages import Passage
from dowse.searching.query_terms import parse_plain_query
from dowse.searching.search import Answer, SearchHit
from dowse.types import View

CONTEXT_SECONDS = 0.3
"""How long an answer waits for references that are missing, for the callers of what it shows."""


class FoundDefinitions(NamedTuple):
    """The definitions of one project that answer, best first: those that are shown whole, and others."""

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
    index: ProjectIndex | None, answer: Answer, show: Callable[[str], str] = str, *, most_unread: int | None = None
) -> FoundDefinitions:
    """Return the definitions of an answer in their order, with what an index knows around them; `show` writes a path.

    Callers are left out if more files than `most_unread` lack their references: another process reads those.
    """
    found = sorted(
        ((hit, passage) for hit in answer.hits for passage in (*hit.passages, *hit.named)),
        key=lambda pair: pair[1].rank,
    )
    finder = _context_finder(index, most_unread) if index else None
    whole, others = list[FoundDefinition](), list[FoundDefinition]()
    for hit, passage in found:
        if passage in hit.named:
            others.append(FoundDefinition(show(hit.path), passage))
            continue
        # The context of definitions that fill a short reply would make it long.
        context = _context(finder, hit, passage) if finder and not passage.is_spare else DefinitionContext()
        whole.append(FoundDefinition(show(hit.path), passage, context.shown_as(show), tuple(map(show, hit.same_in))))
    return FoundDefinitions(whole, others, dict(answer.terms), _texts(index, answer, show) if index else [])


def search_first_definitions(index: ProjectIndex) -> None:
    """Search an index as it is, so that the first question finds everything loaded.

    References are wanted from now on: what keeps the index fresh reads those that are missing.
    """
    options = definition_options(1, None, None)  # the callers of more take 0.1 s
    answer = search_now(index, parse_plain_query(FIRST_QUERY, ()), options)
    if index.whole.references.is_current():
        _ = describe_definitions(index, answer).text
    else:
        _want_references(index)


def _texts(index: ProjectIndex, answer: Answer, show: Callable[[str], str]) -> list[str]:
    if not index.exists:
        return []
    return [
        f"{show(one.path)}:{one.line} {one.key}, used at "
        + ", ".join(f"{show(path)}:{line}" for path, line in one.uses)
        for one in find_translated_texts(index, answer)
    ]


def _context_finder(index: ProjectIndex, most_unread: int | None) -> ContextFinder | None:
    """Return what finds the callers of definitions, if all references are there or can be read in a moment."""
    if not index.exists or index.view is View.DOCUMENTS:
        return None
    references, masks = index.whole.references, index.settings.mask_secrets
    with suppress(NotWritable):
        if most_unread is not None and not references.is_current() and references.missing() > most_unread:
            _want_references(index)
            return None
        if references.is_current() or not (index.is_being_updated() or read_missing_references(index, CONTEXT_SECONDS)):
            return ContextFinder(index.store, references, index.source.read_bytes, masks=masks)
    return None


def _want_references(index: ProjectIndex) -> None:
    """Let references be kept from now on, without reading any."""
    with suppress(DowseError):
        if not index.is_being_updated() and not index.whole.references.is_used:
            index.whole.references.catch_up(seconds=-1.0)


def _context(finder: ContextFinder, hit: SearchHit, passage: Passage) -> DefinitionContext:
    if not passage.symbols:
        return DefinitionContext()
    start, end = passage.whole or (passage.start_line, passage.end_line)
    return finder.context(hit.path, passage.symbols[-1], range(start, end + 1), passage.text)
