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
from dowse.places.place_store import PlaceStore
from dowse.places.place_table import SharedPlace
from dowse.searching.search import SearchHit, SearchOptions
from dowse.surfaces.organisation.place_search import coverage_of, search_place
from dowse.surfaces.organisation.place_surface import PlaceSurface, commits_of
from dowse.surfaces.passage_text import content_warnings, passage_text
from dowse.surfaces.project.path_search import relative_pattern
from dowse.visible_text import one_line

MAX_LINE_CHARACTERS, TITLE_CHARACTERS = 300, 200
RANKED_FILES = 40
"""As in a search of folders (`file_sources`)."""


def place_name(place: SharedPlace) -> str:
    """Return the name of the source that a place is."""
    return source_name("project", PurePosixPath(place.name.rstrip("/")).name or "place")


class PlaceSource:
    """All projects of a place; the locator of a file is its path as replies show it."""

    kind: SourceKind = "project"

    def __init__(self, surface: PlaceSurface) -> None:
        self._surface = surface
        self.name = place_name(surface.place)

    @property
    def _store(self) -> PlaceStore:
        return self._surface.store

    def unsupported_filter(self, query: SourceQuery) -> str:
        return "published files have no dates" if query.is_dated else ""

    async def search(self, query: SourceQuery) -> SourceResult:
        return await asyncio.to_thread(self._search, query)

    def _search(self, query: SourceQuery) -> SourceResult:
        glob = relative_pattern(query.path) if query.path else None
        options = SearchOptions(
            query.limit, query.kind, path_glob=glob, language=query.language,
            ranked_files=max(RANKED_FILES, 2 * query.limit), detail="brief", keeps_weak=True,
        )  # fmt: skip
        answer = search_place(self._store, query.query, options, self._surface.encoder)
        items = tuple(self._item(hit, answer.terms) for hit in answer.hits)
        covered = coverage_of(self._store)
        return SourceResult(items, covered, (), answer.corrected, tuple(self._store.warnings), answer.methods)

    def _item(self, hit: SearchHit, terms: Any) -> Item:
        passage = hit.passages[0] if hit.passages else None
        around = [*passage.headings, *passage.symbols] if passage else []
        more: dict[str, Any] = {"path": hit.path}
        if passage:
            more |= {"startLine": passage.start_line, "endLine": passage.end_line, **content_warnings(passage)}
        title = hit.title if hit.kind == "docs" and hit.title else hit.path
        return Item(
            id_of(self.name, hit.path), self.name, one_line(title, TITLE_CHARACTERS), self._url(hit.path),
            passage_text(passage, terms, MAX_LINE_CHARACTERS) if passage else "", hit.relevance,
            " ".join([hit.path.rpartition("/")[2], *around]), self.keys(hit.path), more, hit.data,
        )  # fmt: skip

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
        await self.search(query)

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
