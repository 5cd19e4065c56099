"""A root as a source: its files as those of a project, and its documents as a reader gets them."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote

from dowse.errors import ItemNotFound, NotIndexed, SourceNotReady, UsageError
from dowse.federation.federation_types import (
    AS_DOCUMENT,
    FetchedItem,
    Item,
    ListedItem,
    SearchSource,
    SourceKind,
    SourceQuery,
    SourceResult,
    SourceStatus,
    id_of,
    source_name,
)
from dowse.indexes.document_search import DocumentQuery, DocumentResults, find_indexed_documents, read_now
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import coverage, search_now
from dowse.indexes.query_vectors import QueryEncoder
from dowse.keeping.keeper import is_far_behind
from dowse.keeping.served_index import ServedIndex, Service
from dowse.mcp.replies import coverage_warnings, overall_state
from dowse.searching.passages import Passage, content_warnings, passage_text
from dowse.searching.search import Answer, SearchHit, SearchOptions
from dowse.surfaces.documents.doc_uris import has_one_form, make_uri
from dowse.surfaces.documents.document_folders import DocumentFolder, DocumentFolders, find_served_documents
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS
from dowse.surfaces.project.path_search import relative_pattern
from dowse.types import Coverage, Document, Entry, Stat, StoredDocument, View
from dowse.visible_text import one_line

Result = TypeVar("Result")

COMPARED_MATCHES = 2_000
"""While files are pending in a large index, so many that match are compared for the numbers beside filters: 0.4 s."""

Terms = Mapping[str, float]
MAX_LINE_CHARACTERS = 300
"""A longer line of a passage is cut around its first match."""
RANKED_FILES = 40
"""Files that are ranked closely: 40 are as good as the 120 that further pages need (`searching.ranking_constants`)."""
_NANOSECONDS = 1_000_000_000


class RootSource(SearchSource):
    """The files of one root: those of a project as they are, and its documents as a reader gets them."""

    def __init__(
        self, served: ServedIndex, service: Service, views: View, *, remedy: str = "",
        folders: DocumentFolders | None = None, folder: DocumentFolder | None = None,
    ) -> None:  # fmt: skip
        """`views` are those that are served: of a project, of its documents or of both; `folder` has the documents."""
        self.served, self.views, self.folder = served, views, folder
        self.kind: SourceKind = "project" if View.PROJECT in views else "documents"
        self.name = source_name(self.kind, served.name)
        self._service, self._folders, self._remedy = service, folders, remedy

    @property
    def kinds(self) -> tuple[SourceKind, ...]:
        return (self.kind, "documents") if self.views is View.BOTH else (self.kind,)

    @property
    def main_view(self) -> View:
        """The view that shows all of its files: that of the project, if it is one."""
        return next(iter(self.views))

    def item_id(self, path: str, view: View) -> str:
        """Return the id of a file as a view shows it: a document that is converted has an id of its own."""
        is_converted = view is not self.main_view and not has_one_form(path)
        return id_of(self.name, path) + (AS_DOCUMENT if is_converted else "")

    async def prepare(self, query: SourceQuery) -> None:  # noqa: ARG002 - an index has a first query of its own
        for view in self.views:
            await self.served.wait_until_prepared(view)

    # Searching

    async def find_items(self, query: SourceQuery) -> SourceResult:
        """Search the files of a project and its documents; if only one of the two can answer, its answer counts."""
        views = self.views & query.views or self.views
        self.served.keep_fresh()
        if self._folders and View.DOCUMENTS in views:
            self._folders.open()
        finders = {View.PROJECT: self._find_files, View.DOCUMENTS: self._find_documents}
        asked = [self.served.ask_fresh(partial(finders[view], query=query), view) for view in views]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        errors = [one for one in answers if isinstance(one, BaseException)]
        found = [one for one in answers if not isinstance(one, BaseException)]
        for error in reversed(errors):
            if not found or not isinstance(error, Exception):
                raise error
        return _join(found, next((one for one in errors if isinstance(one, Exception)), None))

    def _find_files(self, index: ProjectIndex, pending: list[str], query: SourceQuery) -> SourceResult:
        if not index.exists and not self.served.is_making(index):
            raise SourceNotReady(self._not_indexed(View.PROJECT))
        encoder = self.served.encoder
        try:
            answer = self._search_some(index, pending, query, encoder)
        except (UsageError, NotIndexed) as error:
            if index.exists:
                raise
            raise SourceNotReady("It is being indexed, and nothing is there yet. Ask again in a moment.") from error
        left = () if answer.searched.were_compared else pending
        found = self._filtered_result(index, pending, answer)
        return replace(
            found,
            pending=self._pending((*left, *answer.outdated)),
            warnings=(*index.warnings, *found.warnings),
            search_methods=answer.methods,
        )

    def _find_documents(self, index: ProjectIndex, pending: list[str], query: SourceQuery) -> SourceResult:
        if View.PROJECT in self.views & query.views and not index.is_ready():
            project = index.seen_as(View.PROJECT)
            if project.exists or self.served.is_making(project):  # its search reads the documents that are not indexed
                if _is_filtered(query):
                    return SourceResult(coverage=coverage(index))
                found = find_indexed_documents(index, DocumentQuery(query.query, limit=query.limit))
                return self._documents_result(index, found, [])
        if _is_filtered(query):
            return self._filtered_result(index, pending, self._search_some(index, pending, query))
        found = find_served_documents(self.served, index, pending, DocumentQuery(query.query, limit=query.limit))
        return self._documents_result(index, found, pending)

    def _documents_result(self, index: ProjectIndex, found: DocumentResults, pending: list[str]) -> SourceResult:
        matches = found.matches
        items = [self._item(index, one.document, one.relevance, one.passage, matches.terms) for one in matches.found]
        warnings = (*index.warnings, *coverage_warnings(found.coverage))
        return SourceResult([items], found.coverage, self._pending(pending), matches.corrected, warnings)

    def _search_some(
        self, index: ProjectIndex, pending: list[str], query: SourceQuery, encoder: QueryEncoder | None = None
    ) -> Answer:
        """Search the files of a view that pass the filters; of documents, the titles count as headings do."""
        parsed = replace(query.query, filters=query.query.filters.within(self.served.name))
        glob = relative_pattern(query.path).removeprefix(f"{self.served.name}/") if query.path else None
        among = None
        if query.is_dated:
            among = frozenset(
                one.id for one in index.store.documents() if query.is_within(_moment(one.stat).isoformat())
            )
        options = replace(brief_options(query, glob), among=among, lists_matches=query.lists_matches)
        return search_now(index, parsed, options, encoder, is_behind=is_far_behind(pending))

    def _filtered_result(self, index: ProjectIndex, pending: list[str], answer: Answer) -> SourceResult:
        covered = coverage(index, max(len(pending), len(answer.outdated)), answer.searched)
        items = [
            replace(self._item(index, hit, hit.relevance, next(iter(hit.passages), None), answer.terms), data=hit.data)
            for hit in answer.hits
        ]
        pending_paths, warnings = self._pending(pending), tuple(coverage_warnings(covered))
        matched = answer.matched
        if index.has_pending and not answer.searched.were_compared:  # they come from the index, as it is
            matched = tuple(filter(index.shows, matched[:COMPARED_MATCHES]))
        return SourceResult([items], covered, pending_paths, answer.corrected, warnings, matched=matched)

    def _item(
        self,
        index: ProjectIndex,
        found: StoredDocument | SearchHit,
        score: float,
        passage: Passage | None,
        terms: Terms,
    ) -> Item:
        path, item_id = found.path, self.item_id(found.path, index.view)
        title = one_line(self._title(index.view, found.kind, found.title, path), TITLE_CHARACTERS)
        item = Item(
            item_id, self.name, title, self._url(item_id, path, passage.start_line if passage else 0), "", score,
            path.rpartition("/")[2], file_key(f"{self.served.root}/{path}"), {"path": self.shown_path(path)},
        )  # fmt: skip
        return with_passage(item, passage, terms)

    def _title(self, view: View, kind: str, title: str, path: str) -> str:
        """Return the title of a document, and the path of a file of code."""
        return title if view is View.DOCUMENTS or (kind == "docs" and title) else self.shown_path(path)

    def shown_path(self, path: str) -> str:
        """Return a path as results show it."""
        return self._service.shown_path(self.served, path)

    def _pending(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.shown_path, dict.fromkeys(paths)))

    def _url(self, item_id: str, path: str, line: int = 0) -> str:
        """Return the URL of a file of a project, at a line, or the URI of a document."""
        if self.kind == "documents" or item_id.endswith(AS_DOCUMENT):
            return make_uri(self.shown_path(path))
        written = quote(f"{self.served.root}/{path}", safe="/", errors="surrogateescape")
        return f"file://{written}" + (f"#L{line}" if line else "")

    # Reading

    async def fetch(self, locator: str) -> FetchedItem:
        """Return a file as it is, or as a reader gets it if the id says so or the project does not show it."""
        path = locator.removesuffix(AS_DOCUMENT)
        for view in self.views if path == locator else (View.DOCUMENTS,):
            document = await self.served.ask(lambda index: read_now(index, path), view)
            if document:
                return self._fetched(document, locator)
        raise ItemNotFound(f"{self.name} has no such file that may be read")

    def _fetched(self, document: Document, locator: str) -> FetchedItem:
        modified = _moment(document.stat).isoformat(timespec="seconds").replace("+00:00", "Z")
        facts: dict[str, Any] = {"path": self.shown_path(document.path), "language": document.language}
        facts["modified"] = modified
        if document.reading.tags:
            facts["tags"] = [one_line(tag, 100) for tag in document.reading.tags]
        title = self._title(View.PROJECT, document.kind, document.reading.title, document.path)
        return FetchedItem(title, document.reading.text, self._url(locator, document.path), facts)

    async def ask(self, work: Callable[[ProjectIndex], Result]) -> Result:
        """Do some work on the index as its main view, which is kept fresh from now on."""
        self.served.keep_fresh()
        return await self.served.ask_fresh(lambda index, _: work(index), self.main_view)

    async def list_items(self) -> list[ListedItem]:
        self.served.keep_fresh()
        lists = [await self.served.ask_fresh(lambda index, _: _list(index), view) for view in self.views]
        return sorted({item.path: item for items in lists for item in items}.values(), key=lambda item: item.path)

    # Its state

    async def status(self) -> SourceStatus:
        """Return the state of the root: that of its files and of its documents together."""
        found = [await self.served.ask(self._status, view) for view in self.views]
        if len(found) == 1:
            return found[0]
        known = [one for view, one in zip(self.views, found, strict=True) if view is View.PROJECT or one.counts]
        counts = {name: count for one in reversed(found) for name, count in one.counts.items()}
        return replace(
            found[0],
            state=overall_state(one.state for one in known),
            counts={name: counts[name] for name in ("files", "documents", "chunks") if name in counts},
            last_updated=max((one.last_updated for one in found if one.last_updated), default=None),
            problem=next((one.problem for one in known if one.problem), None),
            growth=next((one.growth for one in found if one.growth), None),
        )

    def _status(self, index: ProjectIndex) -> SourceStatus:
        found, progress = index.status(), self.served.progress(index.view)
        is_project = index.view is View.PROJECT
        if found.state == "not_found":
            if not self.served.is_making(index):
                return SourceStatus(self.kind, self.name, found.state, problem=self._not_indexed(index.view))
            growth = Coverage(*(progress or (0, 0)), is_indexing=True)
            return SourceStatus(self.kind, self.name, "indexing", growth=growth)
        state, growth_known = "indexing" if progress else found.state, None
        done, expected = progress or (found.files, found.expected_files)
        if progress or (state == "indexing" and not 0 < expected <= done):
            growth_known = Coverage(done, expected, is_indexing=True, seconds_left=found.seconds_left)
        counts = {"files" if is_project else "documents": found.files, "chunks": found.chunks}
        encoding = found.encoding.as_json if found.encoding and is_project else None
        return SourceStatus(
            self.kind, self.name, state, counts, found.last_updated, found.problem, encoding, growth_known
        )

    def _not_indexed(self, view: View) -> str:
        """Return what to do about a root without an index."""
        if view is View.DOCUMENTS:
            return "The first search will index them."
        return f"This project hasn't been indexed yet. {self._remedy}"


def _join(found: Sequence[SourceResult], error: Exception | None) -> SourceResult:
    """Return the answer of a root of those about its files and its documents, of which one may have failed."""
    incomplete = (one.coverage for one in found if one.coverage and not one.coverage.is_complete)
    return SourceResult(
        [ranking for one in reversed(found) for ranking in one.rankings],
        next(incomplete, found[0].coverage),
        tuple(dict.fromkeys(path for one in found for path in one.pending)),
        {word: near for one in reversed(found) for word, near in one.corrected.items()},
        tuple(dict.fromkeys(warning for one in found for warning in one.warnings)),
        {method: share for one in found for method, share in one.search_methods.items()},
        tuple(dict.fromkeys(path for one in found for path in one.matched)),
        error,
    )


def _list(index: ProjectIndex) -> list[ListedItem]:
    """Return the indexed files; while there is no index, those that the policy allows."""
    if index.exists:
        hidden = index.hidden_paths()
        return [ListedItem(path, path) for _, path in index.store.ids_by_path() if path not in hidden]
    entries = (entry for entry in index.source.entries() if isinstance(entry, Entry))
    return [ListedItem(entry.path, entry.path) for entry in entries if entry.views & index.view]


def _is_filtered(query: SourceQuery) -> bool:
    return bool(query.filters_paths or query.language or query.is_dated or query.kind)


def brief_options(query: SourceQuery, glob: str | None) -> SearchOptions:
    """Return the options of a search that shows one passage of each file."""
    return SearchOptions(
        query.limit, query.kind, glob, query.language, ranked_files=max(RANKED_FILES, 2 * query.limit), detail="brief",
        keeps_weak=True, asks_model=query.asks_model,
    )  # fmt: skip


def with_passage(item: Item, passage: Passage | None, terms: Terms) -> Item:
    """Return an item with the passage that answers, if there is one, and with the names around it."""
    if passage is None:
        return item
    around = (*passage.headings, *passage.symbols)
    lines = {"startLine": passage.start_line, "endLine": passage.end_line, **content_warnings(passage)}
    text = passage_text(passage, terms, MAX_LINE_CHARACTERS)
    return replace(item, text=text, names=" ".join([item.names, *around]), more={**item.more, **lines}, around=around)


def file_key(path: str) -> frozenset[str]:
    """Return the key by which a file is known to every source that finds it."""
    return frozenset([f"file:{path}"])


def _moment(stat: Stat) -> datetime:
    return datetime.fromtimestamp(stat.mtime_ns / _NANOSECONDS, UTC)
