"""The archive surface: research archives searched, with what cites what."""

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
    duplicates_reply,
    most_cited_reply,
    orphans_reply,
    path_reply,
    search_reply,
)
from dowse.archives.archive_search import search
from dowse.archives.archive_watcher import run_lock
from dowse.archives.graph_queries import broken, duplicates, most_cited, most_cited_outside, orphans
from dowse.archives.reply_screening import screened
from dowse.errors import CatalogError, DowseError, NotIndexed, UsageError
from dowse.indexes.masking_setting import masks_secrets
from dowse.mcp.schemas import FLAG, NUMBER, SCREENING, TEXT, TEXTS, described, item, reply
from dowse.mcp.tools import Call, ProseReply, Schema, Tool, wire_characters
from dowse.surfaces.archives.archive_reply_fitting import fitted

FAILURE = "Failed to search local archives: "
MOST_QUERY_CHARACTERS = 10_000
"""Of a longer query only the beginning counts."""
FIRST_INDEX_SECONDS = 20.0
"""How long a call waits for the very first index; clients give up after 60 s."""
LOOK_SECONDS = 0.05
STOP_SECONDS = 2.0
"""How long the process that indexes may take to end before it is ended by force."""

INSTRUCTIONS = (
    "searchLocalArchives searches the research reports and captured web pages kept on this machine; "
    "includeCitations shows what cites what."
)


Question = Callable[[ArchiveDatabase, Any], dict[str, Any]]


class ArchiveSurface:
    """The archives at some places. A process of its own indexes them, from the first call on, and follows changes."""

    def __init__(self, places: ArchiveLocations, *, keeps_fresh: bool = True) -> None:
        self.places = places
        self._keeps_fresh = keeps_fresh
        self._keeper: subprocess.Popen[bytes] | None = None
        self._database: ArchiveDatabase | None = None
        self._lock = threading.Lock()
        self.tools = _tools(self)

    def start(self) -> None:
        """Begin to index; called by a server when it starts, and by the first search otherwise."""
        with self._lock:
            if self._keeps_fresh and self._keeper is None:
                places = (self.places.research, self.places.url_content, self.places.database)
                # -P keeps the working directory, which may be a stranger's project, out of the import path.
                command = [sys.executable, "-P", "-m", "dowse.archives.archive_worker", *map(str, places)]
                nothing = subprocess.DEVNULL
                self._keeper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing)  # noqa: S603 - our own program

    def close(self) -> None:
        """Stop indexing and close the database."""
        with self._lock:
            keeper, self._keeper = self._keeper, None
            database, self._database = self._database, None
        if keeper:
            with contextlib.suppress(OSError):
                if keeper.stdin:
                    keeper.stdin.close()
            try:
                keeper.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                keeper.kill()
                keeper.wait()
        if database:
            database.close()

    def is_indexing(self) -> bool:
        """Whether a run is going on, in whatever process; unknown is no."""
        try:
            return run_lock(self.places).is_taken()
        except OSError:
            return False

    def database(self) -> ArchiveDatabase:
        """The database as soon as there is one; NotIndexed where there is none and none will be."""
        self.start()
        deadline = time.monotonic() + FIRST_INDEX_SECONDS
        while not self._is_indexed():
            is_coming = self._keeper is not None and self._keeper.poll() is None and bool(self.places.present)
            if not is_coming:
                break
            if time.monotonic() >= deadline:
                raise NotIndexed("The archives are being indexed for the first time. Try again in a moment.")
            time.sleep(LOOK_SECONDS)
        with self._lock:
            if self._database is None:
                self._database = open_database(self.places.database)
            return self._database

    def _is_indexed(self) -> bool:
        if not self.places.database.is_file():
            return False
        with self._lock:
            if self._database is None:
                self._database = open_database(self.places.database)
            return self._database.fact("recipe") is not None

    # The tools

    async def search(self, call: Call) -> dict[str, Any]:
        """The best documents for a query, and what they cite."""
        return await asyncio.to_thread(self._search, call.arguments, call.budget_characters)

    def _search(self, given: Any, budget: int) -> dict[str, Any]:
        query, limit = given["query"][:MOST_QUERY_CHARACTERS], int(given["limit"])
        database = self.database()
        masks = masks_secrets()
        hits = search(database, query, limit, fuzzy=given["fuzzy"], masks=masks)
        found = search_reply(
            database,
            hits,
            query=query,
            fuzzy=given["fuzzy"],
            include_citations=given["includeCitations"],
            citation_depth=int(given["citationDepth"]),
            limit=limit,
            inferred=given["includeInferred"],
        )
        if self.is_indexing():
            found["metadata"]["indexing"] = True
        return fitted(screened(found, masks=masks), budget, wire_characters)

    async def ask(self, call: Call, question: Question) -> dict[str, Any]:
        """Answer another question of the graph."""

        def answer() -> dict[str, Any]:
            return screened(question(self.database(), call.arguments), masks=masks_secrets())

        found = await asyncio.to_thread(answer)
        if wire_characters(found) > call.budget_characters:
            return _shortened(found, call.budget_characters)
        return found


def _shortened(found: dict[str, Any], budget: int) -> dict[str, Any]:
    """A reply whose longest lists were halved until it fits, and that says so."""
    found = {**found, "truncated": "Lists are cut to fit the reply. Ask with a smaller limit, or for one direction."}
    while wire_characters(found) > budget:
        name = max(
            (key for key, value in found.items() if isinstance(value, list)),
            key=lambda key: len(found[key]),
            default="",
        )
        if name and found[name]:
            found[name] = found[name][: len(found[name]) // 2]
        elif found.get("citationGraph"):
            found["citationGraph"] = {"nodes": [], "edges": [], "truncated": "Left out: the reply would be too long."}
            if wire_characters(found) > budget:
                del found["citationGraph"]
        else:
            break
    return found


def failure(error: DowseError) -> ProseReply:
    """An error as the specification words it, with the code beside it; never a path of this machine."""
    said = str(error)
    if isinstance(error, CatalogError):
        said = str(error.facts.get("detail") or error)
    message = FAILURE + said
    shown = (
        message
        if isinstance(error, UsageError | NotIndexed)
        else FAILURE + _PLAIN.get(error.code, "the database cannot be used.")
    )
    return ProseReply({"code": error.code, "userMessage": shown, "developerMessage": f"{error.code}: {message}"}, shown)


_PLAIN = {
    "INDEX_BUSY": "the database is in use by another program. Try again in a moment.",
    "INDEX_TOO_NEW": "the database was made by a newer version of dowse. Upgrade dowse, or remove it and index again.",
    "INDEX_CORRUPT": "the database is damaged. Remove it and run: dowse archive index",
    "DISK_FULL": "no space is left on the disk of the database.",
    "UNEXPECTED": "something went wrong inside the search. Please try again, and report it if it stays.",
}


def _path(database: ArchiveDatabase, given: Any) -> dict[str, Any]:
    source, target = database.document(given["from"]), database.document(given["to"])
    return path_reply(database, source, target, direction=given["direction"], inferred=given["includeInferred"])


def _citations(database: ArchiveDatabase, given: Any) -> dict[str, Any]:
    return citations_reply(
        database,
        database.document(given["document"]),
        direction=given["direction"],
        depth=int(given["depth"]),
        limit=int(given["limit"]),
        inferred=given["includeInferred"],
    )


def _most_cited(database: ArchiveDatabase, given: Any) -> dict[str, Any]:
    limit = int(given["limit"])
    return most_cited_reply(
        most_cited(database, limit, inferred=given["includeInferred"]), most_cited_outside(database, limit)
    )


def _orphans(database: ArchiveDatabase, given: Any) -> dict[str, Any]:
    return orphans_reply(*orphans(database, int(given["limit"]), inferred=given["includeInferred"]))


def _broken(database: ArchiveDatabase, given: Any) -> dict[str, Any]:
    return broken_reply(database, *broken(database, int(given["limit"])))


def _duplicates(database: ArchiveDatabase, given: Any) -> dict[str, Any]:
    return duplicates_reply(*duplicates(database, int(given["limit"])))


_WHOLE: Schema = {"type": "integer"}
_INFERRED = {
    "includeInferred": described(FLAG, "Also citations that are inferred: plain mentions, quotations", default=False)
}
_LIMIT = {"limit": described(_WHOLE, "Maximum number to return", default=20, minimum=1, maximum=500)}
_SEARCH: dict[str, Schema] = {
    "query": described(TEXT, "The search query"),
    "fuzzy": described(FLAG, "Whether to enable fuzzy matching", default=True),
    "includeCitations": described(FLAG, "Whether to include citation information", default=False),
    "citationDepth": described(_WHOLE, "How many levels of citations to include", default=1, minimum=1, maximum=3),
    "limit": described(_WHOLE, "Maximum number of results to return", default=10, minimum=1, maximum=50),
    **_INFERRED,
}
_NAMED = "A document by its id (doc-…), path, URL or exact title"
_LIST: Schema = {"type": "array"}
_FOUND = reply(
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
        question: Question,
        output: Schema,
        arguments: dict[str, Schema],
        required: tuple[str, ...] = (),
    ) -> Tool:
        run = partial(surface.ask, question=question)
        return Tool(*names, run, output, arguments, required, is_extra=True, failure=failure)

    direction = described(TEXT, "Which citations", enum=["both", "citing", "cited"], default="both")
    way = described(
        TEXT, "Follow citations from citing to cited, or either way", enum=["citing", "either"], default="citing"
    )
    depth = described(_WHOLE, "With 2 or 3, the graph around it as well", default=1, minimum=1, maximum=3)
    return (
        Tool(
            "searchLocalArchives", "Search archives", "Searches the local research and URL content archives",
            surface.search, _FOUND, _SEARCH, ("query",), failure=failure,
        ),
        extra(
            ("find_citations", "Find citations", "What one archived document cites, and what cites it"), _citations,
            reply(("document",), document={"type": "object"}, citing=_LIST, cited=_LIST),
            {"document": described(TEXT, _NAMED), "direction": direction, "depth": depth, **_LIMIT, **_INFERRED},
            ("document",),
        ),
        extra(
            ("citation_path", "Citation path", "The shortest chain of citations from one archived document to another"),
            _path, reply(("found", "path"), found=FLAG, length=NUMBER, path=_LIST, steps=_LIST),
            {"from": described(TEXT, _NAMED), "to": described(TEXT, _NAMED), "direction": way, **_INFERRED},
            ("from", "to"),
        ),
        extra(
            ("archive_most_cited", "Most cited", "The archived documents, and pages outside, that are cited most"),
            _most_cited, reply(("documents", "outside"), documents=_LIST, outside=_LIST), {**_LIMIT, **_INFERRED},
        ),
        extra(
            ("archive_orphans", "Orphans", "Archived documents without any citation to or from another"), _orphans,
            reply(("documents", "total"), documents=_LIST, total=NUMBER), {**_LIMIT, **_INFERRED},
        ),
        extra(
            ("archive_broken_links", "Broken links", "Links between archived documents that lead nowhere"), _broken,
            reply(("links", "total"), links=_LIST, total=NUMBER), dict(_LIMIT),
        ),
        extra(
            ("archive_duplicates", "Duplicates", "Pages that are archived more than once, or under several URLs"),
            _duplicates, reply(("groups", "total"), groups=_LIST, total=NUMBER), dict(_LIMIT),
        ),
    )  # fmt: skip
