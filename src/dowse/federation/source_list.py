"""All that a server has, as sources of one search."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dowse.errors import CatalogError
from dowse.federation.federation_types import SearchSource
from dowse.mcp.tools import Call, Schema

if TYPE_CHECKING:
    from dowse.keeping.service import Service
    from dowse.surfaces.archives.archive_surface import ArchiveSurface
    from dowse.surfaces.documents.document_folders import DocumentFolders
    from dowse.surfaces.notes.notes_handlers import NotesSurface
    from dowse.surfaces.sites.sites_surface import SitesSurface

CREATE_INDEX = "Call create_index."
RUN_INDEX = "Run: dowse index"


@dataclass(slots=True)
class SourceList:
    """The surfaces of a server whose content is searched together."""

    start: Path
    """Where a root is looked for when none was named."""
    projects: "Service | None" = None
    shelves: "DocumentFolders | None" = None
    sites: "SitesSurface | None" = None
    archives: "ArchiveSurface | None" = None
    notes: "NotesSurface | None" = None
    remedy: str = CREATE_INDEX
    """What to do about a project that is not indexed."""

    async def members(self, call: Call) -> tuple[list[SearchSource], dict[str, str]]:
        """Every source there is now, and what is wrong with those that cannot be found."""
        # Each brings NumPy and more with it, which no client should wait for before it was greeted.
        found: list[SearchSource] = []
        problems = await self._without_root(call)
        if self.projects is not None:
            from dowse.federation.file_sources import ProjectSearchSource

            found += [ProjectSearchSource(self.projects, served, self.remedy) for served in self.projects.projects]
        if self.shelves is not None:
            from dowse.federation.file_sources import DocumentsSearchSource

            found += [DocumentsSearchSource(self.shelves, served) for served in self.shelves.service.documents()]
        if self.sites is not None:
            from dowse.federation.site_source import SiteSearchSource

            found += [SiteSearchSource(self.sites, served) for served in self.sites.served]
        if self.archives is not None:
            from dowse.federation.site_source import ArchiveSearchSource

            found.append(ArchiveSearchSource(self.archives))
        if self.notes is not None:
            from dowse.federation.notes_source import NotesSearchSource

            found += [NotesSearchSource(self.notes, name) for name in await self.notes.names()]
        return found, problems

    async def _without_root(self, call: Call) -> dict[str, str]:
        """Find the folders that nobody named; with other sources at hand nobody is asked for them."""
        from dowse.surfaces.root_detection import find_roots

        services = [one for one in (self.projects, self.shelves.service if self.shelves else None) if one is not None]
        has_others = self.sites is not None or self.archives is not None
        for service in dict.fromkeys(services):
            if not service.projects:
                try:
                    await find_roots(service, call, self.start, may_ask=not has_others)
                except CatalogError as error:
                    return {"project" if service is self.projects else "documents": str(error)}
        return {}


class NoClient:
    """A call without a client behind it: nobody to ask, and no roots."""

    arguments: Mapping[str, Any] = MappingProxyType({})
    budget_characters = sys.maxsize
    can_ask = False

    async def ask(self, key: str, question: str, fields: Mapping[str, Schema] | None = None) -> dict[str, Any] | None:  # noqa: ARG002 - nobody answers
        return None

    async def roots(self) -> list[str]:
        return []

    async def progress(self, done: float, total: float | None, message: str) -> None:
        """Nobody wants to know."""
