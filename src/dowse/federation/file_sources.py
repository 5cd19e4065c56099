"""Folders as sources: the code and documentation of a project, and the documents of a folder."""

import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import quote

from dowse.errors import ItemNotFound, NotIndexed, SourceNotReady, UsageError
from dowse.federation.federation_types import FetchedItem, Item, SourceKind, SourceQuery, SourceResult, SourceStatus
from dowse.federation.result_ids import id_of, source_name
from dowse.indexes.document_search import DocumentQuery as WantedDocuments
from dowse.indexes.document_search import find_documents, read_now
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import answer_now, coverage
from dowse.keeping.service import ServedIndex, Service
from dowse.searching.passages import Passage, first_match
from dowse.searching.search import SearchOptions
from dowse.surfaces.documents.document_folders import DocumentFolders
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS, on_one_line
from dowse.surfaces.project.path_search import relative
from dowse.surfaces.project.project_replies import screening
from dowse.types import Document, Stat

LINE_CHARACTERS = 300
"""Of a longer line of a passage the part around its first match is shown."""
RANKED_FILES = 40
"""Files that are looked at closely: `searching.constants` says that 40 are as good as 120, which further pages need."""
_NANOSECONDS = 1_000_000_000


class _Folder:
    """What both have in common: a root, read behind its policy."""

    kind: SourceKind

    def __init__(self, service: Service, served: ServedIndex) -> None:
        self.name = source_name(self.kind, served.name)
        self._service, self._served = service, served

    def lacks(self, wanted: SourceQuery) -> str:  # noqa: ARG002 - files have paths, languages and dates
        return ""

    def keys(self, locator: str) -> frozenset[str]:
        return file_key(f"{self._served.root}/{locator}")

    async def fetch(self, locator: str) -> FetchedItem:
        document = await self._served.do(read_now, locator)
        if document is None:
            raise ItemNotFound(f"{self.name} has no such file that may be read")
        facts: dict[str, Any] = {
            "path": self._service.shown(self._served, document.path),
            "language": document.language,
            "modified": _modified(document.stat),
        }
        if document.reading.tags:
            facts["tags"] = [on_one_line(tag, 100) for tag in document.reading.tags]
        return FetchedItem(self._title(document), document.reading.text, self._url(document.path), facts)

    def _title(self, document: Document) -> str:
        return _title_of(document.kind, document.reading.title, self._service.shown(self._served, document.path))

    def _url(self, path: str, line: int = 0) -> str:
        raise NotImplementedError

    def _glob(self, wanted: SourceQuery) -> str | None:
        """The wanted paths as this folder understands them: they may begin with its name."""
        return relative(wanted.path).removeprefix(f"{self._served.name}/") if wanted.path else None

    def _options(self, project: ProjectIndex, wanted: SourceQuery) -> SearchOptions:
        among = None
        if wanted.is_dated:
            among = frozenset(one.id for one in project.store.documents() if wanted.is_within(_day(one.stat)))
        return SearchOptions(
            wanted.limit, path_glob=self._glob(wanted), language=wanted.language, budget_tokens=sys.maxsize,
            among=among, ranked_files=max(RANKED_FILES, 2 * wanted.limit), shown_chunks=1,
        )  # fmt: skip

    def _item(
        self, path: str, title: str, relevance: float, passage: Passage | None, terms: Mapping[str, float]
    ) -> Item:
        around = [*passage.headings, *passage.symbols] if passage else []
        more: dict[str, Any] = {"path": self._service.shown(self._served, path)}
        if passage:
            more |= {"startLine": passage.start_line, "endLine": passage.end_line, **screening(passage)}
        return Item(
            id_of(self.name, path), self.name, on_one_line(title, TITLE_CHARACTERS),
            self._url(path, passage.start_line if passage else 0), _shown(passage, terms) if passage else "",
            relevance, " ".join([path.rpartition("/")[2], *around]), self.keys(path), more,
        )  # fmt: skip

    async def standing(self) -> SourceStatus:
        return await self._served.do(self._standing)

    def _standing(self, project: ProjectIndex) -> SourceStatus:
        found = project.status()
        counts = {"files": found.files, "chunks": found.chunks} if found.state != "not_found" else {}
        encoding = found.encoding.as_json if found.encoding else None
        return SourceStatus(self.kind, self.name, found.state, counts, found.last_updated, found.problem, encoding)


class ProjectSearchSource(_Folder):
    """The code and documentation of one project, by its own search."""

    kind: SourceKind = "project"

    def __init__(self, service: Service, served: ServedIndex, remedy: str) -> None:
        super().__init__(service, served)
        self._remedy = remedy

    async def search(self, wanted: SourceQuery) -> SourceResult:
        self._served.keep_fresh()
        return await self._served.do(self._search, wanted)

    def _search(self, project: ProjectIndex, wanted: SourceQuery) -> SourceResult:
        left = self._served.catch_up(project)
        if not project.exists and not project.is_being_updated():
            raise SourceNotReady(self._not_indexed())
        try:
            answer = answer_now(project, wanted.text, self._options(project, wanted), self._served.encoder)
        except (UsageError, NotIndexed) as error:
            if project.exists:
                raise
            raise SourceNotReady("It is being indexed, and nothing is there yet. Ask again in a moment.") from error
        items = (
            self._item(
                hit.path, _title_of(hit.kind, hit.title, self._service.shown(self._served, hit.path)), hit.relevance,
                hit.passages[0] if hit.passages else None, answer.terms,
            )
            for hit in answer.hits
        )  # fmt: skip
        if self._served.encoder:
            self._served.encoder.front(project.root, [hit.path for hit in answer.hits])
        return SourceResult(
            tuple(items), coverage(project, len(left)), self._pending((*left, *answer.outdated)), answer.corrected,
            tuple(project.warnings), answer.ways,
        )  # fmt: skip

    def _pending(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._service.shown(self._served, path) for path in dict.fromkeys(paths))

    def _url(self, path: str, line: int = 0) -> str:
        written = quote(f"{self._served.root}/{path}", safe="/", errors="surrogateescape")
        return f"file://{written}" + (f"#L{line}" if line else "")

    def _standing(self, project: ProjectIndex) -> SourceStatus:
        found = super()._standing(project)
        if found.state == "not_found":
            return SourceStatus(self.kind, self.name, found.state, problem=self._not_indexed())
        return found

    def _not_indexed(self) -> str:
        return f"This project hasn't been indexed yet. {self._remedy}"


class DocumentsSearchSource(_Folder):
    """The documents of one folder, by title and content."""

    kind: SourceKind = "documents"

    def __init__(self, shelves: DocumentFolders, served: ServedIndex) -> None:
        super().__init__(shelves.service, served)
        self._shelves = shelves

    async def search(self, wanted: SourceQuery) -> SourceResult:
        self._shelves.open()
        return await self._served.do(self._search, wanted)

    def _search(self, project: ProjectIndex, wanted: SourceQuery) -> SourceResult:
        left = self._served.catch_up(project)
        if wanted.path or wanted.language or wanted.is_dated:
            return self._filtered(project, wanted, left)
        asked = WantedDocuments(wanted.text, limit=wanted.limit)
        found = find_documents(project, asked, self._shelves.titles(self._served), len(left))
        matches = found.matches
        items = (
            self._item(one.document.path, one.document.title, one.relevance, one.passage, matches.terms)
            for one in matches.found
        )
        return SourceResult(
            tuple(items), found.coverage, self._pending(left), matches.corrected, tuple(project.warnings)
        )

    def _filtered(self, project: ProjectIndex, wanted: SourceQuery, left: list[str]) -> SourceResult:
        """The same where only some documents are meant; then titles count as headings do."""
        answer = answer_now(project, wanted.text, self._options(project, wanted))
        items = (
            self._item(hit.path, hit.title, hit.relevance, hit.passages[0] if hit.passages else None, answer.terms)
            for hit in answer.hits
        )
        return SourceResult(tuple(items), coverage(project, len(left)), self._pending(left), answer.corrected)

    def _pending(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._service.shown(self._served, path) for path in paths)

    def _url(self, path: str, line: int = 0) -> str:  # noqa: ARG002 - an address of a document has no lines
        return self._shelves.uri(self._served, path)

    def _standing(self, project: ProjectIndex) -> SourceStatus:
        found = super()._standing(project)
        if found.state == "not_found":
            return SourceStatus(self.kind, self.name, found.state, problem="The first search will index them.")
        return SourceStatus(
            found.kind, found.name, found.state, {"documents": found.counts["files"], "chunks": found.counts["chunks"]},
            found.last_updated, found.problem,
        )  # fmt: skip


def file_key(path: str) -> frozenset[str]:
    """What a file is, whichever source it was found by."""
    return frozenset([f"file:{path}"])


def _title_of(kind: str, title: str, path: str) -> str:
    """Code is known by its path; of a document the title says more."""
    return title if kind == "docs" and title else path


def _shown(passage: Passage, terms: Mapping[str, float]) -> str:
    return "\n".join(_line(line, terms) for line in passage.text.split("\n"))


def _line(line: str, terms: Mapping[str, float]) -> str:
    if len(line) <= LINE_CHARACTERS:
        return line
    start = max(0, (first_match(line, terms) or 0) - LINE_CHARACTERS // 4)
    end = start + LINE_CHARACTERS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def _modified(stat: Stat) -> str:
    return (
        datetime.fromtimestamp(stat.mtime_ns / _NANOSECONDS, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    )


def _day(stat: Stat) -> date:
    return datetime.fromtimestamp(stat.mtime_ns / _NANOSECONDS, UTC).date()
