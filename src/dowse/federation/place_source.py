"""A place as a source: the code and documentation of all its projects."""

import asyncio
from pathlib import PurePosixPath
from typing import Any

from dowse.errors import ItemNotFound, PathRefused
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
from dowse.federation.root_source import brief_options, with_passage
from dowse.places.place_store import PlaceStore
from dowse.places.place_table import SharedPlace
from dowse.searching.search import SearchHit
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS
from dowse.surfaces.organisation.place_search import coverage_of, search_place
from dowse.surfaces.organisation.place_surface import PlaceSurface, commits_of
from dowse.surfaces.project.path_search import relative_pattern
from dowse.visible_text import one_line


def place_name(place: SharedPlace) -> str:
    """Return the name of the source that a place is."""
    return source_name("project", PurePosixPath(place.name.rstrip("/")).name or "place")


class PlaceSource:
    """All projects of a place; the locator of a file is its path as replies show it."""

    kind: SourceKind = "project"
    kinds = (kind,)

    def __init__(self, surface: PlaceSurface) -> None:
        self._surface = surface
        self.name = place_name(surface.place)

    @property
    def _store(self) -> PlaceStore:
        return self._surface.store

    def unsupported_filter(self, query: SourceQuery) -> str:
        return "published files have no dates" if query.is_dated else ""

    async def find_items(self, query: SourceQuery) -> SourceResult:
        return await asyncio.to_thread(self._find_items, query)

    def _find_items(self, query: SourceQuery) -> SourceResult:
        glob = relative_pattern(query.path) if query.path else None
        answer = search_place(self._store, query.query, brief_options(query, glob), self._surface.encoder)
        items = tuple(self._item(hit, answer.terms) for hit in answer.hits)
        covered = coverage_of(self._store)
        return SourceResult(items, covered, (), answer.corrected, tuple(self._store.warnings), answer.methods)

    def _item(self, hit: SearchHit, terms: Any) -> Item:
        title = hit.title if hit.kind == "docs" and hit.title else hit.path
        item = Item(
            id_of(self.name, hit.path), self.name, one_line(title, TITLE_CHARACTERS), self._url(hit.path), "",
            hit.relevance, hit.path.rpartition("/")[2], self.keys(hit.path), {"path": hit.path}, hit.data,
        )  # fmt: skip
        return with_passage(item, next(iter(hit.passages), None), terms)

    def _url(self, path: str) -> str:
        return f"dowse://{id_of(self.name, path)}"

    def keys(self, locator: str) -> frozenset[str]:
        return frozenset([f"place:{locator}"])

    async def fetch(self, locator: str) -> FetchedItem:
        return await asyncio.to_thread(self._fetch, locator)

    def _fetch(self, locator: str) -> FetchedItem:
        self._store.refresh()
        try:
            found = self._store.find_file(locator)
            text = self._store.read(locator)[0].decode() if found else ""
        except PathRefused:
            found = None
        if found is None:
            raise ItemNotFound(f"{self.name} has no such file")
        facts = {"path": found.path, "language": found.language, "commits": commits_of(self._store, [found.path])}
        title = found.title if found.kind == "docs" and found.title else found.path
        return FetchedItem(title, text, self._url(found.path), facts)

    async def list_items(self) -> list[ListedItem]:
        def read() -> list[ListedItem]:
            return [ListedItem(path, path) for _, path in self._store.ids_by_path()]

        return await asyncio.to_thread(read)

    async def each_text(self, look: LookAtText) -> None:
        def read() -> None:
            for path, text in self._store.texts("", None, None, seconds=60.0):
                look(path, text)

        await asyncio.to_thread(read)

    async def prepare(self, query: SourceQuery) -> None:
        await self.find_items(query)

    async def status(self) -> SourceStatus:
        def describe() -> SourceStatus:
            self._store.refresh()
            projects = self._store.projects()
            counts = {
                "projects": len(projects),
                "files": sum(one.files for one in projects),
                "chunks": sum(one.chunks for one in projects),
            }
            newest = max((one.published for one in projects), default=None)
            return SourceStatus(self.kind, self.name, "ready", counts, newest)

        return await asyncio.to_thread(describe)
