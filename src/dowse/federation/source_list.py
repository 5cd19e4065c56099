"""The sources of a server, for one search over all of them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import CatalogError, DowseError, TooManyFiles
from dowse.federation.federation_types import SearchSource, SourceQuery, source_name
from dowse.mcp.tools import Call
from dowse.searching.query_terms import parse_search_query
from dowse.types import View

if TYPE_CHECKING:
    from dowse.federation.root_source import RootSource
    from dowse.keeping.served_index import Service
    from dowse.surfaces.archives.archive_surface import ArchiveSurface
    from dowse.surfaces.documents.document_folders import DocumentFolders
    from dowse.surfaces.notes.notes_surface import NotesSurface
    from dowse.surfaces.organisation.place_surface import PlaceSurface
    from dowse.surfaces.sites.sites_surface import SitesSurface

CREATE_INDEX = "Call create_index."
RUN_INDEX = "Run: dowse index"

_MODULES = {
    "projects": "root_source",
    "place": "place_source",
    "folders": "root_source",
    "sites": "item_sources",
    "archives": "item_sources",
    "notes": "item_sources",
}
"""The modules of the sources of each surface, in the order in which they are prepared."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class SourceList:
    """The surfaces of a server whose content is searched together."""

    start: Path
    """The folder in which a root is detected if none was named."""
    projects: "Service | None" = None
    folders: "DocumentFolders | None" = None
    sites: "SitesSurface | None" = None
    archives: "ArchiveSurface | None" = None
    notes: "NotesSurface | None" = None
    place: "PlaceSurface | None" = None
    remedy: str = CREATE_INDEX
    """The advice for a project that is not indexed."""
    indexes_projects: bool = False
    """Whether a root that is named or detected is indexed at once, because no tool can index it."""

    def roots(self) -> "list[RootSource]":
        """Return the roots that are known, each once: the projects, then those of documents alone."""
        from dowse.federation.root_source import RootSource

        folders = {folder.served: folder for folder in self.folders.known()} if self.folders else {}
        found = []
        if self.projects:
            for served in self.projects.projects:
                folder = folders.pop(served, None)
                views = View.BOTH if folder else View.PROJECT
                found.append(
                    RootSource(served, self.projects, views, remedy=self.remedy, folders=self.folders, folder=folder)
                )
        if self.folders:
            for served, folder in folders.items():
                found.append(
                    RootSource(served, self.folders.service, View.DOCUMENTS, folders=self.folders, folder=folder)
                )
        return found

    def root(self, name: str) -> "RootSource | None":
        """Return the root that the source of a name is; None for any other source."""
        return next((root for root in self.roots() if root.name == name), None)

    async def find(self, call: Call) -> tuple[list[SearchSource], dict[str, str]]:
        """Return every source there is now, and the problems of the kinds whose roots could not be detected."""
        problems = await self._detect_roots(call)
        return await self._known(), {**problems, **await self.index_projects()}

    async def find_quickly(self) -> list[SearchSource]:
        """Return the sources that are known without detecting roots, reading or loading anything."""
        has_notes = self.notes is not None and self.notes.is_open
        return await self._known() if has_notes else await replace(self, notes=None)._known()

    async def index_projects(self) -> dict[str, str]:
        """Start indexing projects without an index, if that is wanted; return why some cannot be indexed."""
        problems: dict[str, str] = {}
        if self.projects is None or not self.indexes_projects:
            return problems
        has_documents = self.folders is not None and self.folders.service is self.projects
        views = View.BOTH if has_documents else View.PROJECT  # in one pass
        for served in self.projects.projects:
            try:
                if not served.is_running and not served.has_view(View.PROJECT):
                    await served.ask(lambda index: index.require_size())
                    served.start_run(view=views)
                elif has_documents:
                    served.make_index(View.DOCUMENTS)
            except TooManyFiles as error:
                problems[source_name("project", served.name)] = f"{str(error).partition(' Continue')[0]} {RUN_INDEX}"
            except DowseError as error:
                problems[source_name("project", served.name)] = str(error)
        return problems

    async def prepare(self, wait_for_quiet: Callable[[], Awaitable[None]]) -> None:
        """Load what the first search needs from every source that is known and indexed; ask nobody, index nothing.

        Projects come first, as they are searched first. Each step waits until nothing else is to be done.
        """
        for part, module in _MODULES.items():
            if surface := getattr(self, part):
                await wait_for_quiet()
                await asyncio.to_thread(import_module, f"dowse.federation.{module}")
                from dowse.indexes.first_search import FIRST_LIMIT, FIRST_QUERY

                query = SourceQuery(parse_search_query(FIRST_QUERY), FIRST_LIMIT)
                for source in await SourceList(self.start, **{part: surface})._known():
                    await wait_for_quiet()
                    try:
                        await source.prepare(query)
                    except (DowseError, OSError) as error:
                        _log.debug("%s cannot be prepared: %s", source.name, error)  # its first search says so

    async def _known(self) -> list[SearchSource]:
        # Each source imports NumPy and more, which a client should not wait for before its handshake.
        sources: list[SearchSource] = [*self.roots()] if self.projects or self.folders else []
        if self.projects is not None:
            sources += self._packages(self.projects)
        if self.place is not None:
            from dowse.federation.place_source import PlaceSource

            sources.append(PlaceSource(self.place))
        if self.sites is not None:
            from dowse.federation.item_sources import SiteSearchSource

            sources += [SiteSearchSource(self.sites, site) for site in self.sites.served]
        if self.archives is not None:
            from dowse.federation.item_sources import ArchiveSearchSource

            sources.append(ArchiveSearchSource(self.archives))
        if self.notes is not None:
            from dowse.federation.item_sources import NotesSearchSource

            sources += [NotesSearchSource(self.notes, name) for name in await self.notes.names()]
        return sources

    def _packages(self, service: "Service") -> list[SearchSource]:
        """Return the packages that the projects use, where the user lets dowse read them."""
        served = [(service.packages_of(one), one.name) for one in service.projects]
        if not any(packages.is_enabled for packages, _ in served):
            return []
        from dowse.federation.place_source import PackageSearchSource

        return [PackageSearchSource(packages, name) for packages, name in served if packages.is_enabled]

    async def _detect_roots(self, call: Call) -> dict[str, str]:
        """Detect the roots that were not named; the user is asked only if there are no other sources."""
        from dowse.surfaces.root_detection import find_roots

        services = [service for service in (self.projects, self.folders and self.folders.service) if service]
        has_others = any(one is not None for one in (self.sites, self.archives, self.place))
        for service in dict.fromkeys(services):
            if not service.projects:
                try:
                    await find_roots(service, call, self.start, may_ask=not has_others)
                except CatalogError as error:
                    return {"project" if service is self.projects else "documents": str(error)}
        return {}
