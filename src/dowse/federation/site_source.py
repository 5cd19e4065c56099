"""Static sites and research archives as sources."""

import asyncio
import contextlib
import html
import re
from collections.abc import Callable
from datetime import date
from typing import Any
from urllib.parse import quote

from dowse.archives.archive_database import ArchiveDatabase, open_database
from dowse.archives.archive_search import search_archives
from dowse.archives.archive_types import ArchiveHit, StoredArchiveDocument
from dowse.errors import DowseError, ItemNotFound, NotIndexed, SourceNotReady
from dowse.federation.federation_types import FetchedItem, Item, SourceKind, SourceQuery, SourceResult, SourceStatus
from dowse.federation.file_sources import file_key
from dowse.federation.result_ids import id_of, source_name
from dowse.globs import compile_glob
from dowse.indexes.masking_setting import masks_secrets
from dowse.query_syntax import Query, parse_query
from dowse.screening.masking import warning_fields, screen_text
from dowse.searching.passages import holds_phrase
from dowse.sites.page_urls import path_key
from dowse.sites.sanitizing import one_line, remove_control_characters
from dowse.sites.site import LoadedSite
from dowse.sites.site_search import SiteResults as FoundPages
from dowse.surfaces.archives.archive_surface import ArchiveSurface, failure_reply
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS, on_one_line
from dowse.surfaces.project.path_search import relative
from dowse.surfaces.sites.site_replies import SCREENED_CHARACTERS
from dowse.surfaces.sites.sites_surface import NamedSite, SitesSurface

NO_LANGUAGE = "pages have no language"
PASSAGE_CHARACTERS = 400
URL_CHARACTERS = 2000
FILTERED = 1_000
"""Pages and archived documents that a filter chooses from, where they are found first and filtered then."""
CLOSELY = 40
"""The same where each has to be read for it."""
_WEB = re.compile(r"https?://", re.IGNORECASE)


class SiteSearchSource:
    """The pages of one static site."""

    kind: SourceKind = "site"

    def __init__(self, surface: SitesSurface, served: NamedSite) -> None:
        self.name = source_name(self.kind, served.name)
        self._surface, self._served = surface, served

    def lacks(self, wanted: SourceQuery) -> str:
        return NO_LANGUAGE if wanted.language else ""

    def keys(self, locator: str) -> frozenset[str]:  # noqa: ARG002 - what an address means the site itself knows
        return frozenset()

    async def search(self, wanted: SourceQuery) -> SourceResult:
        site = await self._surface.current(self._served)
        problem = self._served.live.problem
        items = await asyncio.to_thread(self._search, site, wanted)
        return SourceResult(items, warnings=(problem,) if problem else ())

    def _search(self, site: LoadedSite, wanted: SourceQuery) -> tuple[Item, ...]:
        masks = masks_secrets()
        if not wanted.path:
            found = site.search(wanted.text, wanted.limit, (), wanted.since, wanted.until)
            return tuple(self._item(site, hit.page, hit.score, found, masks=masks) for hit in found.hits)
        expression = compile_glob(relative(wanted.path.lstrip("/")))
        found = site.search(wanted.text, max(wanted.limit, FILTERED), (), wanted.since, wanted.until)
        hits = (hit for hit in found.hits if expression.fullmatch(site.page(hit.page).url.strip("/")))
        return tuple(
            self._item(site, hit.page, hit.score, found, masks=masks)
            for hit, _ in zip(hits, range(wanted.limit), strict=False)
        )

    def _item(self, site: LoadedSite, number: int, score: float, found: FoundPages, *, masks: bool) -> Item:
        page = site.page(number)
        url = one_line(site.full_url(number), URL_CHARACTERS)
        passage = site.passage(number, found, masks=masks)
        title, abstract = (screen_text(text[:SCREENED_CHARACTERS], masks=masks) for text in (page.title, page.abstract))
        text = one_line(passage.text or abstract.text, PASSAGE_CHARACTERS)
        care = warning_fields([(title, 1), (abstract, 1), (passage, 1)])
        care.pop("flaggedLines", None)  # a page that is shown in a line has none
        more: dict[str, Any] = {"path": one_line(page.url, URL_CHARACTERS), **care}
        more |= {"date": one_line(page.date, 40)} if page.date else {}
        return Item(
            id_of(self.name, page.url.lstrip("/")), self.name, one_line(title.text, TITLE_CHARACTERS) or url, url,
            text, round(score, 4), one_line(f"{page.url} {abstract.text}", PASSAGE_CHARACTERS), url_key(url), more,
        )  # fmt: skip

    async def fetch(self, locator: str) -> FetchedItem:
        site = await self._surface.current(self._served)
        number = site.find(f"/{locator}")
        if number is None:  # an index may write whole addresses
            number = site.find(locator)
        if number is None:
            raise ItemNotFound(f"{self.name} has no such page")
        page = site.page(number)
        facts = {"path": one_line(page.url, URL_CHARACTERS)}
        told = {"date": one_line(page.date, 40), "abstract": one_line(page.abstract, 4 * PASSAGE_CHARACTERS)}
        facts |= {name: value for name, value in told.items() if value}
        url = one_line(site.full_url(number), URL_CHARACTERS)
        return FetchedItem(
            one_line(page.title, TITLE_CHARACTERS) or url, remove_control_characters(page.body or page.abstract), url, facts
        )

    async def standing(self) -> SourceStatus:
        site, live = await self._surface.current(self._served), self._served.live
        return SourceStatus(self.kind, self.name, "ready", {"pages": len(site)}, live.loaded, live.problem)


class ArchiveSearchSource:
    """The research archives."""

    kind: SourceKind = "archive"
    name = "archive"

    def __init__(self, surface: ArchiveSurface) -> None:
        self._surface = surface

    def lacks(self, wanted: SourceQuery) -> str:
        return NO_LANGUAGE if wanted.language else ""

    def keys(self, locator: str) -> frozenset[str]:  # noqa: ARG002 - which file an id belongs to the database knows
        return frozenset()

    async def search(self, wanted: SourceQuery) -> SourceResult:
        items = await asyncio.to_thread(self._search, wanted)
        said = "The archives are being indexed; there may be more in a moment."
        return SourceResult(items, warnings=(said,) if self._surface.is_indexing() else ())

    def _search(self, wanted: SourceQuery) -> tuple[Item, ...]:
        try:
            database = self._surface.database()
        except NotIndexed as error:
            raise SourceNotReady(str(error)) from error
        query = parse_query(wanted.text)
        fits = self._filter(database, query, wanted)
        text = " ".join((*query.terms, *query.must, *query.phrases))
        is_read = bool(query.must or query.phrases or query.must_not or query.not_phrases)
        most = wanted.limit if fits is None else max(wanted.limit, CLOSELY if is_read else FILTERED)
        hits = [
            hit for hit in search_archives(database, text, most, masks=masks_secrets()) if fits is None or fits(hit.document)
        ]
        return tuple(map(self._item, hits[: wanted.limit]))

    def _filter(
        self, database: ArchiveDatabase, query: Query, wanted: SourceQuery
    ) -> Callable[[StoredArchiveDocument], bool] | None:
        """What a document has to be beside found: the archives' own search knows no signs and no filters."""
        expression = compile_glob(relative(wanted.path)) if wanted.path else None
        required, excluded = (*query.must, *query.phrases), (*query.must_not, *query.not_phrases)
        if expression is None and not wanted.is_dated and not required and not excluded:
            return None

        def fits(document: StoredArchiveDocument) -> bool:
            if expression and not (expression.fullmatch(document.path) or expression.fullmatch(document.below)):
                return False
            if not wanted.is_within(_day(document.date)):
                return False
            if not required and not excluded:
                return True
            text = "\n".join((document.title, document.question, database.text(document.number)))
            return all(holds_phrase(text, one) for one in required) and not any(
                holds_phrase(text, one) for one in excluded
            )

        return fits

    def _item(self, hit: ArchiveHit) -> Item:
        document = hit.document
        found = [plain(one) for part in hit.highlights if part.field == "content" for one in part.snippets]
        more: dict[str, Any] = {"path": document.path} | ({"date": document.date} if document.date else {})
        for name in ("masked", "flags"):
            if kinds := sorted({kind for part in hit.highlights for kind in getattr(part, name)}):
                more[name] = kinds
        keys = file_key(f"{self._surface.places.roots[document.archive]}/{document.below}")
        if _WEB.match(document.url):
            keys |= url_key(document.url)
        return Item(
            id_of(self.name, document.id), self.name, on_one_line(document.title, TITLE_CHARACTERS), _url(document),
            " … ".join(found), hit.score, on_one_line(f"{document.question} {document.path}", PASSAGE_CHARACTERS),
            keys, more,
        )  # fmt: skip

    async def fetch(self, locator: str) -> FetchedItem:
        return await asyncio.to_thread(self._fetch, locator)

    def _fetch(self, locator: str) -> FetchedItem:
        try:
            database = self._surface.database()
        except NotIndexed as error:
            raise ItemNotFound("the archives are not indexed yet") from error
        numbers = [row[0] for row in database.rows("SELECT number FROM documents WHERE id = ?", (locator,))]
        if not numbers:
            raise ItemNotFound("the archives have no such document")
        document = database.documents(numbers)[numbers[0]]
        facts = {"path": document.path, "archive": document.source, "type": document.type}
        told = {"date": document.date, "question": document.question}
        facts |= {name: value for name, value in told.items() if value}
        title = on_one_line(document.title, TITLE_CHARACTERS)
        return FetchedItem(title, database.text(document.number), _url(document), facts)

    async def standing(self) -> SourceStatus:
        return await asyncio.to_thread(self._standing)

    def _standing(self) -> SourceStatus:
        """Without a word to the process that indexes: to ask how it stands does not start it."""
        try:
            with contextlib.closing(open_database(self._surface.places.database)) as database:
                ((documents,),) = database.rows("SELECT COUNT(*) FROM documents")
        except NotIndexed:
            return SourceStatus(self.kind, self.name, "not_found", problem="The first search will index them.")
        except DowseError as error:
            return SourceStatus(self.kind, self.name, "failed", problem=str(failure_reply(error).content["userMessage"]))
        state = "indexing" if self._surface.is_indexing() else "ready"
        return SourceStatus(self.kind, self.name, state, {"documents": documents})


def plain(snippet: str) -> str:
    """A snippet of the archives without marks, as it was written."""
    return html.unescape(snippet.replace("<mark>", "").replace("</mark>", ""))


def url_key(url: str) -> frozenset[str]:
    """What a page is, wherever a copy of it lies: its address without what does not count."""
    host, _, path = url.partition("//")[2].partition("/")
    return frozenset([f"url:{host.lower().removeprefix('www.')}{path_key(path)}"])


def _url(document: StoredArchiveDocument) -> str:
    """Where a page was captured; of a report, its place in the archives."""
    if _WEB.match(document.url):
        return on_one_line(document.url, URL_CHARACTERS)
    return f"archive://{quote(document.path, safe='/', errors='replace')}"


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat((text or "")[:10])
    except ValueError:
        return None
