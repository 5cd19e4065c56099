"""The federated surface: `search` and `fetch` over everything that is served, and how it all stands."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from dowse.error_catalog import is_absolute
from dowse.errors import CatalogError, UsageError
from dowse.mcp.schemas import TEXT, TEXTS, described, item, reply
from dowse.mcp.tools import Call, Schema, Tool

if TYPE_CHECKING:
    from dowse.federation.source_list import SourceList

MOST_RESULTS = 50
MOST_HELD = 500
"""Ids that a caller may hold at once: so many more are asked of each source."""
STATUS = "get_index_status"

INSTRUCTIONS = "search asks everything that is served here at once, and fetch reads what it found, whole, by its id."

Status = Callable[[Call], Awaitable[dict[str, Any]]]


class FederatedSurface:
    """The tools over all sources of a server."""

    def __init__(self, holdings: "SourceList") -> None:
        self._holdings = holdings
        self.tools: tuple[Tool, ...] = (
            Tool(
                "search", "Search everything",
                "Search code, documents, sites, archives and notes at once; fetch reads a result",
                self.search, _FOUND, _SEARCH, ("query",),
            ),
            Tool("fetch", "Fetch", "Read a result of search, whole", self.fetch, _FETCHED, _FETCH, ("id",)),
        )  # fmt: skip
        self.status_tool = Tool(STATUS, "Index status", "What is indexed, how fresh", self.status, _STATUS)
        """The status where no project's own tool has that name."""

    async def search(self, call: Call) -> dict[str, Any]:
        """Everything that answers, in one order."""
        # With it come NumPy and more, which no client should wait for before it was greeted.
        from dowse.federation.federated_replies import found
        from dowse.federation.federated_search import FederatedQuery, search_all
        from dowse.federation.federation_types import SourceQuery
        from dowse.surfaces.project.path_search import compiled

        given, started = call.arguments, time.perf_counter()
        if given["path"]:
            compiled(given["path"].lstrip("/"))
        held = tuple(given["exclude"] or ())
        if len(held) > MOST_HELD:
            raise UsageError(f"exclude holds {len(held):,} ids; {MOST_HELD} are the most. Ask something narrower.")
        since, until = (_day(name, given[name]) for name in ("since", "until"))
        wanted = SourceQuery(given["query"], int(given["limit"]), given["path"], given["language"], since, until)
        asked = FederatedQuery(wanted, given["source"], held)
        answer = found(await search_all(self._holdings, call, asked), asked, call.budget_characters)
        answer["metadata"]["searchTimeMs"] = round((time.perf_counter() - started) * 1000, 1)
        return answer

    async def fetch(self, call: Call) -> dict[str, Any]:
        """One thing, whole."""
        from dowse.errors import ItemNotFound
        from dowse.federation.federated_replies import fetched
        from dowse.federation.federated_search import fetch_one

        given = call.arguments["id"]
        try:
            member, whole = await fetch_one(self._holdings, call, given)
        except ItemNotFound as error:
            raise UsageError(f"id: '{_shown(given)}' leads to nothing: {error}. Use an id that search gave.") from error
        return fetched(given, member, whole, int(call.arguments["offset"]), call.budget_characters)

    async def status(self, call: Call, of_projects: Status | None = None) -> dict[str, Any]:
        """How every source stands; of projects as their own tool tells it."""
        from dowse.federation.federated_replies import listed, overview
        from dowse.federation.federated_search import standings
        from dowse.mcp.tools import wire_characters

        told: dict[str, Any] | None = None
        if of_projects is not None:
            try:
                told = await of_projects(call)
            except CatalogError as error:
                if error.code != "PROJECT_NOT_DETECTED":
                    raise
        each = await standings(self._holdings, call)
        if told is None:
            return overview(each, call.budget_characters)
        return {**told, **listed(each, call.budget_characters - wire_characters(told))}

    def with_sources(self, tool: Tool) -> Tool:
        """The projects' own status with all sources beside it."""

        async def run(call: Call) -> dict[str, Any]:
            async def of_projects(asked: Call) -> dict[str, Any]:
                told = await tool.run(asked)
                return told if isinstance(told, dict) else told.content

            return await self.status(call, of_projects)

        properties = {**tool.output["properties"], "sources": _LIST}
        return replace(tool, run=run, output={**tool.output, "properties": properties})


def _shown(given: str) -> str:
    """An id as an error repeats it: on a line, and no path of a machine."""
    from dowse.surfaces.documents.document_replies import on_one_line

    text = on_one_line(given, 100)
    return text.replace("\\", "/").rstrip("/").rpartition("/")[2] if is_absolute(text) else text


def _day(name: str, given: str | None) -> date | None:
    if given is None:
        return None
    try:
        return date.fromisoformat(given.strip()[:10])
    except ValueError as error:
        raise UsageError(f"{name} has to be a day such as 2025-01-31, not '{given[:40]}'.") from error


_LIST: Schema = {"type": "array"}
_OBJECT: Schema = {"type": "object"}
_WHOLE: Schema = {"type": "integer"}
_SEARCH: dict[str, Schema] = {
    "query": described(TEXT, 'Words, +must, -not, "a phrase"', minLength=1, maxLength=10_000),
    "source": described(TEXT, "A source, or project, documents, site, archive, index"),
    "path": described(TEXT, "Glob: src/**/*.py"),
    "language": described(TEXT, "Such as python"),
    "since": described(TEXT, "YYYY-MM-DD"),
    "until": described(TEXT, "YYYY-MM-DD"),
    "limit": {**_WHOLE, "default": 10, "minimum": 1, "maximum": MOST_RESULTS},
    "exclude": described(TEXTS, "Ids you hold"),
}
_FETCH: dict[str, Schema] = {
    "id": described(TEXT, "From search", minLength=1),
    "offset": {**described(_WHOLE, "Characters to skip"), "default": 0, "minimum": 0},
}
_FOUND = reply(
    ("results",),
    results={"type": "array", "items": item(("id", "title", "url"), id=TEXT, title=TEXT, url=TEXT)},
    metadata=_OBJECT,
)
_FETCHED = reply(("id", "text"), id=TEXT, title=TEXT, text=TEXT, url=TEXT, metadata=_OBJECT)
_STATUS = reply(("status",), status=TEXT, sources=_LIST)
