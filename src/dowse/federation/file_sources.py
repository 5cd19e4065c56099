"""Folders as sources: the code and documentation of a project, and the documents of a folder."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import quote

from dowse.errors import ItemNotFound, NotIndexed, SourceNotReady, UsageError
from dowse.federation.federation_types import (
    FetchedItem,
    Item,
    ListedItem,
    LookAtText,
    SourceKind,
    SourceQuery,
    SourceResult,
    SourceStatus,
)
from dowse.federation.result_ids import id_of, source_name
from dowse.indexes.document_search import (
    DocumentQuery,
    DocumentResults,
    find_indexed_documents,
    read_now,
)
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import coverage, search_now
from dowse.keeping.catch_up import is_far_behind
from dowse.keeping.served_index import ServedIndex
from dowse.keeping.service import Service
from dowse.mcp.reply_status import coverage_warnings
from dowse.searching.passages import Passage
from dowse.searching.query_terms import SearchQuery
from dowse.searching.search import Answer, SearchOptions
from dowse.surfaces.documents.document_folders import DocumentFolder, DocumentFolders
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS
from dowse.surfaces.passage_text import content_warnings, passage_text
from dowse.surfaces.project.path_search import relative_pattern
from dowse.types import Coverage, Document, Entry, Stat, View
from dowse.visible_text import one_line

MAX_LINE_CHARACTERS = 300
"""A longer line of a passage is cut around its first match."""
RANKED_FILES = 40
"""Files that are ranked closely: 40 are as good as the 120 that further pages need (`searching.ranking_constants`)."""
_NANOSECONDS = 1_000_000_000


class _FileSource:
    """The common part of both kinds of folders: a root that is read behind its policy."""

    kind: SourceKind
    view = View.PROJECT
    counted = "files"

    def __init__(self, service: Service, served: ServedIndex) -> None:
        self.name = source_name(self.kind, served.name)
        self._service, self._served = service, served

    def unsupported_filter(self, query: SourceQuery) -> str:  # noqa: ARG002 - files have paths, languages and dates
        return ""

    def keys(self, locator: str) -> frozenset[str]:
        return file_key(f"{self._served.root}/{locator}")

    async def prepare(self, query: SourceQuery) -> None:  # noqa: ARG002 - an index has a first query of its own
        await self._served.wait_until_prepared(self.view)

    async def list_items(self) -> list[ListedItem]:
        return await self._served.ask_fresh(lambda index, _: self._list(index), self.view)

    def _list(self, index: ProjectIndex) -> list[ListedItem]:
        """Return the indexed files; while there is no index, those that the policy allows."""
        if index.exists:
            return [ListedItem(path, path) for _, path in index.store.ids_by_path()]
        entries = (entry for entry in index.source.entries() if isinstance(entry, Entry))
        return [ListedItem(entry.path, entry.path) for entry in entries if entry.views & self.view]

    async def each_text(self, look: LookAtText) -> None:
        def read(index: ProjectIndex) -> None:
            for item in self._list(index):
                if document := read_now(index, item.locator):
                    look(item.locator, document.reading.text)

        await self._served.ask(read, self.view)

    async def fetch(self, locator: str) -> FetchedItem:
        document = await self._served.ask(lambda index: read_now(index, locator), self.view)
        if document is None:
            raise ItemNotFound(f"{self.name} has no such file that may be read")
        facts: dict[str, Any] = {
            "path": self._shown_path(document.path),
            "language": document.language,
            "modified": _modified(document.stat),
        }
        if document.reading.tags:
            facts["tags"] = [one_line(tag, 100) for tag in document.reading.tags]
        return FetchedItem(self._document_title(document), document.reading.text, self._url(document.path), facts)

    def _document_title(self, document: Document) -> str:
        return self._title(document.kind, document.reading.title, document.path)

    def _title(self, kind: str, title: str, path: str) -> str:
        """Return the title of a document, and the path of a file of code."""
        return title if kind == "docs" and title else self._shown_path(path)

    def _shown_path(self, path: str) -> str:
        return self._service.shown_path(self._served, path)

    def _pending(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self._shown_path, dict.fromkeys(paths)))

    def _url(self, path: str, line: int = 0) -> str:
        raise NotImplementedError

    def _parsed(self, query: SourceQuery) -> SearchQuery:
        return replace(query.query, filters=query.query.filters.within(self._served.name))

    def _options(self, index: ProjectIndex, query: SourceQuery) -> SearchOptions:
        """Return the options of a query; its path may begin with the name of this folder."""
        glob = relative_pattern(query.path).removeprefix(f"{self._served.name}/") if query.path else None
        among = None
        if query.is_dated:
            among = frozenset(one.id for one in index.store.documents() if query.is_within(_day(one.stat)))
        return replace(brief_options(query, glob), among=among, lists_matches=query.lists_matches)

    def _hits(self, answer: Answer) -> tuple[Item, ...]:
        return tuple(
            self._item(
                hit.path, self._title(hit.kind, hit.title, hit.path), hit.relevance,
                hit.passages[0] if hit.passages else None, answer.terms, data=hit.data,
            )
            for hit in answer.hits
        )  # fmt: skip

    def _item(
        self, path: str, title: str, relevance: float, passage: Passage | None, terms: Mapping[str, float],
        *, data: bytes = b"",
    ) -> Item:  # fmt: skip
        item = Item(
            id_of(self.name, path), self.name, one_line(title, TITLE_CHARACTERS),
            self._url(path, passage.start_line if passage else 0), "", relevance, path.rpartition("/")[2],
            self.keys(path), {"path": self._shown_path(path)}, data,
        )  # fmt: skip
        return with_passage(item, passage, terms)

    async def status(self) -> SourceStatus:
        return await self._served.ask(self._status, self.view)

    def _status(self, index: ProjectIndex) -> SourceStatus:
        found, progress = index.status(), self._served.progress(self.view)
        if found.state == "not_found":
            if not self._served.is_making(index):
                return SourceStatus(self.kind, self.name, found.state, problem=self._not_indexed())
            return SourceStatus(
                self.kind, self.name, "indexing", growth=Coverage(*(progress or (0, 0)), is_indexing=True)
            )
        state, growth = "indexing" if progress else found.state, None
        done, expected = progress or (found.files, found.expected_files)
        if progress or (state == "indexing" and not 0 < expected <= done):
            growth = Coverage(done, expected, is_indexing=True, seconds_left=found.seconds_left)
        return SourceStatus(
            self.kind, self.name, state, {self.counted: found.files, "chunks": found.chunks}, found.last_updated,
            found.problem, found.encoding.as_json if found.encoding else None, growth,
        )  # fmt: skip

    def _not_indexed(self) -> str:
        """Return what to do about a source without an index."""
        raise NotImplementedError


class ProjectSearchSource(_FileSource):
    """The code and documentation of one project."""

    kind: SourceKind = "project"

    def __init__(self, service: Service, served: ServedIndex, remedy: str) -> None:
        super().__init__(service, served)
        self._remedy = remedy

    async def search(self, query: SourceQuery) -> SourceResult:
        self._served.keep_fresh()
        return await self._served.ask_fresh(lambda index, pending: self._search(index, pending, query), self.view)

    def _search(self, index: ProjectIndex, pending: list[str], query: SourceQuery) -> SourceResult:
        if not index.exists and not self._served.is_making(index):
            raise SourceNotReady(self._not_indexed())
        try:
            answer = search_now(
                index,
                self._parsed(query),
                self._options(index, query),
                self._served.encoder,
                is_behind=is_far_behind(pending),
            )
        except (UsageError, NotIndexed) as error:
            if index.exists:
                raise
            raise SourceNotReady("It is being indexed, and nothing is there yet. Ask again in a moment.") from error
        covered = coverage(index, max(len(pending), len(answer.outdated)), answer.searched)
        if self._served.encoder:
            self._served.encoder.prioritize(index.root, [hit.path for hit in answer.hits])
        left = () if answer.searched.were_compared else pending
        return SourceResult(
            self._hits(answer), covered, self._pending((*left, *answer.outdated)),
            answer.corrected, (*index.warnings, *coverage_warnings(covered)), answer.methods, answer.matched,
        )  # fmt: skip

    def _url(self, path: str, line: int = 0) -> str:
        written = quote(f"{self._served.root}/{path}", safe="/", errors="surrogateescape")
        return f"file://{written}" + (f"#L{line}" if line else "")

    def _not_indexed(self) -> str:
        return f"This project hasn't been indexed yet. {self._remedy}"


class DocumentsSearchSource(_FileSource):
    """The documents of one folder, by title and content."""

    kind: SourceKind = "documents"
    view = View.DOCUMENTS
    counted = "documents"

    def __init__(self, folders: DocumentFolders, folder: DocumentFolder, *, is_project: bool = False) -> None:
        """`is_project` says that the folder is a source as a project as well."""
        super().__init__(folders.service, folder.served)
        self._folders, self._folder = folders, folder
        self._project = source_name("project", folder.served.name) if is_project else ""

    async def search(self, query: SourceQuery) -> SourceResult:
        self._folders.open()
        if self._project in query.asked:
            found = await self._served.ask(lambda index: self._search_beside_project(index, query), self.view)
            if found:
                return found
        return await self._served.ask_fresh(lambda index, pending: self._search(index, pending, query), self.view)

    def _search_beside_project(self, index: ProjectIndex, query: SourceQuery) -> SourceResult | None:
        """Search the documents that are indexed, if some are not: the search of the project reads those.

        Return None if all documents are indexed, or if there is no index of the project either.
        """
        project = index.seen_as(View.PROJECT)
        if index.is_ready() or not (project.exists or self._served.is_making(project)):
            return None
        if _is_filtered(query):
            return SourceResult(coverage=coverage(index))
        return self._result(index, find_indexed_documents(index, DocumentQuery(query.query, limit=query.limit)), [])

    def _search(self, index: ProjectIndex, pending: list[str], query: SourceQuery) -> SourceResult:
        if _is_filtered(query):
            return self._search_some(index, pending, query)
        found = self._folder.search_in(index, pending, DocumentQuery(query.query, limit=query.limit))
        return self._result(index, found, pending)

    def _result(self, index: ProjectIndex, found: DocumentResults, pending: list[str]) -> SourceResult:
        matches = found.matches
        items = (
            self._item(one.document.path, one.document.title, one.relevance, one.passage, matches.terms)
            for one in matches.found
        )
        warnings = (*index.warnings, *coverage_warnings(found.coverage))
        return SourceResult(tuple(items), found.coverage, self._pending(pending), matches.corrected, warnings)

    def _search_some(self, index: ProjectIndex, pending: list[str], query: SourceQuery) -> SourceResult:
        """Search the documents that pass the filters; their titles count as headings do."""
        answer = search_now(index, self._parsed(query), self._options(index, query), is_behind=is_far_behind(pending))
        covered = coverage(index, max(len(pending), len(answer.outdated)), answer.searched)
        warnings = tuple(coverage_warnings(covered))
        return SourceResult(
            self._hits(answer), covered, self._pending(pending), answer.corrected, warnings, matched=answer.matched
        )

    def _title(self, kind: str, title: str, path: str) -> str:  # noqa: ARG002 - every document has a title
        return title

    def _document_title(self, document: Document) -> str:
        return super()._title(document.kind, document.reading.title, document.path)

    def _url(self, path: str, line: int = 0) -> str:  # noqa: ARG002 - the URI of a document has no lines
        return self._folder.uri(path)

    def _status(self, index: ProjectIndex) -> SourceStatus:
        return replace(super()._status(index), encoding=None)

    def _not_indexed(self) -> str:
        return "The first search will index them."


def _is_filtered(query: SourceQuery) -> bool:
    return bool(query.filters_paths or query.language or query.is_dated or query.kind)


def brief_options(query: SourceQuery, glob: str | None) -> SearchOptions:
    """Return the options of a search that shows one passage of each file."""
    return SearchOptions(
        query.limit, query.kind, glob, query.language, ranked_files=max(RANKED_FILES, 2 * query.limit), detail="brief",
        keeps_weak=True, asks_model=query.asks_model,
    )  # fmt: skip


def with_passage(item: Item, passage: Passage | None, terms: Mapping[str, float]) -> Item:
    """Return an item with the passage that answers, if there is one, and with the names around it."""
    around = (*passage.headings, *passage.symbols) if passage else ()
    names = " ".join([item.names, *around])
    if passage is None:
        return replace(item, names=names)
    lines = {"startLine": passage.start_line, "endLine": passage.end_line, **content_warnings(passage)}
    text = passage_text(passage, terms, MAX_LINE_CHARACTERS)
    return replace(item, text=text, names=names, more={**item.more, **lines}, around=around)


def file_key(path: str) -> frozenset[str]:
    """Return the key by which a file is known to every source that finds it."""
    return frozenset([f"file:{path}"])


def _modified(stat: Stat) -> str:
    moment = datetime.fromtimestamp(stat.mtime_ns / _NANOSECONDS, UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _day(stat: Stat) -> date:
    return datetime.fromtimestamp(stat.mtime_ns / _NANOSECONDS, UTC).date()
