"""The further tools over documents: the outline of one, some of its lines, and where links lead."""

import asyncio
import time
from collections.abc import Callable
from functools import partial

from dowse.errors import DowseError, NotIndexed, UsageError
from dowse.indexes.index import ProjectIndex
from dowse.mcp.replies import ENVELOPE_CHARACTERS, Reply, fit_items, largest, present, wire_characters
from dowse.mcp.schemas import NUMBER, TEXT, TEXTS, count, describe, item, reply
from dowse.mcp.tools import Call, Schema, Tool
from dowse.parsing.document_parsing import ParsedOutline, outline
from dowse.screening.masking import Screened, find_flags
from dowse.surfaces.documents.document_folders import DocumentFolder, DocumentFolders
from dowse.surfaces.documents.document_links import (
    DocumentLink,
    broken_links,
    incoming_links,
    link_reply,
    outgoing_links,
)
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS
from dowse.surfaces.documents.link_graph import LinkGraph
from dowse.text.line_numbers import split_lines
from dowse.types import Document, View
from dowse.visible_text import one_line

MAX_LINKS = 1000
FIRST_INDEX_SECONDS = 10.0
"""How long the links of a folder wait for its first index."""


class DocumentTools:
    """The handlers of the further tools, over the folders of a server."""

    def __init__(self, folders: DocumentFolders) -> None:
        self._folders = folders

    async def outline(self, call: Call) -> Reply:
        """Return the headings of a document."""
        document, folder, _ = await self._folders.read(call, call.arguments["uri"])
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
        about = _about(document, folder.uri(document.path), len(lines))
        return {**about, "headings": shown, **present(truncated=cut)}

    async def read(self, call: Call) -> Reply:
        """Return some lines of a document, or a section of it, as many lines as fit."""
        arguments = call.arguments
        document, folder, anchor = await self._folders.read(call, arguments["uri"])
        uri, section = folder.uri(document.path), arguments["section"] or anchor
        lines = arguments["startLine"], arguments["endLine"]
        return await asyncio.to_thread(document_reply, document, uri, section, lines, call.budget_characters)

    async def links(self, call: Call) -> Reply:
        """Return the links out of a document, into it, or broken ones."""
        arguments = call.arguments
        offset, limit = int(arguments["offset"]), int(arguments["limit"])
        links = await self._find_links(call, arguments["direction"], arguments["uri"])
        page = [link_reply(link, folder.uri) for folder, link in links[offset : offset + limit]]
        shown = fit_items(page, call.budget_characters - ENVELOPE_CHARACTERS)
        following = offset + len(shown)
        cut = "The reply would be too long. Go on at nextOffset." if len(shown) < len(page) else ""
        more = present(nextOffset=following if following < len(links) else 0, truncated=cut)
        return {"links": shown, "totalLinks": len(links), **more}

    async def _find_links(
        self, call: Call, direction: str, uri: str | None
    ) -> list[tuple[DocumentFolder, DocumentLink]]:
        if uri is None:
            if direction != "broken":
                raise UsageError(f"uri: which document? Links '{direction}' are those of one.")
            folders = await self._folders.find(call, may_ask=True)
            return [(folder, link) for folder in folders for link in await _ask_index(folder, broken_links)]
        document, folder, _ = await self._folders.read(call, uri)
        find = incoming_links if direction == "in" else outgoing_links
        links = await _ask_index(folder, partial(find, path=document.path))
        return [(folder, link) for link in links if link.problem or direction != "broken"]


async def _ask_index(
    folder: DocumentFolder, find: Callable[[LinkGraph, ProjectIndex], list[DocumentLink]]
) -> list[DocumentLink]:
    """Find links in the index of a folder; one that is being made for the first time is waited for."""
    deadline = time.monotonic() + FIRST_INDEX_SECONDS
    while True:
        try:
            found = await folder.served.ask_fresh(
                lambda index, _: find(folder.current_links(index), index), View.DOCUMENTS
            )
            is_indexing = folder.served.progress(View.DOCUMENTS) is not None
            if found or not is_indexing or time.monotonic() > deadline:
                return found
        except DowseError as error:
            if error.code != NotIndexed.code or time.monotonic() > deadline:
                raise
            folder.served.make_index(View.DOCUMENTS)
        await asyncio.sleep(0.05)


def document_reply(
    document: Document, uri: str, section: str, lines: tuple[float | None, float | None], budget: int
) -> Reply:
    """Return some lines of a document, or a section of it, as many lines as fit."""
    every = split_lines(document.reading.text)
    found = outline(document.reading.text, [section], document.language) if section else ParsedOutline()
    start, end = _line_range(found, section, *lines)
    end = min(end or len(every), len(every))
    if start > len(every) and every:
        raise UsageError(f"startLine: {start} is beyond the end; the document has {len(every)} lines.")
    reply: Reply = {**_about(document, uri, len(every)), "startLine": start}
    room = budget - wire_characters(reply) - ENVELOPE_CHARACTERS
    count = largest(
        end - start + 1, lambda count: wire_characters("".join(every[start - 1 : start - 1 + count])) <= room
    )
    text, last = "".join(every[start - 1 : start - 1 + count]), start + count - 1
    if last < start <= len(every):
        text = every[start - 1][: budget // 4]
        reply["truncated"] = f"Line {start} is longer than a reply. resources/read gives the whole document."
    elif last < end:
        reply["truncated"] = f"Cut at line {last} for the length of the reply. Go on with startLine: {last + 1}."
    return {
        **reply,
        "endLine": max(last, start),
        "text": text,
        **Screened(text, flags=find_flags(text)).warning_fields(start),
    }


def _about(document: Document, uri: str, lines: int) -> Reply:
    return {"uri": uri, "title": one_line(document.reading.title, TITLE_CHARACTERS), "totalLines": lines}


def document_tools(folders: DocumentFolders) -> list[Tool]:
    """Return the further tools, which are offered with `--tools full`."""
    handlers = DocumentTools(folders)
    extra = partial(Tool, is_extra=True)
    return [
        extra(
            "get_document_outline", "Outline of a document", "The headings of a document, with their lines and anchors",
            handlers.outline, reply(("uri", "headings"), uri=TEXT, title=TEXT, totalLines=NUMBER, headings={"type": "array"}),
            {"uri": _URI}, ("uri",),
        ),
        extra(
            "read_document", "Read a document", "Read a document by lines or by section",
            handlers.read,
            reply(
                ("uri", "text"), uri=TEXT, title=TEXT, text=TEXT, startLine=NUMBER, endLine=NUMBER, totalLines=NUMBER,
                flags=TEXTS,
            ),
            {
                "uri": _URI,
                "section": describe(TEXT, "Anchor of a section, such as install", minLength=1, maxLength=1000),
                "startLine": _LINE, "endLine": _LINE,
            },
            ("uri",),
        ),
        extra(
            "find_links", "Find links", "Links out of a document, links into it, or broken links of one or all",
            handlers.links,
            reply(("links", "totalLinks"), totalLinks=NUMBER, links={"type": "array", "items": item(("from", "target"))}),
            {
                "uri": describe(TEXT, "docs:// address; without it, broken links of all documents", maxLength=10_000),
                "direction": describe(TEXT, "Which links", enum=["out", "in", "broken"], default="out"),
                "limit": count("Maximum number of links", 100, MAX_LINKS),
                "offset": count("Skip this many links", 0, 10_000_000, 0),
            },
        ),
    ]  # fmt: skip


def _line_range(
    outline: ParsedOutline, section: str | None, start: float | None, end: float | None
) -> tuple[int, int | None]:
    """Return the first and the last line that a call asks for; no last line means the end of the document."""
    if not section:
        if start is not None and end is not None and end < start:
            raise UsageError(f"endLine: {int(end)} comes before startLine {int(start)}.")
        return int(start or 1), int(end) if end is not None else None
    if start is not None or end is not None:
        raise UsageError("section: give a section or lines, not both.")
    found = outline.section(section)
    if found is None:
        raise UsageError(f"section: the document has none called '{section}'. get_document_outline lists them.")
    return found.start_line, found.end_line


_URI: Schema = describe(TEXT, "docs:// address of the document", minLength=1, maxLength=10_000)
_LINE: Schema = {**NUMBER, "minimum": 1, "multipleOf": 1}
