"""Static sites, the research archives and named indexes as sources of a federated search."""

import asyncio
import contextlib
import html
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from dowse.archives.archive_database import ArchiveDatabase, open_database
from dowse.archives.archive_types import ArchiveHit, StoredArchiveDocument
from dowse.errors import DowseError, ItemNotFound, NotFound, NotIndexed, SourceNotReady, StoreDamaged
from dowse.federation.federation_types import (
    FetchedItem,
    FilterName,
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
from dowse.federation.root_source import file_key
from dowse.indexes.user_settings import masks_secrets
from dowse.screening.masking import screen_text, warning_fields
from dowse.sites.index_check import Page
from dowse.sites.page_urls import path_key
from dowse.sites.sanitizing import one_line as site_line
from dowse.sites.sanitizing import remove_control_characters
from dowse.sites.site import LoadedSite
from dowse.sites.site_search import SiteResults as FoundPages
from dowse.surfaces.archives.archive_surface import ArchiveSurface, failure_reply
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS
from dowse.surfaces.sites.site_replies import SCREENED_CHARACTERS
from dowse.surfaces.sites.sites_surface import NamedSite, SitesSurface
from dowse.visible_text import one_line

if TYPE_CHECKING:
    from dowse.notes.named_index import NamedIndex, NoteResult
    from dowse.surfaces.notes.notes_surface import NotesSurface

PAGES_LACK: Mapping[FilterName, str] = {"language": "pages have no language", "code": "pages are not code"}
NOTES_LACK: Mapping[FilterName, str] = {
    "code": "notes are not code", "language": "notes have no language", "path": "notes have no path",
}  # fmt: skip
PASSAGE_CHARACTERS = 400
URL_CHARACTERS = 2000
FILTERED_PAGES = 1_000
"""Number of pages that are searched before a path filter is applied."""


class SiteSearchSource(SearchSource):
    """The pages of one static site."""

    kind: SourceKind = "site"
    lacks = PAGES_LACK

    def __init__(self, surface: SitesSurface, served: NamedSite) -> None:
        self.name = source_name(self.kind, served.name)
        self._surface, self._served = surface, served

    async def find_items(self, query: SourceQuery) -> SourceResult:
        site = await self._surface.current(self._served)
        problem = self._served.site.problem
        items = await asyncio.to_thread(self._find_items, site, query)
        return SourceResult([items], warnings=(problem,) if problem else ())

    async def list_items(self) -> list[ListedItem]:
        site = await self._surface.current(self._served)
        pages = map(site.page, range(len(site)))
        return [ListedItem(page.url.strip("/") or "index", page.url.lstrip("/"), page.title) for page in pages]

    async def texts(self) -> Iterable[tuple[str, str]]:
        site = await self._surface.current(self._served)
        return ((page.url.lstrip("/"), _text(page)) for page in map(site.page, range(len(site))))

    async def prepare(self, query: SourceQuery) -> None:
        await asyncio.to_thread(self._find_items, self._served.site.current, query)

    def _find_items(self, site: LoadedSite, query: SourceQuery) -> list[Item]:
        masks, is_wanted = masks_secrets(), query.path_filter() if query.filters_paths else None
        limit = max(query.limit, FILTERED_PAGES) if is_wanted else query.limit
        found = site.search(query.query, limit, (), query.since, query.until)
        hits = [hit for hit in found.hits if not is_wanted or is_wanted(site.page(hit.page).url.strip("/"))]
        return [self._item(site, hit.page, hit.score, found, masks=masks) for hit in hits[: query.limit]]

    def _item(self, site: LoadedSite, number: int, score: float, found: FoundPages, *, masks: bool) -> Item:
        page = site.page(number)
        url = site_line(site.full_url(number), URL_CHARACTERS)
        passage = site.passage(number, found, masks=masks)
        title, abstract = (screen_text(text[:SCREENED_CHARACTERS], masks=masks) for text in (page.title, page.abstract))
        text = site_line(passage.text or abstract.text, PASSAGE_CHARACTERS)
        warnings = warning_fields([(title, 1), (abstract, 1), (passage, 1)])
        warnings.pop("flaggedLines", None)  # a page is shown on one line
        more: dict[str, Any] = {"path": site_line(page.url, URL_CHARACTERS), **warnings}
        more |= {"date": site_line(page.date, 40)} if page.date else {}
        return Item(
            id_of(self.name, page.url.lstrip("/")), self.name, site_line(title.text, TITLE_CHARACTERS) or url, url,
            text, round(score, 4), site_line(f"{page.url} {abstract.text}", PASSAGE_CHARACTERS), url_key(url), more,
        )  # fmt: skip

    async def fetch(self, locator: str) -> FetchedItem:
        site = await self._surface.current(self._served)
        number = site.find(f"/{locator}")
        if number is None:  # an index may contain complete URLs
            number = site.find(locator)
        if number is None:
            raise ItemNotFound(f"{self.name} has no such page")
        page = site.page(number)
        facts = {"path": site_line(page.url, URL_CHARACTERS)}
        optional = {"date": site_line(page.date, 40), "abstract": site_line(page.abstract, 4 * PASSAGE_CHARACTERS)}
        facts |= {name: value for name, value in optional.items() if value}
        url = site_line(site.full_url(number), URL_CHARACTERS)
        return FetchedItem(
            site_line(page.title, TITLE_CHARACTERS) or url,
            _text(page),
            url,
            facts,
        )

    async def status(self) -> SourceStatus:
        site, served = await self._surface.current(self._served), self._served.site
        return SourceStatus(self.kind, self.name, "ready", {"pages": len(site)}, served.loaded_at, served.problem)


def _text(page: Page) -> str:
    return remove_control_characters(page.body or page.abstract)


def url_key(url: str) -> frozenset[str]:
    """Return the identity key of a page: its URL without scheme, `www.` and other insignificant parts."""
    host, _, path = url.partition("//")[2].partition("/")
    return frozenset([f"url:{host.lower().removeprefix('www.')}{path_key(path)}"])


FILTER_CANDIDATES = 100
"""Number of documents that are searched before a filter is applied: the search reads each of them."""
_WEB_URL = re.compile(r"https?://", re.IGNORECASE)


class ArchiveSearchSource(SearchSource):
    """The research archives."""

    kind: SourceKind = "archive"
    name = "archive"
    lacks = PAGES_LACK

    def __init__(self, surface: ArchiveSurface) -> None:
        self._surface = surface

    async def find_items(self, query: SourceQuery) -> SourceResult:
        is_filtered = query.filters_paths or query.is_dated
        limit = max(query.limit, FILTER_CANDIDATES) if is_filtered else query.limit
        try:
            hits, coverages, warnings = await self._surface.find(query.query, limit)
        except NotIndexed as error:
            raise SourceNotReady(str(error)) from error
        items = [self._item(hit) for hit in hits if self._fits(hit.document, query)]
        if not warnings and any(coverage.is_indexing for coverage in coverages):
            warnings.append("The archives are being indexed; results may be incomplete.")
        return SourceResult([items[: query.limit]], warnings=tuple(warnings))

    async def list_items(self) -> list[ListedItem]:
        documents = (await self._database()).documents().values()
        return [ListedItem(document.path, document.id, document.title) for document in documents]

    async def texts(self) -> Iterable[tuple[str, str]]:
        database = await self._database()
        return ((document.id, database.text(number)) for number, document in database.documents().items())

    async def prepare(self, query: SourceQuery) -> None:
        if await asyncio.to_thread(self._surface.keeping.has_indexes):
            await self.find_items(query)

    def _fits(self, document: StoredArchiveDocument, query: SourceQuery) -> bool:
        is_wanted = query.path_filter() if query.filters_paths else None
        if is_wanted and not (is_wanted(document.path) or is_wanted(document.archive_path)):
            return False
        return query.is_within(document.date)

    def _item(self, hit: ArchiveHit) -> Item:
        document, masks = hit.document, masks_secrets()
        title, url = (screen_text(text, masks=masks).text for text in (document.title, _url(document)))
        more: dict[str, Any] = {"path": document.path} | ({"date": document.date} if document.date else {})
        keys = file_key(f"{self._surface.locations.roots[document.archive]}/{document.archive_path}")
        if _WEB_URL.match(document.url):
            keys |= url_key(document.url)
        item = Item(
            id_of(self.name, document.id), self.name, one_line(title, TITLE_CHARACTERS), url,
            "", hit.score, one_line(f"{document.question} {document.path}", PASSAGE_CHARACTERS), keys, more,
        )  # fmt: skip
        return replace(item, add_passage=lambda: _with_passage(item, hit))

    async def _database(self) -> ArchiveDatabase:
        try:
            return await self._surface.database()
        except NotIndexed as error:
            raise ItemNotFound("the archives are not indexed yet") from error

    async def fetch(self, locator: str) -> FetchedItem:
        return await asyncio.to_thread(self._fetch, await self._database(), locator)

    def _fetch(self, database: ArchiveDatabase, locator: str) -> FetchedItem:
        with database.odd_values_are_damage():
            numbers = database.numbers([locator])
            if not numbers:
                raise ItemNotFound("the archives have no such document")
            (document,) = database.documents(numbers.values()).values()
            text = database.text(document.number)
        facts = {"path": document.path, "archive": document.source, "type": document.type}
        optional = {"date": document.date, "question": document.question}
        facts |= {name: value for name, value in optional.items() if value}
        title = one_line(document.title, TITLE_CHARACTERS)
        return FetchedItem(title, text, _url(document), facts)

    async def status(self) -> SourceStatus:
        return await asyncio.to_thread(self._status)

    def _status(self) -> SourceStatus:
        """Return the status from the database alone, so that the indexing process is not started."""
        missing = " ".join(self._surface.locations.missing(shows_paths=False).values())
        try:
            with contextlib.closing(open_database(self._surface.locations.database)) as database:
                ((documents,),) = database.rows("SELECT COUNT(*) FROM documents")
        except NotIndexed:
            problem = missing or "The first search will index them."
            return SourceStatus(self.kind, self.name, "not_found", problem=problem)
        except DowseError as error:
            problem = str(failure_reply(error).content["userMessage"])
            return SourceStatus(self.kind, self.name, "failed", problem=problem)
        state = "indexing" if self._surface.keeping.is_indexing() else "ready"
        return SourceStatus(self.kind, self.name, state, {"documents": documents}, problem=missing or None)


def _with_passage(item: Item, hit: ArchiveHit) -> Item:
    snippets = [
        plain_snippet(snippet) for part in hit.highlights if part.field == "content" for snippet in part.snippets
    ]
    warnings = {
        name: kinds
        for name in ("masked", "flags")
        if (kinds := sorted({kind for part in hit.highlights for kind in getattr(part, name)}))
    }
    return replace(item, text=" … ".join(snippets), more={**item.more, **warnings})


def plain_snippet(snippet: str) -> str:
    """Return a snippet of the archives as plain text, without `<mark>` tags."""
    return html.unescape(snippet.replace("<mark>", "").replace("</mark>", ""))


def _url(document: StoredArchiveDocument) -> str:
    """Return the URL of a captured page, or the location of a report in the archives."""
    if _WEB_URL.match(document.url):
        return one_line(document.url, URL_CHARACTERS)
    return f"archive://{quote(document.path, safe='/', errors='replace')}"


Answer = TypeVar("Answer")

CANDIDATE_FACTOR = 3
"""Number of notes that are ranked for each requested one, since the order of their scores is rough.
On judged notes nDCG@10 is 0.53 with 1, 0.58 with 2, 0.61 with 3."""
MAX_DATED = 1000
"""Number of notes whose date is looked at if only some days are asked for."""
MAX_METADATA_CHARACTERS = 2_000
"""Maximum length of metadata in a fetched note; longer metadata has a tool of its own."""
_WHOLE_URL = re.compile(r"https?://\S+", re.IGNORECASE)


class NotesSearchSource(SearchSource):
    """One named index."""

    kind: SourceKind = "index"
    lacks = NOTES_LACK

    def __init__(self, surface: "NotesSurface", index: str) -> None:
        self.name = source_name(self.kind, index)
        self._surface, self._index = surface, index

    async def find_items(self, query: SourceQuery) -> SourceResult:
        limit = CANDIDATE_FACTOR * query.limit

        def find(index: "NamedIndex", check: Callable[[], None]) -> SourceResult:
            wanted = MAX_DATED if query.is_dated else limit
            answer = index.search(query.query.typed_text, wanted, check_cancelled=check)
            kept = (note for note in answer.results if query.is_within(note.metadata.get("date")))
            return SourceResult([list(map(self._item, islice(kept, limit)))])

        return await self._use(find)

    async def list_items(self) -> list[ListedItem]:
        def find(index: "NamedIndex", _: object) -> list[ListedItem]:
            return [
                ListedItem(note.doc_id, note.doc_id, _title(note.doc_id, note.metadata))
                for note in index.every_document()
            ]

        return await self._use(find)

    async def texts(self) -> Iterable[tuple[str, str]]:
        return await self._use(lambda index, _: [(note.doc_id, note.content) for note in index.every_document()])

    def _item(self, result: "NoteResult") -> Item:
        title = _title(result.doc_id, result.metadata)
        more: dict[str, Any] = {"docId": result.doc_id}
        if isinstance(day := result.metadata.get("date"), str):
            more["date"] = one_line(day, 40)
        return Item(
            id_of(self.name, result.doc_id), self.name, title, self._url(result.doc_id, result.metadata),
            "\n".join(result.highlights), None, one_line(result.doc_id, TITLE_CHARACTERS),
            frozenset(), more,
        )  # fmt: skip

    async def fetch(self, locator: str) -> FetchedItem:
        try:
            found = await self._use(lambda index, _: index.document(locator))
        except NotFound as error:
            raise ItemNotFound(f"{self.name} has no such document") from error
        facts: dict[str, Any] = {"docId": found.doc_id}
        if found.metadata and len(json.dumps(found.metadata)) <= MAX_METADATA_CHARACTERS:
            facts["metadata"] = found.metadata
        return FetchedItem(
            _title(found.doc_id, found.metadata), found.content, self._url(found.doc_id, found.metadata), facts
        )

    async def status(self) -> SourceStatus:
        info = await self._use(lambda index, _: index.info())
        return SourceStatus(self.kind, self.name, "ready", {"documents": info.documents})

    async def _use(self, ask: "Callable[[NamedIndex, Callable[[], None]], Answer]") -> Answer:
        """Ask the index. The message about a damaged one is its own: unlike an index of files, it is not rebuilt."""
        try:
            return await self._surface.use(self._index, ask)
        except StoreDamaged as error:
            raise SourceNotReady(str(error)) from error

    def _url(self, doc_id: str, metadata: dict[str, Any]) -> str:
        """Return the URL in the note's metadata, else a URL of the note itself."""
        url = metadata.get("url")
        if isinstance(url, str) and _WHOLE_URL.fullmatch(url.strip()):
            return one_line(url, 2000)
        return f"note://{quote(self._index)}/{quote(doc_id, safe='/', errors='replace')}"


def _title(doc_id: str, metadata: dict[str, Any]) -> str:
    title = metadata.get("title")
    return one_line(title if isinstance(title, str) and title.strip() else doc_id, TITLE_CHARACTERS)
