"""The documents surface: the documents of folders as resources, and the tool that searches them."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from mcp_types import Resource

from dowse.errors import ResourceNotFound
from dowse.indexes.document_search import DocumentQuery, ListedDocument, text_of
from dowse.keeping.served_index import Service
from dowse.mcp.resources import Announcer
from dowse.mcp.schemas import NUMBER, SCREENING, TEXT, TEXTS, count, describe, item, reply
from dowse.mcp.tools import Call, ProseReply, Schema, Tool
from dowse.searching.query_terms import parse_search_query
from dowse.surfaces.documents.doc_uris import document_mime_type, make_cursor, parse_cursor, parse_extensions
from dowse.surfaces.documents.document_folders import DocumentFolder, DocumentFolders
from dowse.surfaces.documents.document_replies import (
    DESCRIPTION_CHARACTERS,
    TITLE_CHARACTERS,
    document_result,
    documents_reply,
)
from dowse.surfaces.documents.document_tools import document_tools
from dowse.visible_text import one_line

INSTRUCTIONS = (
    "Documents are resources (docs://…): search_documents finds them by title and content, and a section is read "
    "as docs://guide.md#install."
)

PAGE = 200
"""Resources on a page of the list."""
MAX_RESULTS = 100


class DocumentsSurface:
    """The resources and tools over the documents of a service's folders."""

    def __init__(self, service: Service, start: Path, announcer: Announcer) -> None:
        self.folders = DocumentFolders(service, start, announcer)
        search = Tool(
            "search_documents", "Search documents", "Search documents by title or content",
            self.search_documents, _FOUND, _ARGUMENTS, ("query",),
        )  # fmt: skip
        self.tools: tuple[Tool, ...] = (search, *document_tools(self.folders))

    # Resources

    async def begin(self, client: Call) -> None:
        """Notice from now on when the list changes."""
        await self.folders.find(client)

    async def list_page(self, client: Call, cursor: str | None) -> tuple[Sequence[Resource], str | None]:
        """Return a page of resources in the order of their paths, and the cursor of the next page."""
        number, after = parse_cursor(cursor)
        page: list[Resource] = []
        folders = await self.folders.find(client)
        for position, folder in enumerate(folders[number:], number):
            room = PAGE - len(page)
            found = await folder.list_page(after, room + 1)
            page += [_resource(folder, document) for document in found[:room]]
            if len(found) > room:
                return page, make_cursor(position, found[room - 1].path)
            if len(page) == PAGE and folder is not folders[-1]:
                return page, make_cursor(position + 1, "")
            after = ""
        return page, None

    async def read(self, client: Call, uri: str) -> tuple[str, str]:
        """Return the text of a document, or of a section of it, as it is now, and its type."""
        document, _, anchor = await self.folders.read(client, uri)
        text = await asyncio.to_thread(text_of, document, anchor)
        if text is None:
            raise ResourceNotFound(f"Resource not found: {uri}")
        return text, document_mime_type(document.path)

    # Searching

    async def search_documents(self, call: Call) -> ProseReply:
        """Search documents by title, content or both."""
        arguments, started = call.arguments, time.perf_counter()
        query = DocumentQuery(
            parse_search_query(arguments["query"]),
            arguments["searchIn"],
            int(arguments["limit"]),
            parse_extensions(arguments["fileTypes"]),
        )
        folders = await self.folders.find(call, may_ask=True)
        if not query.query.text:
            return documents_reply([], 0, [], call.budget_characters, started)
        found = await asyncio.gather(*(folder.find_documents(query) for folder in folders))
        results = [
            document_result(folder.uri(document.document.path), document, answer.matches.terms)
            for folder, answer in zip(folders, found, strict=True)
            for document in answer.matches.found
        ]
        results.sort(key=lambda result: -result["relevance"])
        total, coverages = sum(answer.matches.total for answer in found), [answer.coverage for answer in found]
        without_filters = 0 if results else sum(answer.matches.total_without_filters for answer in found)
        return documents_reply(
            results[: query.limit], total, coverages, call.budget_characters, started, without_filters=without_filters
        )


def _resource(folder: DocumentFolder, document: ListedDocument) -> Resource:
    title = one_line(document.title, TITLE_CHARACTERS)
    description = one_line(document.description, DESCRIPTION_CHARACTERS) or None
    name, kind = one_line(document.path.rpartition("/")[2], TITLE_CHARACTERS), document_mime_type(document.path)
    return Resource(uri=folder.uri(document.path), name=name, title=title, description=description, mime_type=kind)


_ARGUMENTS: dict[str, Schema] = {
    "query": describe(TEXT, 'Search query; +must, -not and "a phrase" work', maxLength=10_000),
    "searchIn": describe(
        TEXT, "Search target: title, content, or both", enum=["title", "content", "both"], default="both"
    ),
    "limit": count("Maximum number of results", 10, MAX_RESULTS),
    "fileTypes": describe(TEXTS, "File extensions to search"),
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
