"""The definitions of projects that answer a question, with their callers and constants."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from dowse.errors import DowseError, NotWritable
from dowse.federation.answers.definition_replies import FoundDefinition, definitions_text
from dowse.federation.answers.translated_texts import find_translated_texts
from dowse.indexes.early_parsing import start_parser
from dowse.indexes.first_search import FIRST_QUERY
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import definition_options, search_now
from dowse.indexes.reference_lookup import read_missing_references, read_references_to
from dowse.searching.passages import Passage
from dowse.searching.query_terms import parse_plain_query
from dowse.searching.references.definition_context import ContextFinder, DefinitionContext
from dowse.searching.search import Answer
from dowse.types import View

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
            around[lead] = _context_finder(index), _read_references(index, names, most_unread)

    def context_of(path: str, passage: Passage) -> DefinitionContext:
        """Return what is known around a definition; that of one that fills a short reply would make it long."""
        lead = next((lead for lead in around if path.startswith(lead)), None)
        if lead is None or not passage.symbols or passage.is_spare:
            return DefinitionContext()
        finder, known = around[lead]
        return _context(finder, path.removeprefix(lead), passage, known).shown_as(lambda one: show(lead + one))

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


def _context_finder(index: ProjectIndex) -> ContextFinder:
    masks = index.settings.mask_secrets
    return ContextFinder(index.store, index.whole.references, index.source.read_bytes, masks=masks)


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
