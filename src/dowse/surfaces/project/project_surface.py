"""The project surface: the tools over indexed code and documentation, and the list of all projects."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.error_catalog import user_message
from dowse.errors import CatalogError, UsageError
from dowse.indexes.damage_recovery import shown_folder
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_lookup import forget_project, list_projects
from dowse.indexes.project_search import ExactQuery, coverage, explain_file, search_now
from dowse.indexes.reference_lookup import FoundReferences, references_now, related_files
from dowse.keeping.indexing_run import REBUILD, IndexingRun
from dowse.keeping.keeper import is_far_behind
from dowse.keeping.served_index import ServedIndex, Service
from dowse.mcp.replies import Reply, ask_consent, coverage_warnings, present
from dowse.mcp.tools import Call
from dowse.searching.query_terms import SearchQuery, notes_on_length, parse_search_query
from dowse.searching.references.reference_search import ReferenceOptions
from dowse.searching.references.related_files import shown_files
from dowse.searching.search import SearchOptions
from dowse.store.reference_index import QUICK_DOCUMENTS
from dowse.surfaces.project import path_search
from dowse.surfaces.project.chosen_projects import ChosenProjects, find_text, gather_answers
from dowse.surfaces.project.history_replies import HistoryPlace, HistoryReadings, commit_reply, history_reply
from dowse.surfaces.project.path_search import filter_warnings
from dowse.surfaces.project.progress import follow_runs
from dowse.surfaces.project.project_replies import (
    ProjectAnswer,
    combined_reply,
    incomplete_notes,
    indexing_reply,
    paths_reply,
    projects_reply,
    search_reply,
    status_reply,
)
from dowse.surfaces.project.reference_replies import references_reply, related_reply
from dowse.surfaces.project.text_replies import explanation_reply, occurrences_reply
from dowse.types import Kind, View

if TYPE_CHECKING:
    from dowse.searching.history.history_search import HistoryAnswer

INSTRUCTIONS = (
    "Searches the code and documentation of the project on this machine. Ask search_code or search_docs before "
    "reading whole files; search_by_path finds files by name, find_text lists every occurrence of a text. "
    "create_index comes first, once. Replies say when the index is not complete."
)

FIND_SECONDS = 5.0
"""How long one project is searched for a text; the reply says if that was not enough."""
REBUILD_QUESTION = "This will rebuild the entire index. Continue?"
DELETE_QUESTION = "Delete the index for this project? This cannot be undone."
CREATE_QUESTION = "Index {count} files of {name}?"


class ProjectSurface:
    """The handlers of the project tools, over the projects of a service."""

    def __init__(self, service: Service, start: Path) -> None:
        self.service = service
        self._projects = ChosenProjects(service, start)
        self._histories = HistoryReadings()

    # Searching

    async def search_kind(self, call: Call, kind: Kind) -> Reply:
        """Search one kind of files in the project that the call names, or in all."""
        started, arguments = time.perf_counter(), call.arguments
        limit, offset = int(arguments["top_k"]), int(arguments["offset"])
        options, query = path_search.search_options(arguments, kind), parse_search_query(arguments["query"])
        asked = {}
        for served in await self._projects.kept_fresh(call):
            own = replace(
                options,
                path_glob=self._projects.glob_within(served, options.path_glob),
                excluded_globs=tuple(
                    self._projects.glob_within(served, glob) or glob for glob in options.excluded_globs
                ),
            )
            asked[served] = served.ask_fresh(partial(self._search_index, served=served, query=query, options=own))
        answers, problems = await gather_answers(asked)
        found = [answer for _, answer in answers]
        warnings = [*self.service.warnings, *notes_on_length(arguments["query"]), *problems]
        reply = search_reply(found, offset, limit, call.budget_characters, warnings)
        return {**reply, "searchTimeMs": round((time.perf_counter() - started) * 1000, 1)}

    def _search_index(
        self, index: ProjectIndex, pending: list[str], served: ServedIndex, query: SearchQuery, options: SearchOptions
    ) -> ProjectAnswer:
        """Search one project, on the thread of its index."""
        if self.service.has_several:
            query = replace(query, filters=query.filters.within(served.name))
        if options.kind == "docs":
            _require_docs(served, index)
        _require_index(served, index)
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

    async def search_by_path(self, call: Call) -> Reply:
        """Find files by a glob."""
        arguments = call.arguments
        pattern, limit, offset = arguments["pattern"], int(arguments["limit"]), int(arguments["offset"])
        expression = path_search.compile_pattern(pattern)
        found, problems = await gather_answers(
            {
                served: served.ask_fresh(
                    partial(path_search.find_paths, expression=expression, shown_path=self._pattern_path(call, served))
                )
                for served in await self._projects.kept_fresh(call)
            }
        )
        paths = sorted(self._qualified(call, served, path) for served, matches in found for path in matches.paths)
        unsearched = [warning for _, matches in found for warning in coverage_warnings(matches.coverage)]
        warnings = [*self.service.warnings, *problems, *unsearched]
        pending = [self.service.shown_path(served, path) for served, matches in found for path in matches.pending]
        return {
            **paths_reply(paths, offset, limit, call.budget_characters, warnings),
            **incomplete_notes([matches.coverage for _, matches in found], pending),
            **present(hint="" if paths else path_search.suggest_pattern(pattern)),
        }

    async def find_text(self, call: Call) -> Reply:
        """Find every occurrence of a text or pattern."""
        arguments = call.arguments
        limit, offset = int(arguments["limit"]), int(arguments["offset"])
        if arguments["path"]:
            path_search.compile_pattern(arguments["path"])
        projects, queries = await self._projects.kept_fresh(call), dict[ServedIndex, tuple[ExactQuery, View]]()
        skipped = offset if len(projects) == 1 else 0
        for served in projects:
            glob = self._projects.glob_within(served, arguments["path"])
            options = SearchOptions(offset + limit - skipped, path_glob=glob)
            query = ExactQuery(arguments["text"], options, FIND_SECONDS, arguments["regex"], skipped)
            queries[served] = query, View.PROJECT
        answers, problems = await find_text(queries)
        found = [(partial(self.service.shown_path, served), *answer) for served, answer in answers]
        return occurrences_reply(found, offset, limit, call.budget_characters, [*self.service.warnings, *problems])

    async def search_history(self, call: Call) -> Reply:
        """Find commits."""
        started, arguments = time.perf_counter(), call.arguments
        limit = int(arguments["limit"])
        if arguments["path"]:
            path_search.compile_pattern(arguments["path"])

        answers, problems = await gather_answers(
            {served: self._search_commits(served, arguments) for served in await self._projects.kept_fresh(call)}
        )
        reply = history_reply(
            [(partial(self.service.shown_path, served), answer) for served, answer in answers],
            limit, call.budget_characters, [*self.service.warnings, *problems],
            has_authors=arguments["authors"],
        )  # fmt: skip
        return {**reply, "searchTimeMs": round((time.perf_counter() - started) * 1000, 1)}

    async def _search_commits(self, served: ServedIndex, arguments: Mapping[str, Any]) -> "HistoryAnswer":
        place = await served.ask(partial(_history_place, served))
        options = {key: arguments[key] for key in ("since", "until")} | {"limit": int(arguments["limit"])}
        options["path_glob"] = self._projects.glob_within(served, arguments["path"])
        return await asyncio.to_thread(self._histories.search, place, arguments["query"], options)

    async def read_commit(self, call: Call) -> Reply:
        """Return the changes of one commit of the project that the call names."""
        served = await self._only(call)
        place = await served.ask(partial(_history_place, served))
        return await asyncio.to_thread(
            commit_reply, place, call.arguments["commit"], partial(self.service.shown_path, served)
        )

    async def find_references(self, call: Call) -> Reply:
        """Find where a name is defined and used."""
        arguments = call.arguments
        limit, offset = int(arguments["limit"]), int(arguments["offset"])
        if arguments["path"]:
            path_search.compile_pattern(arguments["path"])

        def find(index: ProjectIndex, pending: list[str], served: ServedIndex) -> FoundReferences:
            _require_index(served, index)
            glob = self._projects.glob_within(served, arguments["path"])
            options = ReferenceOptions(arguments["kind"], glob, offset + limit)
            return references_now(index, arguments["name"], options, len(pending))

        projects = await self._projects.kept_fresh(call)
        asked = {served: served.ask_fresh(partial(find, served=served)) for served in projects}
        answers, problems = await gather_answers(asked)
        for served, answer in answers:
            if answer.missing > QUICK_DOCUMENTS and not served.is_running:
                served.start_run()  # which reads the references of the other files
        found = [(partial(self.service.shown_path, served), *answer[:2]) for served, answer in answers]
        problems += [warning for _, _, covered in found for warning in coverage_warnings(covered)]
        return references_reply(found, offset, limit, call.budget_characters, [*self.service.warnings, *problems])

    async def related_files(self, call: Call) -> Reply:
        """List the files around a file."""
        await self._projects.kept_fresh(call)
        served, path = self.service.locate(call.arguments["path"], call.arguments.get("project"))
        limit = int(call.arguments["limit"])
        found = await served.ask_fresh(lambda index, _pending: related_files(index, path, limit))
        if found.unread > QUICK_DOCUMENTS and not served.is_running:
            served.start_run()
        return related_reply(shown_files(found, partial(self.service.shown_path, served)), limit)

    async def explain(self, call: Call) -> Reply:
        """Explain why a file is or is not indexed, and its rank for a query."""
        await self._projects.kept_fresh(call)
        served, path = self.service.locate(call.arguments["path"], call.arguments.get("project"))
        query = call.arguments.get("query")
        found = await served.ask_fresh(lambda index, _pending: explain_file(index, path, query, served.encoder))
        return explanation_reply(*found, partial(self.service.shown_path, served))

    def _pattern_path(self, call: Call, served: ServedIndex) -> Callable[[str], str]:
        """Return how a path is written for the pattern: without the project's name if it is the only one, or is named."""
        name = call.arguments.get("project")
        is_bare = name is not None and not call.arguments["pattern"].startswith(f"{name}/")
        return str if is_bare or not self.service.has_several else partial(self.service.shown_path, served)

    def _qualified(self, call: Call, served: ServedIndex, path: str) -> str:
        return self.service.shown_path(served, path) if self._pattern_path(call, served) is str else path

    # The state of the indexes

    async def get_index_status(self, call: Call) -> Reply:
        """Describe the index of each project."""
        projects = await self._projects.named(call)
        replies = [await served.ask(partial(status_reply, served=served)) for served in projects]
        size = (
            sum([await served.ask(lambda index: index.status().size_bytes) for served in projects])
            if len(projects) > 1
            else 0
        )
        return combined_reply(replies, self.service.warnings, size)

    async def list_projects(self, call: Call) -> Reply:
        """List every project that is indexed on this machine."""
        found = await asyncio.to_thread(list_projects)
        return projects_reply(found, call.budget_characters)

    # Changing the indexes

    async def create_index(self, call: Call) -> Reply:
        """Index the projects that are not being indexed, after a question."""
        projects = await self._projects.kept_fresh(call)
        busy = [served for served in projects if await self._is_busy(served)]
        idle = [served for served in projects if served not in busy]
        if idle and (refusal := await self._ask_to_index(call, idle)):
            return refusal
        runs = {served: served.start_run() for served in idle}
        if runs:
            await follow_runs(call, list(runs.values()), ", ".join(served.name for served in idle))
        replies = [await self._indexing_reply(served, runs.get(served) or _own_run(served)) for served in projects]
        return combined_reply(replies, self.service.warnings)

    async def _ask_to_index(self, call: Call, projects: list[ServedIndex]) -> Reply | None:
        counts = [await served.ask(lambda one: (one.count_files(), one.settings.max_files)) for served in projects]
        over = next(((files, limit) for files, limit in counts if files > limit), None)
        if over is None:
            names = ", ".join(served.name for served in projects)
            question = CREATE_QUESTION.format(count=sum(files for files, _ in counts), name=names)
            return await ask_consent(call, question, needs_argument=False)
        question = user_message("FILE_LIMIT_WARNING", {"count": over[0]})
        refusal = await ask_consent(call, question)
        return refusal and {**refusal, "code": "FILE_LIMIT_WARNING"}

    async def reindex_project(self, call: Call) -> Reply:
        """Build the index of a project again from scratch, after a question."""
        served = await self._only(call)
        await served.ask(partial(_require_index, served))
        if await self._is_busy(served):
            return await self._indexing_reply(served, _own_run(served))
        if refusal := await ask_consent(call, REBUILD_QUESTION):
            return refusal
        run = served.start_run(REBUILD)
        await follow_runs(call, [run], served.name)
        reply = await self._indexing_reply(served, run)
        return {**reply, "message": "Index rebuilt successfully"} if reply["status"] == "success" else reply

    async def _indexing_reply(self, served: ServedIndex, run: IndexingRun | None) -> Reply:
        return await served.ask(lambda index: indexing_reply(index, run))

    async def reindex_file(self, call: Call) -> Reply:
        """Index one file again."""
        await self._projects.kept_fresh(call)
        served, path = self.service.locate(call.arguments["path"], call.arguments.get("project"))
        path, chunks = await served.ask(lambda index: path_search.reindex_file(index, path))
        return {
            "status": "success",
            "path": self.service.shown_path(served, path),
            "chunksCreated": chunks,
            "message": "File re-indexed successfully",
        }

    async def delete_index(self, call: Call) -> Reply:
        """Remove the index of a project, after a question; the project's files stay."""
        served = await self._only(call)
        await served.ask(partial(_require_index, served))
        if refusal := await ask_consent(call, DELETE_QUESTION):
            return refusal
        await served.leave_alone()
        await served.ask(forget)
        return {"status": "success", "projectPath": str(served.root), "message": "Index deleted successfully"}

    # Which project

    async def _only(self, call: Call) -> ServedIndex:
        projects = await self._projects.kept_fresh(call)
        if len(projects) > 1:
            raise UsageError(f"There are several projects. Say which with project: {self.service.names()}.")
        return projects[0]

    async def _is_busy(self, served: ServedIndex) -> bool:
        is_updated = await served.ask(lambda index: index.is_being_updated() and index.exists)
        return is_updated or served.progress(View.PROJECT) is not None


def _own_run(served: ServedIndex) -> IndexingRun | None:
    return served.run if served.is_running else None


def _require_docs(served: ServedIndex, index: ProjectIndex) -> None:
    if not index.settings.index_docs:
        raise _no_docs(index, "indexDocs is false.")
    if not index.exists and not served.is_making(index):
        raise _no_docs(index, "Call create_index.")


def _no_docs(index: ProjectIndex, why: str) -> CatalogError:
    return CatalogError("DOCS_INDEX_NOT_FOUND", index=shown_folder(index.folder), detail=why)


def _require_index(served: ServedIndex, index: ProjectIndex) -> None:
    if not index.exists and not served.is_making(index):
        _ = index.store  # raises NotIndexed


def _history_place(served: ServedIndex, index: ProjectIndex) -> HistoryPlace:
    _require_index(served, index)
    return HistoryPlace(index.root, index.folder, index.settings)


def forget(index: ProjectIndex) -> None:
    """Close an index and remove it."""
    index.close()
    forget_project(index.root)
