"""The archive surface: the tools that search research archives and their citations."""

import asyncio
import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from dowse.archives.archive_database import ArchiveDatabase, open_database
from dowse.archives.archive_locations import ArchiveLocations
from dowse.archives.archive_replies import (
    broken_reply,
    citations_reply,
    most_cited_reply,
    search_reply,
)
from dowse.archives.archive_search import search_archives
from dowse.archives.archive_watcher import run_lock
from dowse.archives.direct_archive import DirectArchive
from dowse.archives.reply_screening import screen_reply
from dowse.errors import CatalogError, DowseError, NotIndexed, UsageError
from dowse.indexes.masking_setting import masks_secrets
from dowse.mcp.reply_budget import wire_characters
from dowse.mcp.schemas import FLAG, NUMBER, SCREENING, TEXT, TEXTS, describe, item, reply
from dowse.mcp.tools import Call, ProseReply, Schema, Tool
from dowse.platform import refusal_to_write
from dowse.surfaces.archives.archive_reply_fitting import fit_search_reply

FAILURE = "Failed to search local archives: "
MAX_QUERY_CHARACTERS = 10_000
"""Longer queries are cut to this length."""
FIRST_INDEX_SECONDS = 20.0
"""Maximum time that a call that needs citations waits for the first indexing; clients give up after 60 s."""
FIRST_SEARCH_SECONDS = 1.0
"""Maximum time that a search waits for the first indexing; then it reads the files itself."""
MAX_DIRECT = 8
"""Searches of files that are not indexed yet whose results can still be shown."""
FIRST_INDEX_CHECK_SECONDS = 0.05
STOP_SECONDS = 2.0
"""Maximum time that the indexing process may take to end before it is killed."""

INSTRUCTIONS = (
    "searchLocalArchives searches the research reports and captured web pages kept on this machine; "
    "includeCitations shows what cites what."
)


GraphQuery = Callable[[ArchiveDatabase, Any], dict[str, Any]]


class ArchiveSurface:
    """The tools over the archives. A process of its own indexes them from the first call on, and follows changes."""

    def __init__(self, locations: ArchiveLocations, *, keeps_fresh: bool = True) -> None:
        self.locations = locations
        self._keeps_fresh = keeps_fresh
        self._worker: subprocess.Popen[bytes] | None = None
        self._database: ArchiveDatabase | None = None
        self._direct: list[DirectArchive] = []
        """The files that the last searches read, because they were not indexed yet."""
        self._lock = threading.Lock()
        self._is_closed = False
        """The server has ended; a thread that still prepares the first search starts no process any more."""
        self.tools = _tools(self)

    def start(self) -> None:
        """Start the process that indexes. A server calls this when it starts; otherwise the first search does."""
        with self._lock:
            if self._keeps_fresh and self._worker is None and not self._is_closed:
                paths = (self.locations.research, self.locations.url_content, self.locations.database)
                # -P keeps the working directory, which may be an untrusted project, out of the import path.
                command = [sys.executable, "-P", "-m", "dowse.archives.archive_worker", *map(str, paths)]
                nothing = subprocess.DEVNULL
                with contextlib.suppress(OSError):  # no process can be started now; the next call tries again
                    self._worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing)  # noqa: S603 - our own program

    def close(self) -> None:
        """Stop indexing and close the database."""
        with self._lock:
            self._is_closed = True
            worker, self._worker = self._worker, None
            database, self._database = self._database, None
            direct, self._direct = self._direct, []
        for searched in direct:
            searched.close()
        if worker:
            with contextlib.suppress(OSError):
                if worker.stdin:
                    worker.stdin.close()
            try:
                worker.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        if database:
            database.close()

    def is_indexing(self) -> bool:
        """Return whether any process is indexing; False where that is unknown."""
        try:
            return run_lock(self.locations).is_taken()
        except OSError:
            return False

    def warnings(self) -> list[str]:
        """Return why documents may be missing: an archive does not exist, or the database cannot be written."""
        warnings = [*self.locations.missing(shows_paths=False).values()]
        if self._keeps_fresh and (refusal := refusal_to_write(self.locations.database)):
            warnings.append(f"The archives could not be checked for changes: {_PUBLIC_MESSAGES[refusal.code]}")
        return warnings

    def database(self) -> ArchiveDatabase:
        """Return the database, after the first indexing where necessary. Raise NotIndexed where there is nothing to index."""
        if (database := self._wait_for_index(FIRST_INDEX_SECONDS)) is None:
            raise NotIndexed("The archives are being indexed for the first time. Try again in a moment.")
        return database

    def search_database(self, query: str, *, needs_citations: bool = False) -> tuple[ArchiveDatabase, list[str]]:
        """Return the database to search, and warnings; until the first indexing has ended, one of the files as they are."""
        seconds = FIRST_INDEX_SECONDS if needs_citations else FIRST_SEARCH_SECONDS
        if (database := self._wait_for_index(seconds)) is not None:
            return database, self.warnings()
        direct = DirectArchive(self.locations, query)
        with self._lock:
            self._direct.append(direct)  # its passages are read later
            outdated, self._direct = self._direct[:-MAX_DIRECT], self._direct[-MAX_DIRECT:]
        for earlier in outdated:
            earlier.close()
        return direct.database, [direct.warning, *self.warnings()]

    def _wait_for_index(self, seconds: float) -> ArchiveDatabase | None:
        """Return the database; None while it is being made, after waiting."""
        self.start()
        deadline = time.monotonic() + seconds
        while (database := self.indexed_database()) is None:
            is_coming = self._worker is not None and self._worker.poll() is None and bool(self.locations.present)
            if not is_coming:
                return self._opened()
            if time.monotonic() >= deadline:
                return None
            time.sleep(FIRST_INDEX_CHECK_SECONDS)
        return database

    def indexed_database(self) -> ArchiveDatabase | None:
        """Return the database, or None where nothing was indexed yet; this starts no indexing."""
        file = self.locations.database
        if not file.is_file() or not file.stat().st_size:  # the process that indexes has just created it
            return None
        database = self._opened()
        return database if database.fact("recipe") is not None else None

    def _opened(self) -> ArchiveDatabase:
        with self._lock:
            if self._database is None:
                self._database = open_database(self.locations.database)
            return self._database

    # The tools

    async def search(self, call: Call) -> dict[str, Any]:
        """Return the best documents for a query, and their citations."""
        return await asyncio.to_thread(self._search, call.arguments, call.budget_characters)

    def _search(self, arguments: Any, budget: int) -> dict[str, Any]:
        query, limit = arguments["query"][:MAX_QUERY_CHARACTERS], int(arguments["limit"])
        database, warnings = self.search_database(query, needs_citations=arguments["includeCitations"])
        masks = masks_secrets()
        hits = search_archives(database, query, limit, fuzzy=arguments["fuzzy"], masks=masks)
        found = search_reply(
            database,
            hits,
            query=query,
            fuzzy=arguments["fuzzy"],
            include_citations=arguments["includeCitations"],
            citation_depth=int(arguments["citationDepth"]),
            limit=limit,
        )
        if self.is_indexing():
            found["metadata"]["indexing"] = True
        if warnings:
            found["metadata"]["warnings"] = warnings
        return fit_search_reply(screen_reply(found, masks=masks), budget, wire_characters)

    async def answer(self, call: Call, graph_query: GraphQuery) -> dict[str, Any]:
        """Answer a query about the graph."""

        def run_query() -> dict[str, Any]:
            return screen_reply(graph_query(self.database(), call.arguments), masks=masks_secrets())

        found = await asyncio.to_thread(run_query)
        if wire_characters(found) > call.budget_characters:
            return _shorten_lists(found, call.budget_characters)
        return found


def _shorten_lists(found: dict[str, Any], budget: int) -> dict[str, Any]:
    """Leave out the graph of a reply and halve its longest lists until it fits, and state so in `truncated`."""
    found = {**found, "truncated": "Lists are cut to fit the reply. Ask with a smaller limit, or for one direction."}
    if "citationGraph" in found:
        found["citationGraph"] = {"nodes": [], "edges": [], "truncated": "Left out: the reply would be too long."}
    while wire_characters(found) > budget:
        name = max(
            (key for key, value in found.items() if isinstance(value, list)),
            key=lambda key: len(found[key]),
            default="",
        )
        if not name or not found[name]:
            break
        found[name] = found[name][: len(found[name]) // 2]
    return found


def failure_reply(error: DowseError) -> ProseReply:
    """Return an error in the words of the specification, with its code; never with a path of this machine."""
    detail = str(error)
    if isinstance(error, CatalogError):
        detail = str(error.facts.get("detail") or error)
    message = FAILURE + detail
    shown = (
        message
        if isinstance(error, UsageError | NotIndexed)
        else FAILURE + _PUBLIC_MESSAGES.get(error.code, "the database cannot be used.")
    )
    return ProseReply({"code": error.code, "userMessage": shown, "developerMessage": f"{error.code}: {message}"}, shown)


_PUBLIC_MESSAGES = {
    "INDEX_BUSY": "the database is in use by another program. Try again in a moment.",
    "INDEX_TOO_NEW": "the database was made by a newer version of dowse. Upgrade dowse, or remove it and index again.",
    "INDEX_CORRUPT": "the database is damaged. Remove it and run: dowse archive index",
    "DISK_FULL": "no space is left on the disk of the database.",
    "NOT_WRITABLE": "the folder of the database cannot be written.",
    "UNEXPECTED": "something went wrong inside the search. Please try again, and report it if it stays.",
}


def _find_citations(database: ArchiveDatabase, arguments: Any) -> dict[str, Any]:
    return citations_reply(
        database,
        database.document(arguments["document"]),
        direction=arguments["direction"],
        depth=int(arguments["depth"]),
        limit=int(arguments["limit"]),
    )


def _find_most_cited(database: ArchiveDatabase, arguments: Any) -> dict[str, Any]:
    return most_cited_reply(database, int(arguments["limit"]))


def _find_broken_links(database: ArchiveDatabase, arguments: Any) -> dict[str, Any]:
    return broken_reply(database, int(arguments["limit"]))


_INTEGER: Schema = {"type": "integer"}
_LIMIT = {"limit": describe(_INTEGER, "Maximum number to return", default=20, minimum=1, maximum=500)}
_SEARCH_ARGUMENTS: dict[str, Schema] = {
    "query": describe(TEXT, "The search query"),
    "fuzzy": describe(FLAG, "Whether to enable fuzzy matching", default=True),
    "includeCitations": describe(FLAG, "Whether to include citation information", default=False),
    "citationDepth": describe(_INTEGER, "How many levels of citations to include", default=1, minimum=1, maximum=3),
    "limit": describe(_INTEGER, "Maximum number of results to return", default=10, minimum=1, maximum=50),
}
_DOCUMENT_NAME = "A document by its id (doc-…), path, URL or exact title"
_LIST: Schema = {"type": "array"}
_SEARCH_REPLY = reply(
    ("results", "metadata"),
    results={
        "type": "array",
        "items": item(
            ("document", "highlights"),
            document=item(
                ("id", "title", "path", "source", "score"),
                id=TEXT, title=TEXT, path=TEXT, source=TEXT, date={"type": ["string", "null"]}, score=NUMBER,
            ),
            highlights={
                "type": "array",
                "items": item(("field", "snippets"), field=TEXT, snippets=TEXTS, **SCREENING),
            },
            citations=item(("citing", "cited"), citing=_LIST, cited=_LIST),
        ),
    },
    citationGraph=item(("nodes", "edges"), nodes=_LIST, edges=_LIST),
    metadata=item(("totalResults", "query"), totalResults=NUMBER, query=TEXT),
)  # fmt: skip


def _tools(surface: ArchiveSurface) -> tuple[Tool, ...]:
    def extra(
        names: tuple[str, str, str],
        graph_query: GraphQuery,
        output: Schema,
        arguments: dict[str, Schema],
        required: tuple[str, ...] = (),
    ) -> Tool:
        run = partial(surface.answer, graph_query=graph_query)
        return Tool(*names, run, output, arguments, required, is_extra=True, failure=failure_reply)

    direction = describe(TEXT, "Which citations to return", enum=["both", "citing", "cited"], default="both")
    depth = describe(
        _INTEGER,
        "How many levels of citations to follow; with 2 or 3, the reply has the graph around the document",
        default=1,
        minimum=1,
        maximum=3,
    )
    return (
        Tool(
            "searchLocalArchives", "Search archives", "Searches the local research and URL content archives",
            surface.search, _SEARCH_REPLY, _SEARCH_ARGUMENTS, ("query",), failure=failure_reply,
        ),
        extra(
            ("find_citations", "Find citations", "Returns what one archived document cites, and what cites it"), _find_citations,
            reply(("document",), document={"type": "object"}, citing=_LIST, cited=_LIST),
            {"document": describe(TEXT, _DOCUMENT_NAME), "direction": direction, "depth": depth, **_LIMIT},
            ("document",),
        ),
        extra(
            ("archive_most_cited", "Most cited", "Lists the most cited archived documents, and the most cited pages that are not archived"),
            _find_most_cited, reply(("documents", "outside"), documents=_LIST, outside=_LIST), dict(_LIMIT),
        ),
        extra(
            ("archive_broken_links", "Broken links", "Lists the broken links between archived documents"), _find_broken_links,
            reply(("links", "total"), links=_LIST, total=NUMBER), dict(_LIMIT),
        ),
    )  # fmt: skip
