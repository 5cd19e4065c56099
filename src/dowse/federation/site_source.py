"""Static sites as sources of a federated search."""

import asyncio
from typing import Any

from dowse.errors import ItemNotFound
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
from dowse.indexes.masking_setting import masks_secrets
from dowse.screening.masking import screen_text, warning_fields
from dowse.sites.index_model import Page
from dowse.sites.page_urls import path_key
from dowse.sites.sanitizing import one_line, remove_control_characters
from dowse.sites.site import LoadedSite
from dowse.sites.site_search import SiteResults as FoundPages
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS
from dowse.surfaces.sites.site_replies import SCREENED_CHARACTERS
from dowse.surfaces.sites.sites_surface import NamedSite, SitesSurface

NO_LANGUAGE = "pages have no language"
NO_CODE = "pages are not code"
PASSAGE_CHARACTERS = 400
URL_CHARACTERS = 2000
FILTER_CANDIDATES = 1_000
"""Number of pages that are searched before a path filter is applied."""


class SiteSearchSource:
    """The pages of one static site."""

    kind: SourceKind = "site"
    kinds = (kind,)

    def __init__(self, surface: SitesSurface, served: NamedSite) -> None:
        self.name = source_name(self.kind, served.name)
        self._surface, self._served = surface, served

    def unsupported_filter(self, query: SourceQuery) -> str:
        return NO_LANGUAGE if query.language else NO_CODE if query.kind == "code" else ""

    def keys(self, locator: str) -> frozenset[str]:  # noqa: ARG002 - only the loaded site can resolve a URL
        return frozenset()

    async def find_items(self, query: SourceQuery) -> SourceResult:
        site = await self._surface.current(self._served)
        problem = self._served.site.problem
        items = await asyncio.to_thread(self._find_items, site, query)
        return SourceResult(items, warnings=(problem,) if problem else ())

    async def list_items(self) -> list[ListedItem]:
        site = await self._surface.current(self._served)
        pages = map(site.page, range(len(site)))
        return [ListedItem(page.url.strip("/") or "index", page.url.lstrip("/"), page.title) for page in pages]

    async def each_text(self, look: LookAtText) -> None:
        site = await self._surface.current(self._served)

        def read() -> None:
            for page in map(site.page, range(len(site))):
                look(page.url.lstrip("/"), _text(page))

        await asyncio.to_thread(read)

    async def prepare(self, query: SourceQuery) -> None:
        await asyncio.to_thread(self._find_items, self._served.site.current, query)

    def _find_items(self, site: LoadedSite, query: SourceQuery) -> tuple[Item, ...]:
        masks = masks_secrets()
        if not query.filters_paths:
            found = site.search(query.query, query.limit, (), query.since, query.until)
            return tuple(self._item(site, hit.page, hit.score, found, masks=masks) for hit in found.hits)
        is_wanted = query.path_filter()
        found = site.search(query.query, max(query.limit, FILTER_CANDIDATES), (), query.since, query.until)
        hits = (hit for hit in found.hits if is_wanted(site.page(hit.page).url.strip("/")))
        return tuple(
            self._item(site, hit.page, hit.score, found, masks=masks)
            for hit, _ in zip(hits, range(query.limit), strict=False)
        )

    def _item(self, site: LoadedSite, number: int, score: float, found: FoundPages, *, masks: bool) -> Item:
        page = site.page(number)
        url = one_line(site.full_url(number), URL_CHARACTERS)
        passage = site.passage(number, found, masks=masks)
        title, abstract = (screen_text(text[:SCREENED_CHARACTERS], masks=masks) for text in (page.title, page.abstract))
        text = one_line(passage.text or abstract.text, PASSAGE_CHARACTERS)
        warnings = warning_fields([(title, 1), (abstract, 1), (passage, 1)])
        warnings.pop("flaggedLines", None)  # a page is shown on one line
        more: dict[str, Any] = {"path": one_line(page.url, URL_CHARACTERS), **warnings}
        more |= {"date": one_line(page.date, 40)} if page.date else {}
        return Item(
            id_of(self.name, page.url.lstrip("/")), self.name, one_line(title.text, TITLE_CHARACTERS) or url, url,
            text, round(score, 4), one_line(f"{page.url} {abstract.text}", PASSAGE_CHARACTERS), url_key(url), more,
        )  # fmt: skip

    async def fetch(self, locator: str) -> FetchedItem:
        site = await self._surface.current(self._served)
        number = site.find(f"/{locator}")
        if number is None:  # an index may contain complete URLs
            number = site.find(locator)
        if number is None:
            raise ItemNotFound(f"{self.name} has no such page")
        page = site.page(number)
        facts = {"path": one_line(page.url, URL_CHARACTERS)}
        optional = {"date": one_line(page.date, 40), "abstract": one_line(page.abstract, 4 * PASSAGE_CHARACTERS)}
        facts |= {name: value for name, value in optional.items() if value}
        url = one_line(site.full_url(number), URL_CHARACTERS)
        return FetchedItem(
            one_line(page.title, TITLE_CHARACTERS) or url,
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
