"""Named indexes as sources of a federated search."""

import json
import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import quote

from dowse.errors import ItemNotFound, NotFound, SourceNotReady, StoreDamaged
from dowse.federation.federation_types import (
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
from dowse.notes.named_index import NamedIndex, NoteResult
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS
from dowse.surfaces.notes.notes_surface import NotesSurface
from dowse.visible_text import one_line

Answer = TypeVar("Answer")

CANDIDATE_FACTOR = 3
"""Number of notes that are ranked for each requested one, since the order of their scores is rough.
On judged notes nDCG@10 is 0.53 with 1, 0.58 with 2, 0.61 with 3."""
MAX_DATED = 1000
"""Number of notes whose date is looked at if only some days are asked for."""
MAX_METADATA_CHARACTERS = 2_000
"""Maximum length of metadata in a fetched note; longer metadata has a tool of its own."""
_WEB_URL = re.compile(r"https?://\S+", re.IGNORECASE)


class NotesSearchSource(SearchSource):
    """One named index."""

    kind: SourceKind = "index"

    def __init__(self, surface: NotesSurface, index: str) -> None:
        self.name = source_name(self.kind, index)
        self._surface, self._index = surface, index

    def unsupported_filter(self, query: SourceQuery) -> str:
        if query.kind == "code":
            return "notes are not code"
        return "notes have no language" if query.language else "notes have no path" if query.filters_paths else ""

    async def find_items(self, query: SourceQuery) -> SourceResult:
        limit = CANDIDATE_FACTOR * query.limit

        def find(index: NamedIndex, check: Callable[[], None]) -> SourceResult:
            wanted = MAX_DATED if query.is_dated else limit
            answer = index.search(query.query.typed_text, wanted, check_cancelled=check)
            kept = (note for note in answer.results if query.is_within(note.metadata.get("date")))
            return SourceResult([list(map(self._item, islice(kept, limit)))])

        return await self._use(find)

    async def list_items(self) -> list[ListedItem]:
        def find(index: NamedIndex, _: object) -> list[ListedItem]:
            return [
                ListedItem(note.doc_id, note.doc_id, _title(note.doc_id, note.metadata))
                for note in index.every_document()
            ]

        return await self._use(find)

    async def texts(self) -> Iterable[tuple[str, str]]:
        return await self._use(lambda index, _: [(note.doc_id, note.content) for note in index.every_document()])

    def _item(self, result: NoteResult) -> Item:
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

    async def _use(self, ask: Callable[[NamedIndex, Callable[[], None]], Answer]) -> Answer:
        """Ask the index. The message about a damaged one is its own: unlike an index of files, it is not rebuilt."""
        try:
            return await self._surface.use(self._index, ask)
        except StoreDamaged as error:
            raise SourceNotReady(str(error)) from error

    def _url(self, doc_id: str, metadata: dict[str, Any]) -> str:
        """Return the URL in the note's metadata, else a URL of the note itself."""
        url = metadata.get("url")
        if isinstance(url, str) and _WEB_URL.fullmatch(url.strip()):
            return one_line(url, 2000)
        return f"note://{quote(self._index)}/{quote(doc_id, safe='/', errors='replace')}"


def _title(doc_id: str, metadata: dict[str, Any]) -> str:
    title = metadata.get("title")
    return one_line(title if isinstance(title, str) and title.strip() else doc_id, TITLE_CHARACTERS)
