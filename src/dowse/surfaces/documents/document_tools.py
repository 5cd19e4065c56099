"""Leafing through documents: what one is made of, some lines of it, and where its links lead."""

from functools import partial
from typing import Any

from dowse.errors import UsageError
from dowse.indexes.document_search import read_now
from dowse.indexes.index import ProjectIndex
from dowse.keeping.service import ServedIndex
from dowse.line_numbers import lines_of
from dowse.mcp.schemas import NUMBER, TEXT, TEXTS, count, described, item, reply
from dowse.mcp.tools import Call, Schema, Tool, wire_characters
from dowse.reading.link_resolution import Broken, External, Internal, Resolved, resolve
from dowse.reading.link_targets import LinkTargets
from dowse.reading.outlines import Outline
from dowse.screening.instructions import flags_in
from dowse.screening.masking import Screened
from dowse.surfaces.documents.document_folders import DocumentFolders
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS, on_one_line
from dowse.surfaces.documents.link_graph import LinkGraph
from dowse.types import Link

MOST_LINKS = 1000
TARGET_CHARACTERS = 2000
"""Of an address so much is told; longer ones carry a picture or a program."""
NO_ANCHOR = "the document has no such section"


class DocumentTools:
    """The tools; links are looked at once, and then followed."""

    def __init__(self, shelves: DocumentFolders) -> None:
        self._shelves = shelves
        self._webs: dict[ServedIndex, LinkGraph] = {}

    async def outline(self, call: Call) -> dict[str, Any]:
        """The headings of a document."""
        document, served, _ = await self._shelves.document(call, call.arguments["uri"])
        lines = lines_of(document.reading.text)
        outline = Outline(document.reading.text)
        headings = []
        for one in outline.headings:
            section = outline.section(one.anchor)
            end = section.end_line if section and section.start_line == one.line else one.line
            text = on_one_line(one.text, TITLE_CHARACTERS)
            headings.append(
                {"level": one.level, "text": text, "startLine": one.line, "endLine": end, "anchor": one.anchor}
            )
        kept, is_cut = _within_budget(headings, call.budget_characters)
        return {
            "uri": self._shelves.uri(served, document.path),
            "title": on_one_line(document.reading.title, TITLE_CHARACTERS),
            "totalLines": len(lines),
            "headings": kept,
            **({"truncated": f"{len(headings)} headings; the first {len(kept)} are shown."} if is_cut else {}),
        }

    async def read(self, call: Call) -> dict[str, Any]:
        """Some lines of a document, or a section of it."""
        given = call.arguments
        document, served, anchor = await self._shelves.document(call, given["uri"])
        lines = lines_of(document.reading.text)
        start, end = _wanted(document.reading.text, given["section"] or anchor, given["startLine"], given["endLine"])
        end = min(end or len(lines), len(lines))
        if start > len(lines) and lines:
            raise UsageError(f"startLine: {start} is beyond the end; the document has {len(lines)} lines.")
        reply: dict[str, Any] = {
            "uri": self._shelves.uri(served, document.path),
            "title": on_one_line(document.reading.title, TITLE_CHARACTERS),
            "totalLines": len(lines),
            "startLine": start,
        }
        text, last = _as_many_lines(lines, start, end, call.budget_characters - wire_characters(reply) - 400)
        if last < start <= len(lines):
            text = lines[start - 1][: call.budget_characters // 4]
            reply["truncated"] = f"Line {start} is longer than a reply. resources/read gives the whole document."
        elif last < end:
            reply["truncated"] = f"Cut at line {last} for the length of the reply. Go on with startLine: {last + 1}."
        return {**reply, "endLine": max(last, start), "text": text, **Screened(text, flags=flags_in(text)).notes(start)}

    async def links(self, call: Call) -> dict[str, Any]:
        """Links out of a document, into it, or broken ones."""
        given = call.arguments
        direction, uri, offset, limit = given["direction"], given["uri"], int(given["offset"]), int(given["limit"])
        if uri is None and direction != "broken":
            raise UsageError(f"uri: which document? Links '{direction}' are those of one.")
        if uri is None:
            folders = await self._shelves.folders(call, may_ask=True)
            found = [one for served in folders for one in await served.do(self._broken, served)]
        else:
            document, served, _ = await self._shelves.document(call, uri)
            work = {"out": self._out, "in": self._into, "broken": self._out}[direction]
            found = await served.do(work, served, document.path)
            if direction == "broken":
                found = [one for one in found if "problem" in one]
        page = found[offset : offset + limit]
        kept, is_cut = _within_budget(page, call.budget_characters)
        reply: dict[str, Any] = {"links": kept, "totalLinks": len(found)}
        if offset + len(kept) < len(found):
            reply["nextOffset"] = offset + len(kept)
        return {**reply, **({"truncated": "The reply would be too long. Go on at nextOffset."} if is_cut else {})}

    # On the thread of a folder

    def _out(self, project: ProjectIndex, served: ServedIndex, path: str) -> list[dict[str, Any]]:
        pages = self._web(project, served).pages
        stored = project.store.document(path)
        outlines: dict[str, Outline | None] = {}
        found = []
        for link in project.store.links(stored.id) if stored else []:
            to = resolve(link.target, path, pages)
            told = self._told(served, path, link, to)
            if isinstance(to, Internal) and to.anchor and not _has_anchor(project, to, outlines):
                told["problem"] = NO_ANCHOR
            found.append(told)
        return found

    def _into(self, project: ProjectIndex, served: ServedIndex, path: str) -> list[dict[str, Any]]:
        web = self._web(project, served)
        return self._each(project, served, web.sources(path), web.pages)

    def _broken(self, project: ProjectIndex, served: ServedIndex) -> list[dict[str, Any]]:
        web = self._web(project, served)
        return self._each(project, served, web.sources(None), web.pages)

    def _each(
        self, project: ProjectIndex, served: ServedIndex, sources: list[tuple[int, int]], pages: LinkTargets
    ) -> list[dict[str, Any]]:
        documents = project.store.documents_by_id({number for number, _ in sources})
        links = {number: project.store.links(number) for number in documents}
        found = [(documents[number].path, links[number][place]) for number, place in sources if number in documents]
        found.sort(key=lambda one: (one[0], one[1].line))
        return [self._told(served, path, link, resolve(link.target, path, pages)) for path, link in found]

    def _told(self, served: ServedIndex, path: str, link: Link, to: Resolved) -> dict[str, Any]:
        told: dict[str, Any] = {
            "from": self._shelves.uri(served, path),
            "line": link.line,
            "text": on_one_line(link.text, TITLE_CHARACTERS),
            "target": on_one_line(link.target, TARGET_CHARACTERS),
        }
        match to:
            case Internal(target, anchor):
                return {**told, "kind": "document", "to": self._shelves.uri(served, target, anchor)}
            case External(url):
                return {**told, "kind": "web", "to": on_one_line(url, TARGET_CHARACTERS)}
            case Broken(fault, _):
                return {**told, "kind": "broken", "problem": str(fault)}
            case _:
                return {**told, "kind": "other"}

    def _web(self, project: ProjectIndex, served: ServedIndex) -> LinkGraph:
        served.catch_up(project)
        web = self._webs.setdefault(served, LinkGraph())
        web.follow(project.store)
        return web


def leafing_tools(shelves: DocumentFolders) -> list[Tool]:
    """The tools, which are offered on demand."""
    leafing = DocumentTools(shelves)
    extra = partial(Tool, is_extra=True)
    return [
        extra(
            "get_document_outline", "Outline of a document", "The headings of a document, with their lines and anchors",
            leafing.outline, reply(("uri", "headings"), uri=TEXT, title=TEXT, totalLines=NUMBER, headings={"type": "array"}),
            {"uri": _URI}, ("uri",),
        ),
        extra(
            "read_document", "Read a document", "Read a document by lines or by section",
            leafing.read,
            reply(
                ("uri", "text"), uri=TEXT, title=TEXT, text=TEXT, startLine=NUMBER, endLine=NUMBER, totalLines=NUMBER,
                flags=TEXTS,
            ),
            {
                "uri": _URI,
                "section": described(TEXT, "Anchor of a section, such as install", minLength=1, maxLength=1000),
                "startLine": _LINE, "endLine": _LINE,
            },
            ("uri",),
        ),
        extra(
            "find_links", "Find links", "Links out of a document, links into it, or broken links of one or all",
            leafing.links,
            reply(("links", "totalLinks"), totalLinks=NUMBER, links={"type": "array", "items": item(("from", "target"))}),
            {
                "uri": described(TEXT, "docs:// address; without it, broken links of all documents", maxLength=10_000),
                "direction": described(TEXT, "Which links", enum=["out", "in", "broken"], default="out"),
                "limit": count("Maximum number of links", 100, MOST_LINKS),
                "offset": count("Skip this many links", 0, 10_000_000, 0),
            },
        ),
    ]  # fmt: skip


def _has_anchor(project: ProjectIndex, to: Internal, outlines: dict[str, Outline | None]) -> bool:
    if to.path not in outlines:
        document = read_now(project, to.path)
        outlines[to.path] = Outline(document.reading.text) if document else None
    outline = outlines[to.path]
    return outline is not None and outline.section(to.anchor) is not None


def _wanted(text: str, section: str | None, start: float | None, end: float | None) -> tuple[int, int | None]:
    if not section:
        if start is not None and end is not None and end < start:
            raise UsageError(f"endLine: {int(end)} comes before startLine {int(start)}.")
        return int(start or 1), int(end) if end is not None else None
    if start is not None or end is not None:
        raise UsageError("section: give a section or lines, not both.")
    found = Outline(text).section(section)
    if found is None:
        raise UsageError(f"section: the document has none called '{section}'. get_document_outline lists them.")
    return found.start_line, found.end_line


def _as_many_lines(lines: list[str], start: int, end: int, characters: int) -> tuple[str, int]:
    """Lines from one to another, as many as a reply has room for, and the last that is whole."""
    taken: list[str] = []
    for line in lines[start - 1 : end]:
        characters -= wire_characters(line)
        if characters < 0:
            break
        taken.append(line)
    return "".join(taken), start + len(taken) - 1


def _within_budget(items: list[dict[str, Any]], characters: int) -> tuple[list[dict[str, Any]], bool]:
    left = characters - 1000
    for number, one in enumerate(items):
        left -= wire_characters(one) + 4
        if left < 0:
            return items[:number], True
    return items, False


_URI: Schema = described(TEXT, "docs:// address of the document", minLength=1, maxLength=10_000)
_LINE: Schema = {**NUMBER, "minimum": 1, "multipleOf": 1}
