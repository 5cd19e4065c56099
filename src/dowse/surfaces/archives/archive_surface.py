"""The archive surface: the tools that search research archives and their citations."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_locations import Archive, ArchiveLocations
from dowse.archives.archive_replies import broken_reply, citations_reply, most_cited_reply, screen_reply, search_reply
from dowse.archives.archive_search import ArchiveAnswer, merge_answers, search_archive
from dowse.archives.archive_types import ArchiveHit
from dowse.errors import CatalogError, DowseError, NotIndexed, NotWritable, UsageError
from dowse.indexes.index import ProjectIndex
from dowse.indexes.user_settings import masks_secrets
from dowse.keeping.keeper import is_far_behind
from dowse.mcp.replies import coverage_warnings, wire_characters
from dowse.mcp.schemas import FLAG, INTEGER, LIST, NUMBER, OBJECT, SCREENING, TEXT, TEXTS, describe, item, reply
from dowse.mcp.tools import Call, ProseReply, Schema, Tool
from dowse.searching.query_terms import SearchQuery, parse_plain_query
from dowse.surfaces.archives.archive_keeping import ArchiveKeeping
from dowse.surfaces.archives.archive_reply_fitting import fit_search_reply
from dowse.system.platform import refusal_to_write
from dowse.types import Coverage, View

FAILURE = "Failed to search local archives: "
MAX_QUERY_CHARACTERS = 10_000
"""Longer queries are cut to this length."""
FIRST_INDEX_SECONDS = 20.0
"""Maximum time that a call that needs citations waits for the first indexing; clients give up after 60 s."""
FIRST_INDEX_CHECK_SECONDS = 0.05

INSTRUCTIONS = (
    "searchLocalArchives searches the research reports and captured web pages kept on this machine; "
    "includeCitations shows what cites what."
)


GraphQuery = Callable[[ArchiveDatabase, Any], dict[str, Any]]


class ArchiveSurface:
    """The tools over the archives, which are indexed from the first call on, and follow changes."""

    def __init__(self, locations: ArchiveLocations, *, keeps_fresh: bool = True) -> None:
        self.locations = locations
        self.keeping = ArchiveKeeping(locations, keeps_fresh=keeps_fresh)
        self.tools = _tools(self)

    def close(self) -> None:
        """Stop indexing and close the database."""
        self.keeping.close()

    async def find(
        self, query: SearchQuery, limit: int, *, fuzzy: bool = True
    ) -> tuple[list[ArchiveHit], list[Coverage], list[str]]:
        """Return the best documents of all archives, how much of them was searched, and warnings."""
        warnings = [*self.locations.missing(shows_paths=False).values()]
        with contextlib.suppress(NotWritable):
            await asyncio.to_thread(self.keeping.database)  # an error about the file comes with the first search
        if self.keeping.keeps_fresh and (refusal := refusal_to_write(self.locations.database)):
            warnings.append(f"Citations may be out of date: {_PUBLIC_MESSAGES[refusal.code]}")
        archives = await asyncio.to_thread(self.keeping.open)
        if not archives:
            raise NotIndexed("No archive has been indexed yet: neither folder of archives exists.")

        def search(archive: Archive, index: ProjectIndex, pending: list[str]) -> ArchiveAnswer:
            is_behind = is_far_behind(pending)
            return search_archive(index, archive, query, limit, fuzzy=fuzzy, pending=len(pending), is_behind=is_behind)

        answers = await asyncio.gather(
            *(
                served.ask_fresh(partial(search, archive), View.DOCUMENTS)
                if served.root.is_dir()
                else served.ask(partial(search, archive, pending=[]), View.DOCUMENTS)
                for archive, served in archives.items()
            )
        )
        coverages = [coverage for _, coverage in answers]
        return merge_answers(answers, limit), coverages, [*_describe_coverage(coverages), *warnings]

    async def database(self) -> ArchiveDatabase:
        """Return the database, after the first indexing where necessary. Raise NotIndexed where there is nothing to index."""
        database = await asyncio.to_thread(self.keeping.database)
        archives, deadline = await asyncio.to_thread(self.keeping.open), time.monotonic() + FIRST_INDEX_SECONDS
        for served in (one for one in archives.values() if one.root.is_dir()):
            await served.ask_fresh(lambda _index, _pending: None, View.DOCUMENTS)
        try:
            while not await asyncio.to_thread(self.keeping.write_database):
                if not self.keeping.keeps_fresh or time.monotonic() > deadline:
                    break
                await asyncio.sleep(FIRST_INDEX_CHECK_SECONDS)
        except NotWritable:
            pass  # the database is read as it is
        if not database.is_filled():
            raise NotIndexed("The archives are being indexed for the first time. Try again in a moment.")
        return database

    # The tools

    async def search(self, call: Call) -> dict[str, Any]:
        """Return the best documents for a query, and their citations."""
        arguments = call.arguments
        query, limit = arguments["query"][:MAX_QUERY_CHARACTERS], int(arguments["limit"])
        database, without = None, list[str]()
        if arguments["includeCitations"]:
            try:
                database = await self.database()
            except NotIndexed:
                without = ["Citations are left out until the archives are indexed."]
        hits, coverages, warnings = await self.find(parse_plain_query(query), limit, fuzzy=arguments["fuzzy"])
        asked = {**arguments, "query": query, "citationDepth": int(arguments["citationDepth"]), "limit": limit}
        found = await asyncio.to_thread(_read, database, partial(search_reply, database, hits, asked))
        if any(coverage.is_indexing for coverage in coverages):
            found["metadata"]["indexing"] = True
        if warnings := [*without, *warnings]:
            found["metadata"]["warnings"] = warnings
        return fit_search_reply(screen_reply(found, masks=masks_secrets()), call.budget_characters, wire_characters)

    async def answer(self, call: Call, graph_query: GraphQuery) -> dict[str, Any]:
        """Answer a query about the graph."""
        database = await self.database()
        answer = await asyncio.to_thread(_read, database, partial(graph_query, database, call.arguments))
        found = screen_reply(answer, masks=masks_secrets())
        if wire_characters(found) > call.budget_characters:
            return _shorten_lists(found, call.budget_characters)
        return found


def _read(database: ArchiveDatabase | None, make_reply: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return a reply; an odd value in the database is its damage."""
    with database.odd_values_are_damage() if database else contextlib.nullcontext():
        return make_reply()


def _describe_coverage(coverages: Sequence[Coverage]) -> list[str]:
    """Return the sentence that says how much was searched, unless it is everything, and why changes are left out."""
    warnings = [warning for coverage in coverages for warning in coverage_warnings(coverage)]
    if any(coverage.direct or coverage.files < coverage.expected for coverage in coverages):
        searched = sum(coverage.files + coverage.direct for coverage in coverages)
        expected = sum(max(coverage.files, coverage.expected) for coverage in coverages)
        direct = sum(coverage.direct for coverage in coverages)
        how = f", {direct:,} of them as they are written" if direct else ""
        warnings.insert(
            0, f"The archives are being indexed. {searched:,} of {expected:,} documents were searched{how}."
        )
    return list(dict.fromkeys(warnings))


def _shorten_lists(found: dict[str, Any], budget: int) -> dict[str, Any]:
    """Leave out the graph of a reply and halve its longest lists until it fits, and state so in `truncated`."""
    found = {**found, "truncated": "Lists are cut to fit the reply. Ask with a smaller limit, or for one direction."}
    if "citationGraph" in found:
        found["citationGraph"] = {"nodes": [], "edges": [], "truncated": "Left out: the reply would be too long."}
    lists = [key for key, value in found.items() if isinstance(value, list)]
    while wire_characters(found) > budget and any(found[key] for key in lists):
        name = max(lists, key=lambda key: len(found[key]))
        found[name] = found[name][: len(found[name]) // 2]
    return found


def failure_reply(error: DowseError) -> ProseReply:
    """Return an error in the words of the specification, with its code; never with a path of this machine."""
    detail = error.facts.get("detail") if isinstance(error, CatalogError) else None
    message = shown = f"{FAILURE}{detail or error}"
    if not isinstance(error, UsageError | NotIndexed):
        shown = FAILURE + _PUBLIC_MESSAGES.get(error.code, "the database cannot be used.")
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
    depth, limit = int(arguments["depth"]), int(arguments["limit"])
    document = database.document(arguments["document"])
    return citations_reply(database, document, direction=arguments["direction"], depth=depth, limit=limit)


_LIMIT = {"limit": describe(INTEGER, "Maximum number to return", default=20, minimum=1, maximum=500)}
_SEARCH_ARGUMENTS: dict[str, Schema] = {
    "query": describe(TEXT, "The search query"),
    "fuzzy": describe(FLAG, "Whether to enable fuzzy matching", default=True),
    "includeCitations": describe(FLAG, "Whether to include citation information", default=False),
    "citationDepth": describe(INTEGER, "How many levels of citations to include", default=1, minimum=1, maximum=3),
    "limit": describe(INTEGER, "Maximum number of results to return", default=10, minimum=1, maximum=50),
}
_DOCUMENT_NAME = "A document by its id (doc-…), path, URL or exact title"
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
            citations=item(("citing", "cited"), citing=LIST, cited=LIST),
        ),
    },
    citationGraph=item(("nodes", "edges"), nodes=LIST, edges=LIST),
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
        INTEGER,
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
            reply(("document",), document=OBJECT, citing=LIST, cited=LIST),
            {"document": describe(TEXT, _DOCUMENT_NAME), "direction": direction, "depth": depth, **_LIMIT},
            ("document",),
        ),
        extra(
            ("archive_most_cited", "Most cited", "Lists the most cited archived documents, and the most cited pages that are not archived"),
            lambda database, arguments: most_cited_reply(database, int(arguments["limit"])),
            reply(("documents", "outside"), documents=LIST, outside=LIST), dict(_LIMIT),
        ),
        extra(
            ("archive_broken_links", "Broken links", "Lists the broken links between archived documents"),
            lambda database, arguments: broken_reply(database, int(arguments["limit"])),
            reply(("links", "total"), links=LIST, total=NUMBER), dict(_LIMIT),
        ),
    )  # fmt: skip
