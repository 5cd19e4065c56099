"""A place with the files of its projects, and the packages that a project uses, as sources; packages are searched only where they are named."""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from dowse.errors import DowseError, ItemNotFound, PathRefused, SourceNotReady, UsageError
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
from dowse.federation.root_source import brief_options, file_key, with_passage
from dowse.indexes.dependencies.package_search import Dependencies, PackageAnswer
from dowse.indexes.document_search import read_now
from dowse.keeping.served_packages import ServedPackages
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


class PlaceSource(SearchSource):
    """All projects of a place; the locator of a file is its path as replies show it."""

    kind: SourceKind = "project"
    lacks: Mapping[FilterName, str] = {"days": "published files have no dates"}

    def __init__(self, surface: PlaceSurface) -> None:
        self._surface = surface
        self.name = place_name(surface.place)

    async def find_items(self, query: SourceQuery) -> SourceResult:
        glob = relative_pattern(query.path) if query.path else None

        def find() -> SourceResult:
            store = self._surface.store
            answer = search_place(store, query.query, brief_options(query, glob), self._surface.encoder)
            items = [self._item(hit, answer.terms) for hit in answer.hits]
            return SourceResult(
                [items], coverage_of(store), (), answer.corrected, tuple(store.warnings), answer.methods
            )

        return await asyncio.to_thread(find)

    def _item(self, hit: SearchHit, terms: Any) -> Item:
        title = hit.title if hit.kind == "docs" and hit.title else hit.path
        item = Item(
            id_of(self.name, hit.path), self.name, one_line(title, TITLE_CHARACTERS), self._url(hit.path), "",
            hit.relevance, hit.path.rpartition("/")[2], frozenset([f"place:{hit.path}"]), {"path": hit.path}, hit.data,
        )  # fmt: skip
        return with_passage(item, next(iter(hit.passages), None), terms)

    def _url(self, path: str) -> str:
        return f"dowse://{id_of(self.name, path)}"

    async def fetch(self, locator: str) -> FetchedItem:
        return await asyncio.to_thread(self._fetch, locator)

    def _fetch(self, locator: str) -> FetchedItem:
        store = self._surface.store
        store.refresh()
        try:
            found = store.find_file(locator)
            text = store.read(locator)[0].decode() if found else ""
        except PathRefused:
            found = None
        if found is None:
            raise ItemNotFound(f"{self.name} has no such file")
        facts = {"path": found.path, "language": found.language, "commits": commits_of(store, [found.path])}
        title = found.title if found.kind == "docs" and found.title else found.path
        return FetchedItem(title, text, self._url(found.path), facts)

    async def list_items(self) -> list[ListedItem]:
        return await asyncio.to_thread(
            lambda: [ListedItem(path, path) for _, path in self._surface.store.ids_by_path()]
        )

    async def texts(self) -> Iterable[tuple[str, str]]:
        return self._surface.store.texts("", None, None, seconds=60.0)

    async def status(self) -> SourceStatus:
        def describe() -> SourceStatus:
            store = self._surface.store
            store.refresh()
            projects = store.projects()
            sums = {name: sum(getattr(one, name) for one in projects) for name in ("files", "chunks")}
            newest = max((one.published for one in projects), default=None)
            return SourceStatus(self.kind, self.name, "ready", {"projects": len(projects)} | sums, newest)

        return await asyncio.to_thread(describe)


class PackageSearchSource(SearchSource):
    """The packages that one project uses, at the versions that are installed."""

    kind: SourceKind = "dependencies"
    lacks: Mapping[FilterName, str] = {"days": "the files of packages have the dates of their installation"}

    def __init__(self, packages: ServedPackages, project: str) -> None:
        self.name = source_name(self.kind, project)
        self._packages = packages

    async def find_items(self, query: SourceQuery) -> SourceResult:
        try:
            return await self._packages.ask(lambda dependencies: self._find_items(dependencies, query))
        except UsageError as error:
            raise SourceNotReady(str(error)) from error

    def _find_items(self, dependencies: Dependencies, query: SourceQuery) -> SourceResult:
        glob = f"*/{relative_pattern(query.path)}" if query.path else None
        found = dependencies.search(query.query, brief_options(query, glob))
        items = [self._item(found, hit) for hit in found.answer.hits]
        return SourceResult([items], corrected=found.answer.corrected, warnings=found.notes)

    def _item(self, found: PackageAnswer, hit: SearchHit) -> Item:
        key, _, path = hit.path.partition("/")
        shown, package = found.show(hit.path), found.packages[key]
        item = Item(
            id_of(self.name, hit.path), self.name, one_line(shown, TITLE_CHARACTERS), f"package:{shown}", "",
            hit.relevance, path.rpartition("/")[2], file_key(f"{package.root}/{path}"),
            {"path": shown, "package": package.name, "version": package.version}, hit.data,
        )  # fmt: skip
        return with_passage(item, next(iter(hit.passages), None), found.answer.terms)

    async def fetch(self, locator: str) -> FetchedItem:
        return await self._packages.ask(lambda dependencies: self._fetch(dependencies, locator))

    def _fetch(self, dependencies: Dependencies, locator: str) -> FetchedItem:
        try:
            index, path = dependencies.find_locator(locator)
            document = read_now(index, path)
        except DowseError as error:
            raise ItemNotFound(str(error)) from error
        if document is None:
            raise ItemNotFound(f"{self.name} has no such file that may be read")
        shown = index.shown_path(path)
        facts = {"path": shown, "language": document.language, "package": index.package.name}
        facts["version"] = index.package.version
        return FetchedItem(one_line(shown, TITLE_CHARACTERS), document.reading.text, f"package:{shown}", facts)

    async def list_items(self) -> list[ListedItem]:
        def find(dependencies: Dependencies) -> list[ListedItem]:
            return [
                ListedItem(path, path)
                for key, index in dependencies.ready_indexes().items()
                for path in (f"{key}/{one}" for _, one in index.store.ids_by_path())
            ]

        return await self._packages.ask(find)

    async def prepare(self, query: SourceQuery) -> None:
        """Do nothing: packages are opened when they are first asked for."""

    async def status(self) -> SourceStatus:
        def find(dependencies: Dependencies) -> SourceStatus:
            packages, ready = dependencies.choose()[0], dependencies.ready_indexes()
            state = "ready" if len(ready) == len(packages) else "incomplete"
            return SourceStatus(self.kind, self.name, state, {"packages": len(packages)})

        try:
            return await self._packages.ask(find)
        except UsageError as error:
            return SourceStatus(self.kind, self.name, "not_found", problem=str(error))
