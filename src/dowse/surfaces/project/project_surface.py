"""The project surface: the eight tools over indexed code and documents, and the list of all projects."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from dowse.error_catalog import user_message
from dowse.errors import CatalogError, DowseError, UsageError
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_errors import shown_folder
from dowse.indexes.project_lookup import forget_project, list_projects
from dowse.indexes.project_search import Coverage, answer_now, coverage
from dowse.keeping.indexing_run import REBUILD, IndexingRun
from dowse.keeping.service import ServedIndex, Service
from dowse.mcp.schemas import TEXT, described
from dowse.mcp.tools import Call, Tool
from dowse.searching.search import Answer, SearchOptions
from dowse.settings import load_settings
from dowse.store import storage_layout
from dowse.surfaces.project import path_search, project_replies
from dowse.surfaces.project.progress import follow
from dowse.surfaces.project.project_tools import offered_tools
from dowse.surfaces.root_detection import find_roots, take_client_roots
from dowse.types import KINDS, Kind

Got = TypeVar("Got")

INSTRUCTIONS = (
    "Searches the code and documentation of the project on this machine. Ask search_code or search_docs before "
    "reading whole files; search_by_path finds files by name. create_index comes first, once. Replies say when the "
    "index is not complete."
)

HINTS = {
    "search_code": " using natural language. **TIP:** Prefer this over reading full files when looking for specific "
    "functions, patterns, or implementations.",
    "search_docs": ". **TIP:** For follow-up questions about a doc already in context, use this tool instead of "
    "re-reading the entire file - more precise results, less context usage.",
}

REBUILD_QUESTION = "This will rebuild the entire index. Continue?"
DELETE_QUESTION = "Delete the index for this project? This cannot be undone."
CREATE_QUESTION = "Index {count} files of {name}?"
SAY_YES = "Nothing was changed. To say yes, call again with confirm: true."


class ProjectSurface:
    """The tools over the projects of a service."""

    def __init__(self, service: Service, start: Path) -> None:
        self.service = service
        self._start = start
        """Where a root is looked for when none was named."""

    async def tools(self, client: Call) -> list[Tool]:
        """What is offered, with descriptions as the settings want them."""
        if not self.service.projects:
            await take_client_roots(self.service, client)
        listed = offered_tools(self, HINTS if self._wants_hints() else {})
        return [self._with_project_argument(tool) for tool in listed]

    # Searching

    async def search(self, call: Call, kind: Kind) -> dict[str, Any]:
        """Hits of one kind, over the project that is meant or all of them."""
        started, given = time.perf_counter(), call.arguments
        limit, offset = int(given["top_k"]), int(given["offset"])
        options = SearchOptions(
            offset + limit + 1, kind, None, given["language"], sys.maxsize, given["mode"], given["alpha"]
        )
        if given["path"]:
            path_search.compiled(given["path"])
        chosen = await self._chosen(call)
        asked = {served: replace(options, path_glob=self._glob_within(served, given["path"])) for served in chosen}
        found, silent = await _of_each(chosen, lambda served: served.do(_ask, served, given["query"], asked[served]))
        pages = [
            project_replies.ProjectAnswer(answer, covered, partial(self.service.shown, served), warnings, left)
            for served, (answer, covered, warnings, left) in found
        ]
        reply = project_replies.hits(pages, offset, limit, call.budget_characters, [*self.service.warnings, *silent])
        return {**reply, "searchTimeMs": round((time.perf_counter() - started) * 1000, 1)}

    async def search_by_path(self, call: Call) -> dict[str, Any]:
        """Files by a glob."""
        pattern, limit, offset = call.arguments["pattern"], int(call.arguments["limit"]), int(call.arguments["offset"])
        expression = path_search.compiled(pattern)
        chosen = await self._chosen(call)
        found, silent = await _of_each(
            chosen,
            lambda served: served.do(path_search.matches, served.catch_up, expression, self._shown_to(call, served)),
        )
        every = sorted(self._qualified(call, served, path) for served, (paths, _, _) in found for path in paths)
        reply = project_replies.paths(every, offset, limit, call.budget_characters, [*self.service.warnings, *silent])
        left = [self.service.shown(served, path) for served, (_, paths, _) in found for path in paths]
        known = project_replies.known([covered for _, (_, _, covered) in found], left)
        return (
            {**reply, **known} if every else {**reply, **known, **project_replies.hint(path_search.hint_for(pattern))}
        )

    def _shown_to(self, call: Call, served: ServedIndex) -> Callable[[str], str]:
        """A path as the pattern of a call sees it: that of one project alone, if the call names one."""
        name = call.arguments.get("project")
        is_bare = name is not None and not call.arguments["pattern"].startswith(f"{name}/")
        return str if is_bare else partial(self.service.shown, served)

    def _qualified(self, call: Call, served: ServedIndex, path: str) -> str:
        return self.service.shown(served, path) if self._shown_to(call, served) is str else path

    # What is there

    async def get_index_status(self, call: Call) -> dict[str, Any]:
        """The state of the index, or of each."""
        chosen = await self._chosen(call)
        each = [await served.do(project_replies.status, served.run, served.watch) for served in chosen]
        size = sum([await served.do(_size) for served in chosen]) if len(chosen) > 1 else 0
        return project_replies.of_all(each, self.service.warnings, size)

    async def list_projects(self, call: Call) -> dict[str, Any]:
        """Every project that is indexed on this machine."""
        return project_replies.projects(await asyncio.to_thread(list_projects), call.budget_characters)

    # Changing it

    async def create_index(self, call: Call) -> dict[str, Any]:
        """Index what is not indexed, after a question."""
        chosen = await self._chosen(call)
        busy = [served for served in chosen if await self._is_busy(served)]
        idle = [served for served in chosen if served not in busy]
        if idle:
            counts = [await served.do(_count) for served in idle]
            total = sum(files for files, _ in counts)
            over = next(((files, limit) for files, limit in counts if files > limit), None)
            question = CREATE_QUESTION.format(count=total, name=", ".join(served.name for served in idle))
            if over:
                question = user_message("FILE_LIMIT_WARNING", {"count": over[0]})
            if refused := await self._refused(call, question, needs_word=over is not None):
                code = {"code": "FILE_LIMIT_WARNING"} if over else {}
                return {**refused, **code}
        runs = {served: served.start_run() for served in idle}
        if runs:
            await follow(call, list(runs.values()), ", ".join(served.name for served in idle))
        each = [await served.do(project_replies.indexed, runs.get(served) or _own_run(served)) for served in chosen]
        return project_replies.of_all(each, self.service.warnings)

    async def reindex_project(self, call: Call) -> dict[str, Any]:
        """Throw the index away and build it again, after a question."""
        served = await self._only(call)
        await served.do(_require_index)
        if await self._is_busy(served):
            return await served.do(project_replies.indexed, _own_run(served))
        if refused := await self._refused(call, REBUILD_QUESTION, needs_word=True):
            return refused
        run = served.start_run(REBUILD)
        await follow(call, [run], served.name)
        done = await served.do(project_replies.indexed, run)
        return {**done, "message": "Index rebuilt successfully"} if done["status"] == "success" else done

    async def reindex_file(self, call: Call) -> dict[str, Any]:
        """Bring one file up to date."""
        await self._chosen(call)
        served, path = self.service.place(call.arguments["path"], call.arguments.get("project"))
        path, chunks = await served.do(path_search.reindexed, path)
        return {
            "status": "success",
            "path": self.service.shown(served, path),
            "chunksCreated": chunks,
            "message": "File re-indexed successfully",
        }

    async def delete_index(self, call: Call) -> dict[str, Any]:
        """Remove the index, after a question; the project's files stay."""
        served = await self._only(call)
        await served.do(_require_index)
        if refused := await self._refused(call, DELETE_QUESTION, needs_word=True):
            return refused
        await served.leave_alone()
        await served.do(_forget)
        return {"status": "success", "projectPath": str(served.root), "message": "Index deleted successfully"}

    # Which project, and whether

    async def _chosen(self, call: Call) -> list[ServedIndex]:
        """The project that the call names, or all of them."""
        if not self.service.projects:
            await find_roots(self.service, call, self._start)
        for served in self.service.projects:
            served.keep_fresh()
        name = call.arguments.get("project")
        return [self.service.named(name)] if name else list(self.service.projects)

    async def _only(self, call: Call) -> ServedIndex:
        chosen = await self._chosen(call)
        if len(chosen) > 1:
            raise UsageError(f"There are several projects. Say which with project: {self.service.names()}.")
        return chosen[0]

    async def _is_busy(self, served: ServedIndex) -> bool:
        return served.is_running or await served.do(ProjectIndex.is_being_updated)

    async def _refused(self, call: Call, question: str, *, needs_word: bool) -> dict[str, Any] | None:
        """The reply to give when nobody said yes."""
        if call.can_ask:
            return {"status": "cancelled"} if await call.ask("confirm", question) is None else None
        if needs_word and not call.arguments["confirm"]:
            return {"status": "cancelled", "question": question, "message": SAY_YES}
        return None

    def _glob_within(self, served: ServedIndex, glob: str | None) -> str | None:
        """A glob as one project understands it: with several it may begin with the name of one."""
        if not glob:
            return None
        bare = path_search.relative(glob)
        return bare.removeprefix(f"{served.name}/") if self.service.has_several else bare

    def _wants_hints(self) -> bool:
        files = [storage_layout.global_config()]
        if self.service.projects:
            files.append(storage_layout.index_folder(self.service.projects[0].root) / "config.json")
        return load_settings(files[0], files[-1])[0].enhanced_tool_descriptions

    def _with_project_argument(self, tool: Tool) -> Tool:
        if not self.service.has_several or tool.name == "list_projects":
            return tool
        names = [served.name for served in self.service.projects]
        project = described(TEXT, "Which project; all where that makes sense", enum=names)
        return Tool(**{**_fields(tool), "arguments": {**tool.arguments, "project": project}})


def _fields(tool: Tool) -> dict[str, Any]:
    return {name: getattr(tool, name) for name in tool.__slots__}


def _own_run(served: ServedIndex) -> IndexingRun | None:
    return served.run if served.is_running else None


async def _of_each(
    chosen: Sequence[ServedIndex], work: Callable[[ServedIndex], Awaitable[Got]]
) -> tuple[list[tuple[ServedIndex, Got]], list[str]]:
    """What each project has to say, and why the others say nothing; an error where all do."""
    said = await asyncio.gather(*map(work, chosen), return_exceptions=True)
    errors = [one for one in said if isinstance(one, BaseException)]
    if errors and (len(errors) == len(said) or not all(isinstance(error, DowseError) for error in errors)):
        raise errors[0]
    pairs = list(zip(chosen, said, strict=True))
    silent = [f"{served.name} is left out: {error}" for served, error in pairs if isinstance(error, BaseException)]
    return [(served, one) for served, one in pairs if not isinstance(one, BaseException)], silent


def _ask(
    project: ProjectIndex, served: ServedIndex, text: str, options: SearchOptions
) -> tuple[Answer, Coverage, list[str], list[str]]:
    left = served.catch_up(project)
    if options.kind == "docs":
        _require_docs(project)
    _require_index(project)
    try:
        answer = answer_now(project, text, options, served.encoder)
    except UsageError as error:
        if project.exists:
            raise
        raise CatalogError("INDEX_BUSY", detail=str(error)) from error  # begun, and nothing is there yet
    if served.encoder:
        served.encoder.front(project.root, [hit.path for hit in answer.hits])
    covered = coverage(project, len(left))
    if options.kind == "docs" and covered.is_complete and not project.store.totals("docs").documents:
        raise _no_docs(project, "The project has no documents.")
    return answer, covered, [*project.warnings, *_language_note(project, options.language)], left


def _language_note(project: ProjectIndex, language: str | None) -> list[str]:
    known = {name for kind in KINDS for name in project.store.totals(kind).languages}
    if language is None or language.lower() in known:
        return []
    return [f"Nothing here is in the language '{language}'. There is: {', '.join(sorted(known))}."]


def _require_docs(project: ProjectIndex) -> None:
    if not project.settings.index_docs:
        raise _no_docs(project, "indexDocs is false.")
    if not project.exists and not project.is_being_updated():
        raise _no_docs(project, "Call create_index.")


def _no_docs(project: ProjectIndex, why: str) -> CatalogError:
    return CatalogError("DOCS_INDEX_NOT_FOUND", index=shown_folder(project.folder), detail=why)


def _require_index(project: ProjectIndex) -> None:
    if not project.exists and not project.is_being_updated():
        _ = project.store  # says so


def _count(project: ProjectIndex) -> tuple[int, int]:
    return project.count_files(), project.settings.max_files


def _size(project: ProjectIndex) -> int:
    return project.status().size_bytes


def _forget(project: ProjectIndex) -> None:
    project.close()
    forget_project(project.root)
