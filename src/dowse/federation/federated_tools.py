"""The federated surface: `search` and `fetch` over all sources of a server, and their status."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import date
from importlib import import_module
from typing import TYPE_CHECKING

from dowse.error_catalog import is_absolute
from dowse.errors import CatalogError, ItemNotFound, UsageError
from dowse.mcp.replies import Reply, wire_characters
from dowse.mcp.schemas import INTEGER, LIST, OBJECT, TEXT, TEXTS, describe, item, query, reply
from dowse.mcp.tools import Call, Schema, Tool
from dowse.visible_text import one_line

if TYPE_CHECKING:
    from dowse.federation.source_list import SourceList

MAX_RESULTS = 50
MAX_EXCLUDED = 500
"""Maximum number of ids to exclude; each source is asked for that many more items."""
STATUS_TOOL = "get_index_status"

INSTRUCTIONS = "search covers everything that is served here, and fetch returns a whole result by its id."

ProjectStatus = Callable[[Call], Awaitable[Reply]]


class FederatedSurface:
    """The tools over all sources of a server."""

    def __init__(self, sources: "SourceList") -> None:
        self._sources = sources
        self.tools: tuple[Tool, ...] = (
            Tool(
                "search", "Search everything",
                "Search code, documents, sites, archives and notes at once; fetch reads a result",
                self.answer_search, _FOUND, _SEARCH, ("query",),
            ),
            Tool("fetch", "Fetch", "Read a whole result of search", self.fetch, _FETCHED, _FETCH, ("id",)),
        )  # fmt: skip
        self.status_tool = Tool(STATUS_TOOL, "Index status", "Show what is indexed and how fresh", self.status, _STATUS)
        """The status tool of a server that offers no project tools."""

    async def prepare(self) -> None:
        """Load what the first search needs beside its sources."""
        await asyncio.to_thread(import_module, "dowse.federation.federated_search")

    async def answer_search(self, call: Call) -> Reply:
        """Search all sources."""
        # These import NumPy and more, which a client should not wait for before its handshake.
        from dowse.federation.federated_search import search_all, search_reply
        from dowse.federation.federation_types import SourceQuery
        from dowse.searching.query_terms import parse_search_query
        from dowse.surfaces.project.path_search import compile_pattern

        arguments, started = call.arguments, time.perf_counter()
        if arguments["path"]:
            compile_pattern(arguments["path"].lstrip("/"))
        held = arguments["exclude"] or ()
        if len(held) > MAX_EXCLUDED:
            raise UsageError(f"exclude has {len(held):,} ids; the maximum is {MAX_EXCLUDED}. Narrow the query.")
        since, until = (_parse_day(name, arguments[name]) for name in ("since", "until"))
        parsed, limit = parse_search_query(arguments["query"]), int(arguments["limit"])
        query = SourceQuery(parsed, limit, arguments["path"], arguments["language"], since, until)
        found = await search_all(self._sources, call, query, arguments["source"], held)
        reply = search_reply(found, limit, call.budget_characters)
        reply["metadata"]["searchTimeMs"] = round((time.perf_counter() - started) * 1000, 1)
        return reply

    async def fetch(self, call: Call) -> Reply:
        """Read one item whole."""
        from dowse.federation.federated_search import fetch_one, fetch_reply

        item_id = call.arguments["id"]
        try:
            source, item = await fetch_one(self._sources, call, item_id)
        except ItemNotFound as error:
            shown = _shown_id(item_id)
            raise UsageError(f"id: '{shown}' was not found: {error}. Use an id from search.") from error
        return fetch_reply(item_id, source, item, int(call.arguments["offset"]), call.budget_characters)

    async def status(self, call: Call, project_status: ProjectStatus | None = None) -> Reply:
        """Describe every source; with the projects' own status, if it is given, as the main part of the reply."""
        from dowse.federation.federated_search import source_statuses, sources_reply, status_reply

        of_projects: Reply | None = None
        if project_status is not None:
            try:
                of_projects = await project_status(call)
            except CatalogError as error:
                if error.code != "PROJECT_NOT_DETECTED":
                    raise
        statuses = await source_statuses(self._sources, call)
        if of_projects is None:
            return status_reply(statuses, call.budget_characters)
        return {**of_projects, **sources_reply(statuses, call.budget_characters - wire_characters(of_projects))}


def _shown_id(item_id: str) -> str:
    """Return an id as an error repeats it: on one line, and without a path of this machine."""
    text = one_line(item_id, 100)
    return text.replace("\\", "/").rstrip("/").rpartition("/")[2] if is_absolute(text) else text


def _parse_day(name: str, given: str | None) -> date | None:
    if given is None:
        return None
    try:
        return date.fromisoformat(given.strip()[:10])
    except ValueError as error:
        raise UsageError(f"{name} has to be a day such as 2025-01-31, not '{given[:40]}'.") from error


_SEARCH: dict[str, Schema] = {
    "query": query('Words, +must, -not, "a phrase"'),
    "source": describe(TEXT, "A source, or project, documents, site, archive, index"),
    "path": describe(TEXT, "Glob: src/**/*.py"),
    "language": describe(TEXT, "Such as python"),
    "since": describe(TEXT, "YYYY-MM-DD"),
    "until": describe(TEXT, "YYYY-MM-DD"),
    "limit": {**INTEGER, "default": 10, "minimum": 1, "maximum": MAX_RESULTS},
    "exclude": describe(TEXTS, "Ids to leave out"),
}
_FETCH: dict[str, Schema] = {
    "id": describe(TEXT, "From search", minLength=1),
    "offset": {**describe(INTEGER, "Characters to skip"), "default": 0, "minimum": 0},
}
_FOUND = reply(
    ("results",),
    results={"type": "array", "items": item(("id", "title", "url"), id=TEXT, title=TEXT, url=TEXT)},
    metadata=OBJECT,
)
_FETCHED = reply(("id", "text"), id=TEXT, title=TEXT, text=TEXT, url=TEXT, metadata=OBJECT)
SOURCES: dict[str, Schema] = {"sources": LIST}
"""The part of the status reply that is not about the projects."""
_STATUS = reply(("status",), status=TEXT, **SOURCES)
