"""The archive surface: the tools that search research archives and their citations."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_locations import Archive, ArchiveLocations
from dowse.archives.archive_replies import broken_reply, citations_reply, most_cited_reply, screen_reply, search_reply
from dowse.archives.archive_search import ArchiveAnswer, merge_answers, search_archive
from dowse.archives.archive_types import ArchiveHit
from dowse.errors import (
    CatalogError,
    DowseError,
    Failed,
    NoSuchDocument,
    NotIndexed,
    NotWritable,
    StoreBusy,
    StoreDamaged,
    UsageError,
)
from dowse.indexes.freshness.scan import Drift
from dowse.indexes.index import ProjectIndex
from dowse.indexes.user_settings import masks_secrets
from dowse.keeping.keeper import is_far_behind
from dowse.mcp.replies import Reply, coverage_warnings, wire_characters
from dowse.mcp.schemas import FLAG, INTEGER, LIST, NUMBER, OBJECT, SCREENING, TEXT, TEXTS, describe, item, reply, rows
from dowse.mcp.tools import Call, ProseReply, Schema, tool, tools_of
from dowse.searching.query_terms import SearchQuery, parse_plain_query
from dowse.store.storage_layout import READ_WAIT_SECONDS
from dowse.surfaces.archives.archive_keeping import ArchiveKeeping
from dowse.system.platform import refusal_to_write
from dowse.types import Coverage, View

FAILURE = "Failed to search local archives: "
MAX_QUERY_CHARACTERS = 10_000
"""Longer queries are cut to this length."""
FIRST_INDEX_SECONDS = 20.0
"""Maximum time that a call that needs citations waits for the first indexing; clients give up after 60 s."""
FIRST_INDEX_CHECK_SECONDS = 0.05
_CITATION_LIMITS = (20, 10, 5, 2, 1, 0)
"""How many citations of a document are shown in a reply that is too long, one number after the other."""

INSTRUCTIONS = (
    "searchLocalArchives searches the research reports and captured web pages kept on this machine; "
    "includeCitations shows what cites what."
)

_LIMIT = {"limit": describe(INTEGER, "Maximum number to return", default=20, minimum=1, maximum=500)}
_DEPTH = "How many levels of citations to follow; with 2 or 3, the reply has the graph around the document"
_DOCUMENT: dict[str, Schema] = {"id": TEXT, "title": TEXT, "path": TEXT, "source": TEXT}
_DOCUMENT |= {"date": {"type": ["string", "null"]}, "score": NUMBER}
_SEARCH_REPLY = reply(
    ("results", "metadata"),
    results=rows(
        ("document", "highlights"),
        document=item(("id", "title", "path", "source", "score"), **_DOCUMENT),
        highlights=rows(("field", "snippets"), field=TEXT, snippets=TEXTS, **SCREENING),
        citations=item(("citing", "cited"), citing=LIST, cited=LIST),
    ),
    citationGraph=item(("nodes", "edges"), nodes=LIST, edges=LIST),
    metadata=item(("totalResults", "query"), totalResults=NUMBER, query=TEXT),
)
_SEARCH_ARGUMENTS: dict[str, Schema] = {
    "query": describe(TEXT, "The search query"),
    "fuzzy": describe(FLAG, "Whether to enable fuzzy matching", default=True),
    "includeCitations": describe(FLAG, "Whether to include citation information", default=False),
    "citationDepth": describe(INTEGER, "How many levels of citations to include", default=1, minimum=1, maximum=3),
    "limit": describe(INTEGER, "Maximum number of results to return", default=10, minimum=1, maximum=50),
}


class ArchiveSurface:
    """The tools over the archives, which are indexed from the first call on, and follow changes."""

    def __init__(self, locations: ArchiveLocations, *, keeps_fresh: bool = True) -> None:
        self.locations = locations
        self.keeping = ArchiveKeeping(locations, keeps_fresh=keeps_fresh)
        self.tools = tools_of(self, failure=failure_reply)

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
        try:
            for served in (one for one in archives.values() if one.root.is_dir()):
                await served.ask_fresh(_drop_hidden, View.DOCUMENTS)
        except (NotWritable, StoreBusy) as error:
            raise NotIndexed("Some archived documents are denied now, and are being taken out. Try again.") from error
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

    @tool("Search archives", _SEARCH_REPLY, _SEARCH_ARGUMENTS, ("query",), name="searchLocalArchives")
    async def search(self, call: Call) -> Reply:
        """Searches the local research and URL content archives"""
        arguments = call.arguments
        query, limit = arguments["query"][:MAX_QUERY_CHARACTERS], arguments["limit"]
        database, without = None, list[str]()
        if arguments["includeCitations"]:
            try:
                database = await self.database()
            except NotIndexed:
                without = ["Citations are left out until the archives are indexed."]
        hits, coverages, warnings = await self.find(parse_plain_query(query), limit, fuzzy=arguments["fuzzy"])
        found = await asyncio.to_thread(
            _read, database, partial(search_reply, database, hits, {**arguments, "query": query})
        )
        if any(coverage.is_indexing for coverage in coverages):
            found["metadata"]["indexing"] = True
        if warnings := [*without, *warnings]:
            found["metadata"]["warnings"] = warnings
        return _fit_search_reply(screen_reply(found, masks=masks_secrets()), call.budget_characters)

    @tool(
        "Find citations",
        reply(("document",), document=OBJECT, citing=LIST, cited=LIST),
        {
            "document": describe(TEXT, "A document by its id (doc-…), path, URL or exact title"),
            "direction": describe(TEXT, "Which citations to return", enum=["both", "citing", "cited"], default="both"),
            "depth": describe(INTEGER, _DEPTH, default=1, minimum=1, maximum=3),
            **_LIMIT,
        },
        ("document",),
        is_extra=True,
    )
    async def find_citations(self, call: Call) -> Reply:
        """Returns what one archived document cites, and what cites it"""
        given = call.arguments

        def find(database: ArchiveDatabase) -> Reply:
            document = database.document(given["document"])
            options = {name: given[name] for name in ("direction", "depth", "limit")}
            return citations_reply(database, document, **options)

        return await self._answer(call, find)

    @tool("Most cited", reply(("documents", "outside"), documents=LIST, outside=LIST), _LIMIT, is_extra=True)
    async def archive_most_cited(self, call: Call) -> Reply:
        """Lists the most cited archived documents, and the most cited pages that are not archived"""
        return await self._answer(call, lambda database: most_cited_reply(database, call.arguments["limit"]))

    @tool("Broken links", reply(("links", "total"), links=LIST, total=NUMBER), _LIMIT, is_extra=True)
    async def archive_broken_links(self, call: Call) -> Reply:
        """Lists the broken links between archived documents"""
        return await self._answer(call, lambda database: broken_reply(database, call.arguments["limit"]))

    async def _answer(self, call: Call, graph_query: Callable[[ArchiveDatabase], Reply]) -> Reply:
        """Answer a query about the graph."""
        database = await self.database()
        answer = await asyncio.to_thread(_read, database, partial(graph_query, database))
        found = screen_reply(answer, masks=masks_secrets())
        if wire_characters(found) > call.budget_characters:
            return _shorten_lists(found, call.budget_characters)
        return found


def _drop_hidden(index: ProjectIndex, pending: list[str]) -> None:
    """Take all documents out of the index that are gone or denied by now: what is read of the database are its texts."""
    try:
        drift = index.drift() if pending else Drift()
        index.require_mounted(drift)
    except StoreDamaged:
        raise
    except Failed:  # the folder cannot be read, or its disk is not mounted: it counts as missing
        return
    if drift.gone:
        with index.whole.waiting(READ_WAIT_SECONDS):
            if index.apply(Drift(drift.views, gone=drift.gone)) is None:
                raise NotIndexed("The settings have just changed. Try again in a moment.")


def _read(database: ArchiveDatabase | None, make_reply: Callable[[], Reply]) -> Reply:
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


def _shorten_lists(found: Reply, budget: int) -> Reply:
    """Leave out the graph of a reply and halve its longest lists until it fits, and state so in `truncated`."""
    found = {**found, "truncated": "Lists are cut to fit the reply. Ask with a smaller limit, or for one direction."}
    if "citationGraph" in found:
        found["citationGraph"] = {"nodes": [], "edges": [], "truncated": "Left out: the reply would be too long."}
    lists = [key for key, value in found.items() if isinstance(value, list)]
    while wire_characters(found) > budget and any(found[key] for key in lists):
        name = max(lists, key=lambda key: len(found[key]))
        found[name] = found[name][: len(found[name]) // 2]
    return found


def _fit_search_reply(reply: Reply, budget: int) -> Reply:
    """Return a reply within a budget: without its graph and with fewer citations, then with fewer snippets and results."""
    if wire_characters(reply) <= budget:
        return reply
    if "citationGraph" in reply:
        reply = {**reply, "citationGraph": {"nodes": [], "edges": [], "truncated": "Left out: too long."}}
    for maximum in _CITATION_LIMITS:
        reply = {**reply, "results": [_with_fewer_citations(result, maximum) for result in reply["results"]]}
        shorter = _with_note(reply, "Citations or their graph are left out; find_citations lists all of one document.")
        if wire_characters(shorter) <= budget:
            return shorter
    return _with_fewer_results(reply, budget)


def _with_fewer_results(reply: Reply, budget: int) -> Reply:
    """Return a reply without citations and with as many results as fit, at least one."""
    total = len(reply["results"])
    results = [{**result, "highlights": result["highlights"][:1]} for result in reply["results"]]
    for shown in range(total, 0, -1):
        note = f"{shown} of {total} results are shown, without citations. Ask for a smaller limit."
        fewer = _with_note({**reply, "results": results[:shown]}, note)
        fewer["metadata"]["totalResults"] = shown
        if wire_characters(fewer) <= budget:
            break
    return fewer


def _with_fewer_citations(result: Reply, maximum: int) -> Reply:
    citations = result.get("citations")
    if not citations or max(len(citations["citing"]), len(citations["cited"])) <= maximum:
        return result
    totals = {
        "totalCiting": citations.get("totalCiting", len(citations["citing"])),
        "totalCited": citations.get("totalCited", len(citations["cited"])),
    }
    fewer = {"citing": citations["citing"][:maximum], "cited": citations["cited"][:maximum], **totals}
    return {**result, "citations": fewer}


def _with_note(reply: Reply, note: str) -> Reply:
    return {**reply, "metadata": {**reply["metadata"], "truncated": note}}


def failure_reply(error: DowseError) -> ProseReply:
    """Return an error in the words of the specification, with its code; never with a path of this machine."""
    detail = error.facts.get("detail") if isinstance(error, CatalogError) else None
    message = shown = f"{FAILURE}{detail or error}"
    if not isinstance(error, UsageError | NotIndexed | NoSuchDocument):
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
