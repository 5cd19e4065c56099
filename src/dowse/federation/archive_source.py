"""The research archives as a source of a federated search."""

import asyncio
import contextlib
import html
import re
from dataclasses import replace
from datetime import date
from typing import Any
from urllib.parse import quote

from dowse.archives.archive_database import ArchiveDatabase, open_database
from dowse.archives.archive_types import ArchiveHit, StoredArchiveDocument
from dowse.errors import DowseError, ItemNotFound, NotIndexed, SourceNotReady
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
from dowse.federation.result_ids import id_of
from dowse.federation.root_source import file_key
from dowse.federation.site_source import NO_CODE, NO_LANGUAGE, PASSAGE_CHARACTERS, URL_CHARACTERS, url_key
from dowse.surfaces.archives.archive_surface import ArchiveSurface, failure_reply
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS
from dowse.visible_text import one_line

FILTER_CANDIDATES = 100
"""Number of documents that are searched before a filter is applied: the search reads each of them."""
_WEB_URL = re.compile(r"https?://", re.IGNORECASE)


class ArchiveSearchSource:
    """The research archives."""

    kind: SourceKind = "archive"
    kinds = (kind,)
    name = "archive"

    def __init__(self, surface: ArchiveSurface) -> None:
        self._surface = surface

    def unsupported_filter(self, query: SourceQuery) -> str:
        return NO_LANGUAGE if query.language else NO_CODE if query.kind == "code" else ""

    def keys(self, locator: str) -> frozenset[str]:  # noqa: ARG002 - only the database knows the file of an id
        return frozenset()

    async def find_items(self, query: SourceQuery) -> SourceResult:
        try:
            hits, coverages, warnings = await self._surface.find(query.query, self._candidates(query))
        except NotIndexed as error:
            raise SourceNotReady(str(error)) from error
        items = [self._item(hit) for hit in hits if self._fits(hit.document, query)]
        if not warnings and any(coverage.is_indexing for coverage in coverages):
            warnings.append("The archives are being indexed; results may be incomplete.")
        return SourceResult(tuple(items[: query.limit]), warnings=tuple(warnings))

    async def list_items(self) -> list[ListedItem]:
        documents = (await self._database()).documents().values()
        return [ListedItem(document.path, document.id, document.title) for document in documents]

    async def each_text(self, look: LookAtText) -> None:
        database = await self._database()

        def read() -> None:
            for number, document in database.documents().items():
                look(document.id, database.text(number))

        await asyncio.to_thread(read)

    async def prepare(self, query: SourceQuery) -> None:
        if await asyncio.to_thread(self._surface.keeping.has_indexes):
            await self.find_items(query)

    def _candidates(self, query: SourceQuery) -> int:
        """Return how many documents are searched before the filters that only the hits can be compared with."""
        return max(query.limit, FILTER_CANDIDATES) if query.filters_paths or query.is_dated else query.limit

    def _fits(self, document: StoredArchiveDocument, query: SourceQuery) -> bool:
        is_wanted = query.path_filter() if query.filters_paths else None
        if is_wanted and not (is_wanted(document.path) or is_wanted(document.archive_path)):
            return False
        return query.is_within(_parse_day(document.date))

    def _item(self, hit: ArchiveHit) -> Item:
        document = hit.document
        more: dict[str, Any] = {"path": document.path} | ({"date": document.date} if document.date else {})
        keys = file_key(f"{self._surface.locations.roots[document.archive]}/{document.archive_path}")
        if _WEB_URL.match(document.url):
            keys |= url_key(document.url)
        item = Item(
            id_of(self.name, document.id), self.name, one_line(document.title, TITLE_CHARACTERS), _url(document),
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
            return self._fetch_document(database, locator)

    def _fetch_document(self, database: ArchiveDatabase, locator: str) -> FetchedItem:
        numbers = database.numbers([locator])
        if not numbers:
            raise ItemNotFound("the archives have no such document")
        (document,) = database.documents(numbers.values()).values()
        facts = {"path": document.path, "archive": document.source, "type": document.type}
        optional = {"date": document.date, "question": document.question}
        facts |= {name: value for name, value in optional.items() if value}
        title = one_line(document.title, TITLE_CHARACTERS)
        return FetchedItem(title, database.text(document.number), _url(document), facts)

    async def status(self) -> SourceStatus:
        return await asyncio.to_thread(self._status)

    def _status(self) -> SourceStatus:
        """Return the status from the database alone, so that the indexing process is not started."""
        missing = " ".join(self._surface.locations.missing(shows_paths=False).values())
        try:
            with contextlib.closing(open_database(self._surface.locations.database)) as database:
                ((documents,),) = database.rows("SELECT COUNT(*) FROM documents")
        except NotIndexed:
            return SourceStatus(
                self.kind, self.name, "not_found", problem=missing or "The first search will index them."
            )
        except DowseError as error:
            return SourceStatus(
                self.kind, self.name, "failed", problem=str(failure_reply(error).content["userMessage"])
            )
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


def _parse_day(text: str | None) -> date | None:
    try:
        return date.fromisoformat((text or "")[:10])
    except ValueError:
        return None
