"""The documents surface: a folder's documents as resources, and searched."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from dowse.errors import ResourceNotFound
from dowse.indexes.document_search import (
    DocumentQuery,
    DocumentResults,
    ListedDocument,
    find_documents,
    list_documents,
    text_of,
)
from dowse.indexes.index import ProjectIndex
from dowse.keeping.service import ServedIndex, Service
from dowse.mcp.resources import Announcer, Resource
from dowse.mcp.schemas import NUMBER, SCREENING, TEXT, TEXTS, count, described, item, reply
from dowse.mcp.tools import Call, ProseReply, Schema, Tool
from dowse.surfaces.documents.doc_uris import cursor_of, extensions_of, mime_type_of, position_of
from dowse.surfaces.documents.document_folders import DocumentFolders
from dowse.surfaces.documents.document_replies import CHARACTERS, TITLE_CHARACTERS, on_one_line, result_of, told
from dowse.surfaces.documents.document_tools import leafing_tools

INSTRUCTIONS = (
    "Documents are resources (docs://…): search_documents finds them by title and content, and a section is read "
    "as docs://guide.md#install."
)

PAGE = 200
"""Resources on a page of the list."""
MOST_RESULTS = 100


class DocumentsSurface:
    """The documents of a service's folders."""

    def __init__(self, service: Service, start: Path, announcer: Announcer) -> None:
        self.shelves = DocumentFolders(service, start, announcer)
        search = Tool(
            "search_documents", "Search documents", "Search documents by title or content",
            self.search_documents, _FOUND, _ARGUMENTS, ("query",),
        )  # fmt: skip
        self.tools = [search, *leafing_tools(self.shelves)]

    # Resources

    async def begin(self, client: Call) -> None:
        """Notice from now on when the list changes."""
        await self.shelves.folders(client)

    async def listed(self, client: Call, cursor: str | None) -> tuple[Sequence[Resource], str | None]:
        """A page of resources, by path; from the index where it is whole, else from the files themselves."""
        number, after = position_of(cursor)
        page: list[Resource] = []
        folders = await self.shelves.folders(client)
        for at, served in enumerate(folders[number:], number):
            room = PAGE - len(page)
            found = await served.do(self._page, served, after, room + 1)
            page += [self._resource(served, one) for one in found[:room]]
            if len(found) > room:
                return page, cursor_of(at, found[room - 1].path)
            if len(page) == PAGE and served is not folders[-1]:
                return page, cursor_of(at + 1, "")
            after = ""
        return page, None

    def _page(self, project: ProjectIndex, served: ServedIndex, after: str, most: int) -> list[ListedDocument]:
        listing = self.shelves.listing(served)
        if listing.is_compared:
            served.catch_up(project)
        found = list_documents(project, after, most)
        listing.show(found, is_last=len(found) < most)
        return found

    async def read(self, client: Call, uri: str) -> tuple[str, str]:
        """A document, or one section of it, as it is now."""
        document, _, anchor = await self.shelves.document(client, uri)
        text = text_of(document, anchor)
        if text is None:
            raise ResourceNotFound(f"Resource not found: {uri}")
        return text, mime_type_of(document.path)

    def _resource(self, served: ServedIndex, one: ListedDocument) -> Resource:
        title, description = on_one_line(one.title, TITLE_CHARACTERS), on_one_line(one.description, CHARACTERS + 10)
        name = on_one_line(one.path.rpartition("/")[2], TITLE_CHARACTERS)
        return Resource(self.shelves.uri(served, one.path), name, title, description, mime_type_of(one.path))

    # Searching

    async def search_documents(self, call: Call) -> ProseReply:
        """Documents by title, content or both."""
        given, started = call.arguments, time.perf_counter()
        wanted = DocumentQuery(
            given["query"], given["searchIn"], int(given["limit"]), extensions_of(given["fileTypes"])
        )
        folders = await self.shelves.folders(call, may_ask=True)
        if not wanted.text.strip():
            return told([], 0, [], call.budget_characters, started)
        each = await asyncio.gather(*(served.do(self._find, served, wanted) for served in folders))
        every = [
            result_of(self.shelves.uri(served, one.document.path), one, findings.matches.terms)
            for served, findings in zip(folders, each, strict=True)
            for one in findings.matches.found
        ]
        every.sort(key=lambda one: -one["relevance"])
        total, covered = sum(findings.matches.total for findings in each), [findings.coverage for findings in each]
        return told(every[: wanted.limit], total, covered, call.budget_characters, started)

    def _find(self, project: ProjectIndex, served: ServedIndex, wanted: DocumentQuery) -> DocumentResults:
        left = served.catch_up(project)
        return find_documents(project, wanted, self.shelves.titles(served), len(left))


_ARGUMENTS: dict[str, Schema] = {
    "query": described(TEXT, 'Search query; +must, -not and "a phrase" work', maxLength=10_000),
    "searchIn": described(
        TEXT, "Search target: title, content, or both", enum=["title", "content", "both"], default="both"
    ),
    "limit": count("Maximum number of results", 10, MOST_RESULTS),
    "fileTypes": described(TEXTS, "File extensions to search"),
}
_FOUND = reply(
    ("totalMatches", "results"),
    totalMatches=NUMBER,
    results={
        "type": "array",
        "items": item(
            ("uri", "title", "relevance"),
            uri=TEXT, title=TEXT, relevance=NUMBER, excerpt=TEXT, matchLocation=TEXT, **SCREENING,
        ),
    },
)  # fmt: skip
