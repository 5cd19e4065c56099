"""The project tools over a place: many projects, searched at once where they are kept. Nothing here can write."""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dowse.indexes.index_status import format_size
from dowse.indexes.project_search import ExactQuery
from dowse.mcp.replies import ENVELOPE_CHARACTERS, Reply, fit_items, present
from dowse.mcp.schemas import TEXT, describe
from dowse.mcp.tools import Call, tools_of
from dowse.places.place_rows import PublishedProject
from dowse.places.place_store import PlaceStore
from dowse.places.place_table import SharedPlace
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions
from dowse.surfaces.organisation.place_search import coverage_of, find_paths, find_text, search_place
from dowse.surfaces.project import path_search, shared_tools
from dowse.surfaces.project.project_replies import ProjectAnswer, occurrences_reply, paths_reply, search_reply
from dowse.types import Kind

if TYPE_CHECKING:
    from dowse.keeping.encoding_worker.model_pool import ModelPool

INSTRUCTIONS = (
    "Searches the published code and documentation of many projects. Paths begin with the name of their project. Ask "
    "search_code or search_docs; search_by_path finds files by name, find_text lists every occurrence of a text, and "
    "list_projects says which projects and commits there are. fetch reads a whole file."
)
FIND_SECONDS = 5.0
"""How long a place is searched for a text; the reply says if that was not enough."""


class PlaceSurface:
    """The project tools that only read, over the projects of a place."""

    def __init__(self, place: SharedPlace, projects: Sequence[str] = (), encoder: "ModelPool | None" = None) -> None:
        """Open the place on another thread: importing LanceDB takes a second, for which no handshake should wait."""
        self.place, self.encoder, self._names = place, encoder, tuple(projects)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="opens a place")
        self._opening = self._thread.submit(self._open)
        project = {"project": describe(TEXT, "Project name; without it, all projects")}
        self.tools = tuple(
            replace(tool, arguments={**tool.arguments, **project}) if tool.arguments else tool
            for tool in tools_of(self)
        )

    def _open(self) -> PlaceStore:
        return PlaceStore(self.place, self._names)

    @property
    def store(self) -> PlaceStore:
        """The open place. One that could not be opened is tried again."""
        if self._opening.done() and self._opening.exception():
            self._opening = self._thread.submit(self._open)
        return self._opening.result()

    def _chosen(self, call: Call) -> PlaceStore:
        self.store.refresh()
        name = call.arguments.get("project")
        return self.store.narrowed([name]) if name else self.store

    @shared_tools.search_code
    async def search_code(self, call: Call) -> Reply:
        """Search the code of all projects"""
        return await self._search(call, "code")

    @shared_tools.search_docs
    async def search_docs(self, call: Call) -> Reply:
        """Search the documentation of all projects (.md, .txt)"""
        return await self._search(call, "docs")

    async def _search(self, call: Call, kind: Kind) -> Reply:
        started, arguments = time.perf_counter(), call.arguments
        options, query = path_search.search_options(arguments, kind), parse_search_query(arguments["query"])

        def find() -> Reply:
            store = self._chosen(call)
            answer = search_place(store, query, options, self.encoder)
            found = ProjectAnswer(answer, coverage_of(store), str, store.warnings, (), options.detail)
            reply = search_reply([found], arguments["offset"], arguments["top_k"], call.budget_characters)
            return reply | present(commits=commits_of(store, [hit["path"] for hit in reply["results"]]))

        reply = await asyncio.to_thread(find)
        return {**reply, "searchTimeMs": round((time.perf_counter() - started) * 1000, 1)}

    @shared_tools.search_by_path
    async def search_by_path(self, call: Call) -> Reply:
        """Find indexed files whose path matches a glob pattern"""
        arguments = call.arguments
        pattern = path_search.relative_pattern(arguments["pattern"])
        paths = await asyncio.to_thread(lambda: find_paths(self._chosen(call), pattern))
        reply = paths_reply(paths, arguments["offset"], arguments["limit"], call.budget_characters)
        return reply | present(hint="" if paths else path_search.suggest_pattern(pattern))

    @shared_tools.find_text
    async def find_text(self, call: Call) -> Reply:
        """Find every line with an exact text or regular expression, with a complete count; prefer it to grep"""
        arguments = call.arguments
        limit, offset = arguments["limit"], arguments["offset"]
        glob = path_search.relative_pattern(arguments["path"]) if arguments["path"] else None
        query = ExactQuery(
            arguments["text"], SearchOptions(limit, path_glob=glob), FIND_SECONDS, arguments["regex"], offset
        )
        query.matcher()
        try:
            found, store = await asyncio.to_thread(lambda: (find_text(store := self._chosen(call), query), store))
        except asyncio.CancelledError:
            query.stopped.set()
            raise
        return occurrences_reply(
            [(str, found, coverage_of(store))], offset, limit, call.budget_characters, store.warnings
        )

    @shared_tools.get_index_status
    async def get_index_status(self, call: Call) -> Reply:  # noqa: ARG002 - it takes no arguments
        """Show what is published here"""
        return await asyncio.to_thread(lambda: status_reply(self.store))

    @shared_tools.list_projects
    async def list_projects(self, call: Call) -> Reply:
        """List every project that is published here, with its commit"""
        return await asyncio.to_thread(lambda: projects_reply(self.store, call.budget_characters))

    def close(self) -> None:
        """End all questions to the place."""
        if self.encoder:
            self.encoder.stop()
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._opening.done() and not self._opening.cancelled() and not self._opening.exception():
            self._opening.result().close()


def commits_of(store: PlaceStore, paths: list[str]) -> dict[str, str]:
    """Return the commits that some paths are from, by project."""
    projects = {project.name: project.commit for project in store.projects()}
    if not store.has_several:
        return projects
    return {name: projects[name] for path in paths if (name := path.partition("/")[0]) in projects}


def status_reply(store: PlaceStore) -> Reply:
    """Return what a place has."""
    store.refresh()
    projects = store.projects()
    return {
        "status": "ready",
        "projectPath": store.place.name,
        "totalProjects": len(projects),
        "totalFiles": sum(project.files for project in projects),
        "totalChunks": sum(project.chunks for project in projects),
        "lastUpdated": max((project.published for project in projects), default=None),
        "storageSize": format_size(store.size_bytes()),
        "watcherActive": False,
        **present(warnings=store.warnings),
    }


def projects_reply(store: PlaceStore, budget: int) -> Reply:
    """Return the projects of a place, as many as fit."""
    store.refresh()
    projects = store.projects()
    shown = fit_items(map(project_reply, projects), budget - ENVELOPE_CHARACTERS)
    cut = "" if len(shown) == len(projects) else "The budget is spent. dowse projects --store lists all."
    return {"projects": shown, "totalProjects": len(projects), **present(truncated=cut)}


def project_reply(project: PublishedProject) -> dict[str, Any]:
    """Return one project of a place."""
    return {
        "projectPath": project.name, "commit": project.commit, "lastUpdated": project.published,
        "totalFiles": project.files, "totalChunks": project.chunks,
    }  # fmt: skip
