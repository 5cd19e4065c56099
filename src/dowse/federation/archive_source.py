"""The research archives as a source of a federated search."""

import asyncio
import contextlib
import html
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any
from urllib.parse import quote

from dowse.archives.archive_database import ArchiveDatabase, open_database
from dowse.archives.archive_search import ArchiveRanking, highlight_documents, rank_archives
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
from dowse.federation.file_sources import file_key
from dowse.federation.result_ids import id_of
from dowse.federation.site_source import NO_CODE, NO_LANGUAGE, PASSAGE_CHARACTERS, URL_CHARACTERS, url_key
from dowse.indexes.masking_setting import masks_secrets
from dowse.query_syntax import Query
from dowse.searching.passages import holds_phrase
from dowse.surfaces.archives.archive_surface import ArchiveSurface, failure_reply
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS
from dowse.visible_text import one_line

FILTER_CANDIDATES = 1_000
"""Number of documents that are searched before a filter is applied."""
READ_CANDIDATES = 40
"""The same for a filter that has to read each document."""
_WEB_URL = re.compile(r"https?://", re.IGNORECASE)


class ArchiveSearchSource:
    """The research archives."""

    kind: SourceKind = "archive"
    name = "archive"

    def __init__(self, surface: ArchiveSurface) -> None:
        self._surface = surface

    def unsupported_filter(self, query: SourceQuery) -> str:
        return NO_LANGUAGE if query.language else NO_CODE if query.kind == "code" else ""

    def keys(self, locator: str) -> frozenset[str]:  # noqa: ARG002 - only the database knows the file of an id
        return frozenset()

    async def search(self, query: SourceQuery) -> SourceResult:
        return await asyncio.to_thread(self._search, query)

    async def list_items(self) -> list[ListedItem]:
        def find() -> list[ListedItem]:
            try:
                documents = self._surface.database().documents().values()
            except NotIndexed as error:
                raise ItemNotFound("the archives are not indexed yet") from error
            return [ListedItem(document.path, document.id, document.title) for document in documents]

        return await asyncio.to_thread(find)

    async def each_text(self, look: LookAtText) -> None:
        def read() -> None:
            try:
                database = self._surface.database()
            except NotIndexed as error:
                raise ItemNotFound("the archives are not indexed yet") from error
            for number, document in database.documents().items():
                look(document.id, database.text(number))

        await asyncio.to_thread(read)

    async def prepare(self, query: SourceQuery) -> None:
        def find() -> None:
            if database := self._surface.indexed_database():
                for item in self._find(database, query):
                    if item.add_passage:
                        item.add_passage()
                self._surface.start()

        await asyncio.to_thread(find)

    def _search(self, query: SourceQuery) -> SourceResult:
        try:
            database, warnings = self._surface.search_database(query.query.text)
            items = self._find(database, query)
        except NotIndexed as error:
            raise SourceNotReady(str(error)) from error
        if self._surface.is_indexing():
            warnings.append("The archives are being indexed; results may be incomplete.")
        return SourceResult(items, warnings=tuple(warnings))

    def _find(self, database: ArchiveDatabase, query: SourceQuery) -> tuple[Item, ...]:
        parsed = query.query
        fits = self._filter(database, parsed, query)
        text = " ".join((*parsed.terms, *parsed.must, *parsed.phrases))
        reads_documents = bool(parsed.must or parsed.phrases or parsed.must_not or parsed.not_phrases)
        candidates = READ_CANDIDATES if reads_documents else FILTER_CANDIDATES
        limit = query.limit if fits is None else max(query.limit, candidates)
        ranking = rank_archives(database, text, limit)
        hits = [hit for hit in ranking.documents if fits is None or fits(hit[1])]
        return tuple(self._item(database, ranking, hit) for hit in hits[: query.limit])

    def _filter(
        self, database: ArchiveDatabase, parsed: Query, query: SourceQuery
    ) -> Callable[[StoredArchiveDocument], bool] | None:
        """Return the test that a found document has to pass; the archives' own search has no operators or filters."""
        is_wanted = query.path_filter() if query.filters_paths else None
        required, excluded = (*parsed.must, *parsed.phrases), (*parsed.must_not, *parsed.not_phrases)
        if is_wanted is None and not query.is_dated and not required and not excluded:
            return None

        def fits(document: StoredArchiveDocument) -> bool:
            if is_wanted and not (is_wanted(document.path) or is_wanted(document.archive_path)):
                return False
            if not query.is_within(_parse_day(document.date)):
                return False
            if not required and not excluded:
                return True
            text = "\n".join((document.title, document.question, database.text(document.number)))
            return all(holds_phrase(text, phrase) for phrase in required) and not any(
                holds_phrase(text, phrase) for phrase in excluded
            )

        return fits

    def _item(
        self, database: ArchiveDatabase, ranking: ArchiveRanking, hit: tuple[float, StoredArchiveDocument]
    ) -> Item:
        score, document = hit
        more: dict[str, Any] = {"path": document.path} | ({"date": document.date} if document.date else {})
        keys = file_key(f"{self._surface.locations.roots[document.archive]}/{document.archive_path}")
        if _WEB_URL.match(document.url):
            keys |= url_key(document.url)
        item = Item(
            id_of(self.name, document.id), self.name, one_line(document.title, TITLE_CHARACTERS), _url(document),
            "", score, one_line(f"{document.question} {document.path}", PASSAGE_CHARACTERS), keys, more,
        )  # fmt: skip

        def add_passage() -> Item:
            (found,) = highlight_documents(database, ranking, [hit], masks=masks_secrets())
            return _with_passage(item, found)

        return replace(item, add_passage=add_passage)

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
        state = "indexing" if self._surface.is_indexing() else "ready"
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
