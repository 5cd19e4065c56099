"""The project surface: the tools over indexed code and documentation."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import CatalogError, UsageError
from dowse.indexes.damage_recovery import shown_folder
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import ExactQuery, coverage, explain_file, search_now
from dowse.indexes.reference_lookup import FoundReferences, references_now, related_files
from dowse.indexes.user_settings import user_settings
from dowse.keeping.keeper import is_far_behind
from dowse.keeping.served_index import ServedIndex, Service
from dowse.mcp.replies import Reply, coverage_warnings, present
from dowse.mcp.schemas import FLAG, LIST, NUMBER, TEXT, count, describe, reply, rows
from dowse.mcp.tools import Call, Tool, tool, tools_of
from dowse.parsing.source_references import USE_KINDS
from dowse.searching.query_terms import SearchQuery, notes_on_length, parse_search_query
from dowse.searching.references.reference_search import ReferenceOptions
from dowse.searching.search import SearchOptions
from dowse.store.reference_index import QUICK_DOCUMENTS
from dowse.surfaces.project import path_search, shared_tools
from dowse.surfaces.project.chosen_projects import ChosenProjects, find_text, gather_answers
from dowse.surfaces.project.history_replies import HistoryPlace, HistoryReadings, commit_reply, history_reply
from dowse.surfaces.project.index_tools import IndexTools
from dowse.surfaces.project.path_search import filter_warnings
from dowse.surfaces.project.project_replies import (
    ProjectAnswer,
    explanation_reply,
    incomplete_notes,
    occurrences_reply,
    paths_reply,
    search_reply,
)
from dowse.surfaces.project.reference_replies import references_reply, related_reply
from dowse.surfaces.root_detection import add_client_roots
from dowse.types import Kind, View

if TYPE_CHECKING:
    from dowse.searching.history.history_search import HistoryAnswer

INSTRUCTIONS = (
    "Searches the code and documentation of the project on this machine. Ask search_code or search_docs before "
    "reading whole files; search_by_path finds files by name, find_text lists every occurrence of a text. "
    "create_index comes first, once. Replies say when the index is not complete."
)

ENHANCED_HINTS = {
    "search_code": " using natural language. **TIP:** Prefer this over reading full files when looking for specific "
    "functions, patterns, or implementations.",
    "search_docs": ". **TIP:** For follow-up questions about a doc already in context, use this tool instead of "
    "re-reading the entire file - more precise results, less context usage.",
}
"""Texts that the setting `enhancedToolDescriptions` adds to the descriptions."""
FIND_SECONDS = 5.0
"""How long one project is searched for a text; the reply says if that was not enough."""

_FILE = describe(TEXT, "Relative path to the file", minLength=1, maxLength=4096)


class ProjectSurface:
    """The tools over the projects of a service."""

    def __init__(self, service: Service, start: Path) -> None:
        self.service = service
        self.projects = ChosenProjects(service, start)
        self.indexes = IndexTools(self.projects)
        self.every_tool: tuple[Tool, ...] = (*tools_of(self), *tools_of(self.indexes))
        """All tools as they are for one project."""
        self._histories = HistoryReadings()
        self._offered_for: tuple[object, ...] | None = None
        self._offered = self.every_tool

    # The tools that are offered

    async def tools(self, client: Call) -> tuple[Tool, ...]:
        """Return the tools; the same tuple as before unless the projects or the settings changed."""
        if not self.service.projects:
            await add_client_roots(self.service, client)
        names = tuple(served.name for served in self.service.projects)
        first = self.service.projects[0].root if names else None
        key = (names, has_hints := user_settings(first).enhanced_tool_descriptions)
        if key != self._offered_for:
            hints = ENHANCED_HINTS if has_hints else {}
            self._offered = tuple(_as_offered(tool, names, hints) for tool in self.every_tool)
            self._offered_for = key
        return self._offered

    # Searching

    @shared_tools.search_code
    async def search_code(self, call: Call) -> Reply:
        """Search your codebase for relevant code"""
        return await self._search(call, "code")

    @shared_tools.search_docs
    async def search_docs(self, call: Call) -> Reply:
        """Search documentation files (.md, .txt)"""
        return await self._search(call, "docs")

    async def _search(self, call: Call, kind: Kind) -> Reply:
        """Search one kind of files in the project that the call names, or in all."""
        started, arguments = time.perf_counter(), call.arguments
        options, query = path_search.search_options(arguments, kind), parse_search_query(arguments["query"])
        asked = {}
        for served in await self.projects.kept_fresh(call):
            within = partial(self.projects.glob_within, served)
            excluded = tuple(within(glob) or glob for glob in options.excluded_globs)
            own = replace(options, path_glob=within(options.path_glob), excluded_globs=excluded)
            asked[served] = served.ask_fresh(partial(self._search_index, served=served, query=query, options=own))
        answers, problems = await gather_answers(asked)
        found = [answer for _, answer in answers]
        warnings = [*self.service.warnings, *notes_on_length(arguments["query"]), *problems]
        reply = search_reply(found, arguments["offset"], arguments["top_k"], call.budget_characters, warnings)
        return {**reply, "searchTimeMs": round((time.perf_counter() - started) * 1000, 1)}

    def _search_index(
        self, index: ProjectIndex, pending: list[str], served: ServedIndex, query: SearchQuery, options: SearchOptions
    ) -> ProjectAnswer:
        """Search one project, on the thread of its index."""
        if self.service.has_several:
            query = replace(query, filters=query.filters.within(served.name))
        if options.kind == "docs":
            _require_docs(served, index)
        served.require_index(index)
        try:
            answer = search_now(index, query, options, served.encoder, is_behind=is_far_behind(pending))
        except UsageError as error:
            if index.exists:
                raise
            raise CatalogError("INDEX_BUSY", detail=str(error)) from error  # begun, and nothing is there yet
        covered = coverage(index, max(len(pending), len(answer.outdated)), answer.searched)
        if options.kind == "docs" and covered.is_complete and not index.store.totals("docs").documents:
            raise _no_docs(index, "The project has no documents.")
        warnings = [
            *index.warnings,
            *coverage_warnings(covered),
            *([] if answer.hits else filter_warnings(index, self._own_filters(options.within(query.filters)))),
        ]
        left = [] if answer.searched.were_compared else pending
        shown_path = partial(self.service.shown_path, served)
        return ProjectAnswer(answer, covered, shown_path, warnings, left, options.detail)

    def _own_filters(self, options: SearchOptions) -> SearchOptions:
        """Return the options without paths if there are several projects: a path may be one of another project."""
        return replace(options, path_glob=None, among_paths=()) if self.service.has_several else options

    @shared_tools.search_by_path
    async def search_by_path(self, call: Call) -> Reply:
        """Find indexed files whose path matches a glob pattern"""
        pattern = call.arguments["pattern"]
        expression = path_search.compile_pattern(pattern)
        asked = {}
        for served in await self.projects.kept_fresh(call):
            find = partial(path_search.find_paths, expression=expression, shown_path=self._shown(served))
            asked[served] = served.ask_fresh(find)
        found, problems = await gather_answers(asked)
        paths = sorted(path for _, (matching, _, _) in found for path in matching)
        pending = [path for _, (_, changed, _) in found for path in changed]
        coverages = [covered for _, (_, _, covered) in found]
        unsearched = [warning for covered in coverages for warning in coverage_warnings(covered)]
        warnings = [*self.service.warnings, *problems, *unsearched]
        return {
            **paths_reply(paths, call.arguments["offset"], call.arguments["limit"], call.budget_characters, warnings),
            **incomplete_notes(coverages, pending),
            **present(hint="" if paths else path_search.suggest_pattern(pattern)),
        }

    def _shown(self, served: ServedIndex) -> Callable[[str], str]:
        """Return how replies show the paths of a project."""
        return partial(self.service.shown_path, served)

    @shared_tools.find_text
    async def find_text(self, call: Call) -> Reply:
        """Find every line with an exact text or regular expression, with a complete count; prefer it to grep"""
        arguments, queries = call.arguments, dict[ServedIndex, tuple[ExactQuery, View]]()
        limit, offset = arguments["limit"], arguments["offset"]
        projects = await self.projects.kept_fresh(call)
        skipped = offset if len(projects) == 1 else 0
        for served in projects:
            glob = self.projects.glob_within(served, arguments["path"])
            options = SearchOptions(offset + limit - skipped, path_glob=glob)
            query = ExactQuery(arguments["text"], options, FIND_SECONDS, arguments["regex"], skipped)
            queries[served] = query, View.PROJECT
        answers, problems = await find_text(queries)
        found = [(self._shown(served), *answer) for served, answer in answers]
        return occurrences_reply(found, offset, limit, call.budget_characters, [*self.service.warnings, *problems])

    @tool(
        "Search history",
        reply(("results", "covers"), results=LIST, covers=TEXT),
        {
            "query": describe(TEXT, "What was changed or why", minLength=1, maxLength=10_000),
            "path": describe(TEXT, "Only commits that change such paths (glob); renames are followed"),
            "since": describe(TEXT, "First date, such as 2025-05"),
            "until": describe(TEXT, "Last date"),
            "authors": describe(FLAG, "Show authors", default=False),
            "limit": count("Commits to list", 10, 50),
        },
        ("query",),
        is_extra=True,
    )
    async def search_history(self, call: Call) -> Reply:
        """Find commits by their message, changed paths and changed symbols"""
        started, arguments = time.perf_counter(), call.arguments
        asked = {served: self._search_commits(served, arguments) for served in await self.projects.kept_fresh(call)}
        answers, problems = await gather_answers(asked)
        found = [(self._shown(served), answer) for served, answer in answers]
        warnings = [*self.service.warnings, *problems]
        reply = history_reply(
            found, arguments["limit"], call.budget_characters, warnings, has_authors=arguments["authors"]
        )
        return {**reply, "searchTimeMs": round((time.perf_counter() - started) * 1000, 1)}

    async def _search_commits(self, served: ServedIndex, arguments: Mapping[str, Any]) -> "HistoryAnswer":
        place = await served.ask(partial(_history_place, served))
        options = {key: arguments[key] for key in ("since", "until", "limit")}
        options["path_glob"] = self.projects.glob_within(served, arguments["path"])
        return await asyncio.to_thread(self._histories.search, place, arguments["query"], options)

    async def read_commit(self, call: Call) -> Reply:
        """Return the changes of one commit of the project that the call names."""
        served = await self.projects.only(call)
        place = await served.ask(partial(_history_place, served))
        return await asyncio.to_thread(commit_reply, place, call.arguments["commit"], self._shown(served))

    @tool(
        "Find references",
        reply(
            ("definitions", "references", "totalReferences"),
            definitions=LIST,
            references=rows(("path", "uses"), path=TEXT, uses=LIST),
            totalReferences=NUMBER,
            totalFiles=NUMBER,
        ),
        {
            "name": describe(TEXT, "The name, alone or as Class.method", minLength=1, maxLength=500),
            "kind": describe(TEXT, "Only this use", enum=list(USE_KINDS)),
            "path": describe(TEXT, "Only uses in paths that match this glob"),
            "limit": count("Uses to list", 50, 1000),
            "offset": count("Uses to skip", 0, 100_000, 0),
        },
        ("name",),
        is_extra=True,
    )
    async def find_references(self, call: Call) -> Reply:
        """Find where a function, class or other symbol is defined and used, with the callers"""
        arguments = call.arguments
        limit, offset = arguments["limit"], arguments["offset"]

        def find(index: ProjectIndex, pending: list[str], served: ServedIndex) -> FoundReferences:
            served.require_index(index)
            glob = self.projects.glob_within(served, arguments["path"])
            options = ReferenceOptions(arguments["kind"], glob, offset + limit)
            return references_now(index, arguments["name"], options, len(pending))

        projects = await self.projects.kept_fresh(call)
        answers, problems = await gather_answers(
            {served: served.ask_fresh(partial(find, served=served)) for served in projects}
        )
        for served, answer in answers:
            _read_references(served, answer.missing)
        found = [(self._shown(served), *answer[:2]) for served, answer in answers]
        problems += [warning for _, _, covered in found for warning in coverage_warnings(covered)]
        return references_reply(found, offset, limit, call.budget_characters, [*self.service.warnings, *problems])

    @tool(
        "Related files",
        reply(("imports", "importedBy"), path=TEXT, imports=LIST, importedBy=LIST),
        {"path": _FILE, "limit": count("Files of each kind to list", 20, 200)},
        ("path",),
        is_extra=True,
    )
    async def related_files(self, call: Call) -> Reply:
        """List what a file imports, what imports it, its tests and what changes with it"""
        served, path = await self.projects.located(call)
        limit, show = call.arguments["limit"], self._shown(served)
        found, pending = await served.ask_fresh(
            lambda index, pending: (related_files(index, path, limit, show), pending)
        )
        _read_references(served, found.unread)
        return related_reply(found, limit, pending)

    @tool(
        "Explain",
        reply(("path", "allowed"), path=TEXT, allowed=FLAG, indexed=FLAG, reason=TEXT, rank=NUMBER),
        {"path": _FILE, "query": describe(TEXT, "The query to explain its rank for", maxLength=10_000)},
        ("path",),
        is_extra=True,
    )
    async def explain(self, call: Call) -> Reply:
        """Explain why a file is or is not indexed and, with a query, why it ranks where it does"""
        served, path = await self.projects.located(call)
        query = call.arguments.get("query")
        found = await served.ask_fresh(lambda index, _pending: explain_file(index, path, query, served.encoder))
        return explanation_reply(*found, self._shown(served))


def _as_offered(tool: Tool, names: Sequence[str], hints: Mapping[str, str]) -> Tool:
    tool = replace(tool, description=tool.description + hints.get(tool.name, ""))
    if len(names) < 2 or tool.name == "list_projects":
        return tool
    project = describe(TEXT, "Project name; without it, all projects where possible", enum=list(names))
    return replace(tool, arguments={**tool.arguments, "project": project})


def _read_references(served: ServedIndex, missing: int) -> None:
    """Read the references of the files that lack them, in the background, if they are many."""
    if missing > QUICK_DOCUMENTS and not served.is_running:
        served.start_run()


def _require_docs(served: ServedIndex, index: ProjectIndex) -> None:
    if not index.settings.index_docs:
        raise _no_docs(index, "indexDocs is false.")
    if not index.exists and not served.is_making(index):
        raise _no_docs(index, "Call create_index.")


def _no_docs(index: ProjectIndex, why: str) -> CatalogError:
    return CatalogError("DOCS_INDEX_NOT_FOUND", index=shown_folder(index.folder), detail=why)


def _history_place(served: ServedIndex, index: ProjectIndex) -> HistoryPlace:
    served.require_index(index)
    return HistoryPlace(index.root, index.folder, index.settings)
