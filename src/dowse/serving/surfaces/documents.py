"""The documents surface: a folder's documents as resources, and searched."""

import asyncio
import base64
import binascii
import time
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote

from dowse.errors import UsageError
from dowse.reading import DOCUMENT_EXTENSIONS
from dowse.reading.outlines import section_of
from dowse.searching.documents import Found, Titles, by_title, in_order, matching, titles_of
from dowse.searching.query import parse
from dowse.serving.asking import Answer, Coverage, Options, answer_now, coverage
from dowse.serving.project import ProjectIndex
from dowse.serving.resources import Announcer, NoSuchResource, Resource
from dowse.serving.service import Served, Service
from dowse.serving.surfaces.excerpts import excerpt
from dowse.serving.surfaces.schemas import NUMBER, TEXT, TEXTS, count, described, item, reply
from dowse.serving.tools import Call, Schema, Told, Tool
from dowse.sources.documents import suffix_of
from dowse.types import Document, Entry, Reason, Verdict

SCHEME = "docs://"
PAGE = 200
"""Resources on a page of the list."""
MOST_RESULTS = 100
TITLE_CHARACTERS = 200
"""Of a title so much is told; a text's first line is its title, however long."""


class DocumentsSurface:
    """The documents of a service's folders."""

    def __init__(self, service: Service, announcer: Announcer) -> None:
        self.service = service
        self._announcer = announcer
        self._titles: dict[Served, Titles] = {}
        self._listed: dict[Served, int] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    async def tools(self, _client: Call) -> list[Tool]:
        """What is offered."""
        return [
            Tool(
                "search_documents", "Search documents", "Search documents by title or content",
                self.search_documents, _FOUND, _ARGUMENTS, ("query",),
            )
        ]  # fmt: skip

    # Resources

    async def listed(self, cursor: str | None) -> tuple[Sequence[Resource], str | None]:
        """A page of resources, by path; from the index where it is whole, else from the files themselves."""
        number, after = _position(cursor)
        page: list[Resource] = []
        folders = self._folders()
        for at, served in enumerate(folders[number:], number):
            found = await served.do(_page, after, PAGE - len(page))
            page += [_resource(self._uri(served, path), path, title, description) for path, title, description in found]
            if len(page) >= PAGE:
                return page, _cursor(at, found[-1][0])
            after = ""
        return page, None

    async def read(self, uri: str) -> tuple[str, str]:
        """A document, or one section of it, as it is now."""
        served, path, anchor = self._place(uri)
        document = await served.do(_read, path)
        if document is None:
            raise NoSuchResource(f"Resource not found: {uri}")
        text = document.reading.text
        if anchor:
            section = section_of(text, anchor)
            if section is None:
                raise NoSuchResource(f"Resource not found: {uri}")
            text = "\n".join(text.split("\n")[section.start_line - 1 : section.end_line])
        return text, mime_type_of(path)

    # Searching

    async def search_documents(self, call: Call) -> Told:
        """Documents by title, content or both."""
        given, started = call.arguments, time.perf_counter()
        extensions = _extensions(given["fileTypes"])
        limit = int(given["limit"])
        if not given["query"].strip():
            return _told([], 0, {}, started)
        found = await asyncio.gather(*(served.do(self._find, served, given, extensions) for served in self._folders()))
        total = sum(count for _, count, _, _ in found)
        every = [
            _result(self._uri(served, one.document.path), one, answer)
            for served, (ones, _, answer, _) in zip(self._folders(), found, strict=True)
            for one in ones
        ]
        every.sort(key=lambda one: -one["relevance"])
        return _told(every[:limit], total, _covered([covered for *_, covered in found]), started)

    def _find(
        self, project: ProjectIndex, served: Served, given: Mapping[str, Any], extensions: frozenset[str]
    ) -> tuple[list[Found], int, Answer, Coverage]:
        text, search_in, limit = given["query"], given["searchIn"], int(given["limit"])
        left = served.catch_up(project)
        glob = f"**/*.{{{','.join(extension[1:] for extension in sorted(extensions))},}}" if extensions else None
        answer = answer_now(project, text, Options(min(1000, max(3 * limit, 30)), "docs", _case_free(glob)))
        titles = self._titles_of(project, served)
        among = [n for n, one in titles.documents.items() if not extensions or suffix_of(one.path) in extensions]
        query = parse(text)
        by_titles = by_title(titles, query, answer.corrected, among) if not query.must_not else {}
        held = matching(project.store, titles, query, answer.corrected, among) if search_in != "title" else set()
        every = held | (by_titles.keys() if search_in != "content" else set())
        found = in_order(titles, answer, by_titles, search_in, limit)
        return found, max(len(every), len(found)), answer, coverage(project, len(left))

    def _titles_of(self, project: ProjectIndex, served: Served) -> Titles:
        sequence = project.store.sequence()
        known = self._titles.get(served)
        if known is None or known.sequence != sequence:
            known = self._titles[served] = titles_of(project.store, sequence)
        return known

    # Folders and addresses

    def _folders(self) -> list[Served]:
        self._loop = asyncio.get_running_loop()
        folders = self.service.documents()
        for served in folders:
            served.keep_fresh(partial(self._changed, served))
            served.make_index()
        return folders

    def _changed(self, served: Served, project: ProjectIndex) -> None:
        """Tell clients when the list is another one; on the thread that keeps the index fresh."""
        digest = hash(tuple((one.path, one.title) for one in project.store.documents()))
        if self._listed.setdefault(served, digest) != digest and self._loop:
            self._listed[served] = digest
            asyncio.run_coroutine_threadsafe(self._announcer.announce(), self._loop)

    def _uri(self, served: Served, path: str) -> str:
        return uri_of(self.service.shown(served, path))

    def _place(self, uri: str) -> tuple[Served, str, str]:
        if not uri.startswith(SCHEME):
            raise NoSuchResource(f"Unsupported URI scheme: {uri}")
        address, _, anchor = uri.removeprefix(SCHEME).partition("#")
        path = unquote(address, errors="surrogateescape")
        for served in self._folders():
            if not self.service.has_several:
                return served, path, unquote(anchor)
            if path.startswith(f"{served.name}/"):
                return served, path.removeprefix(f"{served.name}/"), unquote(anchor)
        raise NoSuchResource(f"Resource not found: {uri}")


def uri_of(path: str) -> str:
    """The address of a document."""
    return SCHEME + quote(path, safe="/", errors="surrogateescape")


def mime_type_of(path: str) -> str:
    """The type of what a reader gets."""
    return str(DOCUMENT_EXTENSIONS.get(suffix_of(path), "text/markdown"))


def _page(project: ProjectIndex, after: str, most: int) -> list[tuple[str, str, str]]:
    if project.exists and not project.is_being_updated() and project.store.noted("state") == "complete":
        return [(one.path, one.title, one.description) for one in islice(project.store.documents(after=after), most)]
    found: list[tuple[str, str, str]] = []
    for entry in project.source.entries():
        if isinstance(entry, Entry) and entry.path > after:
            read = project.source.read(entry)
            if isinstance(read, Document):
                found.append((entry.path, read.reading.title, read.reading.description))
        if len(found) >= most:
            break
    return found


def _read(project: ProjectIndex, path: str) -> Document | None:
    entry = project.source.entry_at(path) if _is_plain(path) else Verdict(path, Reason.OUTSIDE)
    read = project.source.read(entry) if isinstance(entry, Entry) else entry
    return read if isinstance(read, Document) else None


def _is_plain(path: str) -> bool:
    """Whether a path is spelled as listed: below the root, without dots."""
    return bool(path) and "\0" not in path and all(part not in ("", ".", "..") for part in path.split("/"))


def _resource(uri: str, path: str, title: str, description: str) -> Resource:
    return Resource(uri, path.rpartition("/")[2], title[:TITLE_CHARACTERS], description, mime_type_of(path))


def _position(cursor: str | None) -> tuple[int, str]:
    if cursor is None:
        return 0, ""
    try:
        number, _, after = base64.urlsafe_b64decode(cursor.encode()).decode().partition(":")
        return int(number), after
    except (ValueError, binascii.Error) as error:
        raise UsageError("The cursor is not one that this server gave.") from error


def _cursor(number: int, after: str) -> str:
    return base64.urlsafe_b64encode(f"{number}:{after}".encode()).decode()


def _extensions(given: list[str] | None) -> frozenset[str]:
    wanted = frozenset(f".{name.strip().lstrip('.').lower()}" for name in given or () if name.strip(". "))
    if unknown := wanted - DOCUMENT_EXTENSIONS.keys():
        raise UsageError(
            f"fileTypes: {min(unknown)} is no kind of document. Known: {' '.join(sorted(DOCUMENT_EXTENSIONS))}."
        )
    return wanted


def _case_free(glob: str | None) -> str | None:
    """The same glob for names in capitals."""
    if glob is None:
        return None
    return "".join(f"[{letter}{letter.upper()}]" if letter.isalpha() else letter for letter in glob.replace(",}", "}"))


def _result(uri: str, found: Found, answer: Answer) -> dict[str, Any]:
    passage = found.passage
    shown = excerpt(passage.text, answer.terms) if passage and found.place != "title" else found.document.description
    result: dict[str, Any] = {
        "uri": uri,
        "title": found.document.title[:TITLE_CHARACTERS],
        "relevance": found.relevance,
        "excerpt": shown,
        "matchLocation": found.place,
    }
    if passage:
        result |= {"startLine": passage.start_line, "endLine": passage.end_line, "headings": list(passage.headings)}
    return result


def _told(results: list[dict[str, Any]], total: int, covered: dict[str, Any], started: float) -> Told:
    shown = f" (showing {len(results)})" if total > len(results) and total else ""
    lines = [f"Search results: {total} matches{shown}"]
    for number, one in enumerate(results, 1):
        lines += [
            "",
            f'{number}. {one["uri"]} - "{one["title"]}" (relevance: {one["relevance"]:.2f})',
            f"   Excerpt: {one['excerpt']}",
            f"   Match location: {one['matchLocation']}",
        ]
    if covered.get("complete") is False:
        lines += [
            "",
            f"Searched {covered['indexedFiles']} of {covered['expectedFiles']} documents; the rest is being indexed.",
        ]
    content = {
        "totalMatches": total,
        "results": results,
        "searchTimeMs": round((time.perf_counter() - started) * 1000, 1),
    }
    return Told(content | ({"coverage": covered} if covered else {}), "\n".join(lines))


def _covered(each: list[Coverage]) -> dict[str, Any]:
    return {
        "indexedFiles": sum(one.files for one in each),
        "expectedFiles": sum(max(one.files, one.expected) for one in each),
        "complete": all(one.is_complete for one in each),
    }


_ARGUMENTS: dict[str, Schema] = {
    "query": described(TEXT, "Search query", maxLength=10_000),
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
            ("uri", "title", "relevance"), uri=TEXT, title=TEXT, relevance=NUMBER, excerpt=TEXT, matchLocation=TEXT
        ),
    },
)
