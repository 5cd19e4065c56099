"""The answers to assistants, as text: what answers a question, what a place says, where a text is, who uses a name."""

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path

from dowse.errors import CatalogError, DowseError, ItemNotFound, UsageError
from dowse.federation.answers.definition_search import FoundDefinitions, definitions_text, describe_definitions
from dowse.federation.answers.line_replies import (
    MAX_USES,
    lines_with_word,
    occurrences_text,
    other_lines,
    references_text,
)
from dowse.federation.answers.other_sources import SOURCE_ID, OtherSources
from dowse.federation.answers.package_answers import (
    FIND_SECONDS,
    MIN_SECONDS,
    find_in_packages,
    flag_notes,
    read_package_place,
    search_in_packages,
    uses_in_packages,
)
from dowse.federation.answers.place_reading import RequestedPlace, SourceText, parse_place, read_place, read_sources
from dowse.federation.source_list import SourceList
from dowse.indexes.dependencies.package_index import SEPARATOR
from dowse.indexes.dependencies.package_search import Dependencies
from dowse.indexes.growing_index import missing_files
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import ExactQuery, coverage, definition_options, find_all_now, search_now
from dowse.indexes.reference_lookup import references_now
from dowse.keeping.served_index import ServedIndex, Service
from dowse.mcp.tools import Call
from dowse.searching.exact_search import MAX_LITERAL
from dowse.searching.query_terms import SearchQuery, notes_on_length, parse_plain_query
from dowse.searching.references.reference_search import ReferenceOptions, split_name
from dowse.searching.search import Answer, SearchOptions
from dowse.store.reference_index import QUICK_DOCUMENTS
from dowse.surfaces.documents.doc_uris import SCHEME, parse_uri
from dowse.surfaces.project import path_search
from dowse.surfaces.project.chosen_projects import ChosenProjects, gather_answers
from dowse.surfaces.project.path_search import filter_warnings
from dowse.types import Coverage, View
from dowse.visible_text import pluralize, shown_name

MAX_NAMES, MAX_ITEMS = 10, 50
READ_CHARACTERS = 32_000
"""The length of a reply of `read`; what does not fit is named."""
NOTHING_FOUND = "Nothing answers this. Ask in other words, or find an exact text."


class AnswerSurface:
    """The handlers of the tools for assistants."""

    def __init__(self, service: Service | None, start: Path, sources: SourceList, view: View = View.PROJECT) -> None:
        """`service` has the folders, which are answered from as projects or as documents; None if there are none."""
        self.service, self._view = service, view
        self._projects = ChosenProjects(service, start) if service else None
        self._sources, self._others = sources, OtherSources(sources, view)

    @property
    def has_dependencies(self) -> bool:
        """Whether the packages that a project uses may be read."""
        service = self.service if self._view is View.PROJECT else None
        return service is not None and any(service.packages_of(served).is_enabled for served in service.projects)

    async def _ask_packages(self, call: Call, ask: Callable[[Call, Dependencies], list[str]]) -> str:
        """Return what the packages of the projects in question say."""
        projects, _ = await self._kept(call)
        service = self.service
        asked = {served: service.packages_of(served).ask(partial(ask, call)) for served in projects} if service else {}
        found, problems = await gather_answers(asked)
        return "\n\n".join([*(text for _, some in found for text in some), *problems])

    async def answer_question(self, call: Call) -> str:
        """Return the definitions, sections, pages and notes that answer a question."""
        arguments = call.arguments
        if arguments.get("in") == "dependencies" or arguments.get("package"):
            return await self._ask_packages(call, search_in_packages)
        query = parse_plain_query(arguments["query"], arguments["names"] or ())
        projects, notes = await self._kept(call)
        (found, problems), items = await asyncio.gather(
            gather_answers({served: self._find_definitions(served, query, call) for served in projects}),
            self._others.find_items(call, query),
        )
        answers = [answer for _, (answer, _) in found]
        most = max((len(answer.whole) for answer in answers), default=0)  # more than the limit for a pasted issue
        limit = max(most - len(items.before) - len(items.after), 1) if items.has_files else 1
        whole = [one for some in zip_longest(*(answer.whole for answer in answers)) for one in some if one][:limit]
        others = [one for answer in answers for one in answer.others]
        terms = {term: weight for answer in answers for term, weight in answer.terms.items()}
        notes += [
            *notes_on_length(arguments["query"]),
            *problems,
            *items.problems,
            *(note for _, (_, some) in found for note in some),
        ]
        notes += flag_notes((one.path, one.passage) for one in (*items.before, *items.after))
        texts = [one for answer in answers for one in answer.texts]
        text = definitions_text([*items.before, *whole, *items.after], others, terms, texts) or NOTHING_FOUND
        return "\n\n".join([text, *dict.fromkeys(notes)])

    async def _find_definitions(
        self, served: ServedIndex, query: SearchQuery, call: Call
    ) -> tuple[FoundDefinitions, list[str]]:
        options = definition_options(int(call.arguments["limit"]), call.arguments["kind"], self._glob(served, call))
        options = replace(options, tests=call.arguments["tests"])
        show = partial(self._shown_path, served)

        def find(index: ProjectIndex, pending: list[str]) -> tuple[FoundDefinitions, list[str], bool]:
            answer = search_now(index, query, options, served.encoder, is_behind="." in pending)
            left = 0 if answer.searched.were_compared else len(pending)
            covered = coverage(index, max(left, len(answer.outdated)), answer.searched)
            found = describe_definitions({"": index}, answer, show, most_unread=QUICK_DOCUMENTS)
            notes = _notes(answer, covered)
            if not answer.hits:
                notes += filter_warnings(index, options.within(query.filters))
            return found, notes, index.exists and index.whole.references.has_backlog()

        found, notes, is_behind = await served.ask_fresh(find, self._view)
        if is_behind and not served.is_running:
            served.start_run()  # which reads the references of all files, for the callers and `uses`
        return found, notes

    async def read(self, call: Call) -> str:
        """Return the text of places."""
        places, parts, left = _few(call.arguments["places"]), list[str](), READ_CHARACTERS
        await self._kept(call)
        for number, place in enumerate(places):
            if left <= 0:
                parts.append(f"The reply is full. Not shown: {', '.join(places[number:])}")
                break
            try:
                parts.append(await self._read_one(call, place, left if len(places) == 1 else max(left // 2, 4000)))
            except DowseError as error:
                if len(places) == 1:
                    raise
                parts.append(str(error))
            left -= len(parts[-1])
        return "\n\n".join(parts)

    async def _read_one(self, call: Call, place: str, characters: int) -> str:
        service = self.service
        if SEPARATOR in place and self.has_dependencies:
            return await self._ask_packages(
                call, lambda _, dependencies: [read_package_place(dependencies, place, characters)]
            )
        asked = parse_place(place) if not place.startswith(SCHEME) else _document_place(place)
        if SOURCE_ID.fullmatch(asked.path):
            try:
                return await self._others.read(call, asked, characters)
            except ItemNotFound:
                if service is None or not service.projects:
                    raise
        if service is None or not service.projects:
            raise UsageError(
                f"{place} is no id of an item; ids begin with {', '.join(await self._others.names(call))}."
            )
        if asked.path == "." and service.has_several:
            return "\n".join(["Projects:", *(f"  {served.name}/" for served in service.projects)])
        served, path = service.locate(asked.path, call.arguments.get("project"))
        show = self._shown_path(served, path)
        try:
            return await served.ask(
                lambda index: read_place(index, replace(asked, path=path), show, characters), self._view
            )
        except DowseError as error:
            if not self.has_dependencies:
                raise
            try:  # a place of a package without its name
                return await service.packages_of(served).ask(
                    lambda dependencies: read_package_place(dependencies, place, characters)
                )
            except UsageError:
                raise error from None

    async def find(self, call: Call) -> str:
        """Return every line with one of some texts."""
        arguments = call.arguments
        projects, notes = await self._kept(call)
        texts, is_pattern = _few(arguments["texts"]), arguments["regex"]
        matchers = [ExactQuery(text, SearchOptions(), FIND_SECONDS, is_pattern).matcher() for text in texts]
        if arguments.get("package"):
            return await self._ask_packages(call, find_in_packages)
        found, problems = await gather_answers({served: self._find_one(served, call) for served in projects})
        replies = []
        if not arguments["path"] and not arguments.get("project") and arguments["tests"] != "only":
            elsewhere, sources = await self._others.find(call, matchers, int(arguments["limit"]))
            replies = [
                occurrences_text(text, one, None, sources, str, context=int(arguments["context"]))
                for text, one in zip(texts, elsewhere, strict=True)
                if one.total or (one.looked_at and not projects)
            ]
        return "\n\n".join([*(text for _, some in found for text in some), *replies, *notes, *problems])

    async def _find_one(self, served: ServedIndex, call: Call) -> list[str]:
        arguments, show = call.arguments, partial(self._shown_path, served)
        options = SearchOptions(
            int(arguments["limit"]), path_glob=self._glob(served, call), tests=arguments["tests"],
        )  # fmt: skip

        def find(index: ProjectIndex, pending: list[str]) -> list[str]:
            replies, sources, deadline = [], dict[str, SourceText](), time.monotonic() + FIND_SECONDS
            for text in arguments["texts"]:
                query = ExactQuery(text, options, max(deadline - time.monotonic(), MIN_SECONDS), arguments["regex"])
                found, covered = find_all_now(index, query, len(pending))
                sources |= read_sources(index, {one.path for one in found.found} - sources.keys())
                reply = occurrences_text(text, found, covered, sources, show, context=int(arguments["context"]))
                replies.append(reply if found.total else reply + _in_other_capitals(index, query, len(pending)))
            return replies

        return await served.ask_fresh(find, self._view)

    async def uses(self, call: Call) -> str:
        """Return where names are defined and used."""
        for name in _few(call.arguments["names"]):
            split_name(name)  # refuses what is no name
        if call.arguments.get("package"):
            return await self._ask_packages(call, uses_in_packages)
        projects, notes = await self._kept(call)
        found, problems = await gather_answers({served: self._uses_one(served, call) for served in projects})
        for served, (_, missing) in found:
            if missing > QUICK_DOCUMENTS and not served.is_running:
                served.start_run()  # which reads the references of the other files
        return "\n\n".join([*(text for _, (texts, _) in found for text in texts), *notes, *problems])

    async def _uses_one(self, served: ServedIndex, call: Call) -> tuple[list[str], int]:
        arguments, show = call.arguments, partial(self._shown_path, served)
        options = ReferenceOptions(None, self._glob(served, call), MAX_USES)

        def find(index: ProjectIndex, pending: list[str]) -> tuple[list[str], int]:
            texts, missing = [], 0
            for name in arguments["names"]:
                found = references_now(index, name, options, len(pending)) if index.exists else None
                is_known = found and (found.found.is_found or index.is_ready() or not any(missing_files(index)))
                if not found or not is_known:  # it is not indexed so far
                    texts.append(lines_with_word(index, name, options, partial(read_sources, index), show))
                    continue
                missing = max(missing, found.missing)
                text = references_text(name, found.found, show, unread=found.missing)
                texts.append("\n".join([text, *other_lines(index, name, found.found, options, show)]))
            return texts, missing

        return await served.ask_fresh(find)

    async def _kept(self, call: Call) -> tuple[list[ServedIndex], list[str]]:
        """Return the folders that a call is about; those without an index are indexed from now on."""
        if call.arguments.get("path"):
            path_search.compile_pattern(call.arguments["path"])
        if self._projects is None:
            return [], []
        try:
            projects = await self._projects.kept_fresh(call)
        except CatalogError as error:  # no folder was named, and none was detected
            if await self._others.names(call):
                return [], []
            raise error
        if self._view is View.DOCUMENTS and self._sources.folders:
            self._sources.folders.open()
            return projects, []
        problems = await self._sources.index_projects()
        return projects, [f"{name} is not indexed: {problem}" for name, problem in problems.items()]

    def _glob(self, served: ServedIndex, call: Call) -> str | None:
        return self._projects.glob_within(served, call.arguments["path"]) if self._projects else None

    def _shown_path(self, served: ServedIndex, path: str) -> str:
        return shown_name(self.service.shown_path(served, path) if self.service else path)


def _document_place(uri: str) -> RequestedPlace:
    path, anchor = parse_uri(uri)
    return RequestedPlace(path, name=anchor)


def _notes(answer: Answer, covered: Coverage) -> list[str]:
    """Return what the reader has to know: what was not searched, and warnings about the content."""
    notes = []
    unread = covered.expected - covered.files - covered.direct
    if unread > 0:
        notes.append(f"Not complete: {unread} of {covered.expected} files were not searched.")
    elif covered.pending and not covered.direct:
        notes.append(f"Not complete: {pluralize(covered.pending, 'changed file')} not searched.")
    if answer.hits_without_filters:
        notes.append(f"Without its filters, {pluralize(answer.hits_without_filters, 'file')} would answer.")
    return notes + flag_notes((hit.path, passage) for hit in answer.hits for passage in (*hit.passages, *hit.named))


def _few(items: list[str]) -> list[str]:
    """Return what a call names; raise UsageError if that is too much for one call."""
    if len(items) > MAX_ITEMS:
        raise UsageError(f"{len(items)} are too many for one call. Give at most {MAX_ITEMS}.")
    return items


def _in_other_capitals(index: ProjectIndex, query: ExactQuery, pending: int) -> str:
    """Return a hint if a text that is nowhere, and is no long one, occurs in other capitals."""
    if query.is_pattern or len(query.text) > MAX_LITERAL // 2:
        return ""
    folded = ExactQuery(f"(?i){re.escape(query.text)}", replace(query.options, limit=3), query.seconds, is_pattern=True)
    found, _ = find_all_now(index, folded, pending)
    places = ", ".join(dict.fromkeys(f"{shown_name(one.path)}:{one.line}" for one in found.found))
    return f"; in other capitals {found.total} times: {places}" if found.total else ""
