"""The documents surface: the documents of folders as resources, and the tools that search and read them."""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from mcp_types import Resource

from dowse.errors import DowseError, NotIndexed, ResourceNotFound, UsageError
from dowse.indexes.document_search import DocumentQuery, ListedDocument, text_of
from dowse.indexes.index import ProjectIndex
from dowse.keeping.keeper import is_far_behind
from dowse.keeping.served_index import Service
from dowse.mcp.replies import ENVELOPE_CHARACTERS, NAMED_FILES, Reply, fit_items, fit_page, present
from dowse.mcp.resources import Announcer
from dowse.mcp.schemas import LIST, NUMBER, SCREENING, TEXT, TEXTS, count, describe, reply, rows
from dowse.mcp.tools import Call, ProseReply, Schema, tool, tools_of
from dowse.parsing.document_parsing import outline
from dowse.searching.query_terms import parse_search_query
from dowse.surfaces.documents.doc_uris import document_mime_type, make_cursor, parse_cursor, parse_extensions
from dowse.surfaces.documents.document_folders import DocumentFolder, DocumentFolders
from dowse.surfaces.documents.document_links import (
    DocumentLink,
    LinkGraph,
    broken_links,
    incoming_links,
    link_reply,
    outgoing_links,
)
from dowse.surfaces.documents.document_replies import (
    DESCRIPTION_CHARACTERS,
    TITLE_CHARACTERS,
    about_document,
    document_reply,
    document_result,
    documents_reply,
)
from dowse.text.line_numbers import split_lines
from dowse.types import View
from dowse.visible_text import one_line

INSTRUCTIONS = (
    "Documents are resources (docs://…): search_documents finds them by title and content, and a section is read "
    "as docs://guide.md#install."
)

PAGE = 200
"""Resources on a page of the list."""
MAX_RESULTS = 100
MAX_LINKS = 1000
FIRST_INDEX_SECONDS = 10.0
"""How long the links of a folder wait for its first index."""


_URI: Schema = describe(TEXT, "docs:// address of the document", minLength=1, maxLength=10_000)
_LINE: Schema = {**NUMBER, "minimum": 1, "multipleOf": 1}
_RESULT = {"uri": TEXT, "title": TEXT, "relevance": NUMBER, "excerpt": TEXT, "matchLocation": TEXT, **SCREENING}


class DocumentsSurface:
    """The resources and tools over the documents of a service's folders."""

    def __init__(self, service: Service, start: Path, announcer: Announcer) -> None:
        self.folders = DocumentFolders(service, start, announcer)
        self.tools = tools_of(self)

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

    # Tools

    @tool(
        "Search documents",
        reply(("totalMatches", "results"), totalMatches=NUMBER, results=rows(("uri", "title", "relevance"), **_RESULT)),
        {
            "query": describe(TEXT, 'Search query; +must, -not and "a phrase" work', maxLength=10_000),
            "searchIn": describe(
                TEXT, "Search target: title, content, or both", enum=["title", "content", "both"], default="both"
            ),
            "limit": count("Maximum number of results", 10, MAX_RESULTS),
            "fileTypes": describe(TEXTS, "File extensions to search"),
        },
        ("query",),
    )
    async def search_documents(self, call: Call) -> ProseReply:
        """Search documents by title or content"""
        arguments, started = call.arguments, time.perf_counter()
        query = DocumentQuery(
            parse_search_query(arguments["query"]),
            arguments["searchIn"],
            arguments["limit"],
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

    @tool(
        "Outline of a document",
        reply(("uri", "headings"), uri=TEXT, title=TEXT, totalLines=NUMBER, headings=LIST),
        {"uri": _URI},
        ("uri",),
        is_extra=True,
    )
    async def get_document_outline(self, call: Call) -> Reply:
        """The headings of a document, with their lines and anchors"""
        document, folder, _ = await self.folders.read(call, call.arguments["uri"])
        lines = split_lines(document.reading.text)
        found = await asyncio.to_thread(outline, document.reading.text, (), document.language)
        headings = []
        for heading in found.headings:
            section = found.section(heading.anchor)
            end = section.end_line if section and section.start_line == heading.line else heading.line
            text = one_line(heading.text, TITLE_CHARACTERS)
            place = {"startLine": heading.line, "endLine": end, "anchor": heading.anchor}
            headings.append({"level": heading.level, "text": text, **place})
        shown = fit_items(headings, call.budget_characters - ENVELOPE_CHARACTERS)
        cut = f"{len(headings)} headings; the first {len(shown)} are shown." if len(shown) < len(headings) else ""
        about = about_document(document, folder.uri(document.path), len(lines))
        return {**about, "headings": shown, **present(truncated=cut)}

    @tool(
        "Read a document",
        reply(
            ("uri", "text"),
            uri=TEXT,
            title=TEXT,
            text=TEXT,
            startLine=NUMBER,
            endLine=NUMBER,
            totalLines=NUMBER,
            flags=TEXTS,
        ),
        {
            "uri": _URI,
            "section": describe(TEXT, "Anchor of a section, such as install", minLength=1, maxLength=1000),
            "startLine": _LINE,
            "endLine": _LINE,
        },
        ("uri",),
        is_extra=True,
    )
    async def read_document(self, call: Call) -> Reply:
        """Read a document by lines or by section"""
        arguments = call.arguments
        document, folder, anchor = await self.folders.read(call, arguments["uri"])
        uri, section = folder.uri(document.path), arguments["section"] or anchor
        lines = arguments["startLine"], arguments["endLine"]
        return await asyncio.to_thread(document_reply, document, uri, section, lines, call.budget_characters)

    @tool(
        "Find links",
        reply(("links", "totalLinks"), totalLinks=NUMBER, links=rows(("from", "target"))),
        {
            "uri": describe(TEXT, "docs:// address; without it, broken links of all documents", maxLength=10_000),
            "direction": describe(TEXT, "Which links", enum=["out", "in", "broken"], default="out"),
            "limit": count("Maximum number of links", 100, MAX_LINKS),
            "offset": count("Skip this many links", 0, 10_000_000, 0),
        },
        is_extra=True,
    )
    async def find_links(self, call: Call) -> Reply:
        """Links out of a document, links into it, or broken links of one or all"""
        arguments = call.arguments
        links, pending = await self._find_links(call, arguments["direction"], arguments["uri"])
        listed = [link_reply(link, folder.uri) for folder, link in links]
        room = call.budget_characters - ENVELOPE_CHARACTERS
        shown, more = fit_page(listed, arguments["offset"], arguments["limit"], room)
        return {"links": shown, "totalLinks": len(links), **more, **present(pending=pending[:NAMED_FILES])}

    async def _find_links(
        self, call: Call, direction: str, uri: str | None
    ) -> tuple[list[tuple[DocumentFolder, DocumentLink]], list[str]]:
        """Return links, each with its folder, and the files that may have others."""
        if uri is None and direction != "broken":
            raise UsageError(f"uri: which document? Links '{direction}' are those of one.")
        if uri is None:
            folders, find = await self.folders.find(call, may_ask=True), broken_links
        else:
            document, folder, _ = await self.folders.read(call, uri)
            find = partial(incoming_links if direction == "in" else outgoing_links, path=document.path)
            folders = [folder]
        links, pending = list[tuple[DocumentFolder, DocumentLink]](), list[str]()
        for folder in folders:
            found, left = await _ask_index(folder, find)
            links += [(folder, link) for link in found if link.problem or direction != "broken"]
            pending += left if is_far_behind(left) else []
        return links, pending


def _resource(folder: DocumentFolder, document: ListedDocument) -> Resource:
    title = one_line(document.title, TITLE_CHARACTERS)
    description = one_line(document.description, DESCRIPTION_CHARACTERS) or None
    name, kind = one_line(document.path.rpartition("/")[2], TITLE_CHARACTERS), document_mime_type(document.path)
    return Resource(uri=folder.uri(document.path), name=name, title=title, description=description, mime_type=kind)


async def _ask_index(
    folder: DocumentFolder, find: Callable[[LinkGraph, ProjectIndex], list[DocumentLink]]
) -> tuple[list[DocumentLink], list[str]]:
    """Find links in the index of a folder; one that is being made for the first time is waited for."""
    deadline = time.monotonic() + FIRST_INDEX_SECONDS
    while True:
        try:
            found, pending = await folder.served.ask_fresh(
                lambda index, pending: (find(folder.current_links(index), index), pending), View.DOCUMENTS
            )
            is_indexing = folder.served.progress(View.DOCUMENTS) is not None
            if found or not is_indexing or time.monotonic() > deadline:
                return found, pending
        except DowseError as error:
            if error.code != NotIndexed.code or time.monotonic() > deadline:
                raise
            folder.served.make_index(View.DOCUMENTS)
        await asyncio.sleep(0.05)
