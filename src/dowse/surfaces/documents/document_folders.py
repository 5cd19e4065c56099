"""The folders of documents that a server has: found, indexed, kept fresh, and their addresses understood."""

import asyncio
import contextlib
from functools import partial
from pathlib import Path

from dowse.errors import CatalogError, DowseError, ResourceNotFound
from dowse.indexes.document_search import read_now
from dowse.indexes.index import ProjectIndex
from dowse.keeping.service import ServedIndex, Service
from dowse.mcp.resources import Announcer
from dowse.mcp.tools import Call
from dowse.searching.title_index import TitleIndex
from dowse.surfaces.documents.doc_uris import SCHEME, parts_of, uri_of
from dowse.surfaces.documents.resource_list import ResourceList
from dowse.surfaces.root_detection import find_roots
from dowse.types import Document

AGAIN_SECONDS = 1.0
"""How long to wait before the list is compared again with an index that is being written."""


class DocumentFolders:
    """The documents of a service's folders."""

    def __init__(self, service: Service, start: Path, announcer: Announcer) -> None:
        self.service = service
        self._start = start
        """Where a root is looked for when none was named."""
        self._announcer = announcer
        self._titles: dict[ServedIndex, TitleIndex] = {}
        self._listings: dict[ServedIndex, ResourceList] = {}
        self._waiting: dict[ServedIndex, asyncio.TimerHandle] = {}
        self._looking: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def live_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Announce changes from now on, by this loop."""
        self._loop = loop

    def close(self) -> None:
        """Announce nothing any more."""
        for handle in self._waiting.values():
            handle.cancel()
        self._waiting.clear()
        self._loop = None

    async def folders(self, client: Call, *, may_ask: bool = False) -> list[ServedIndex]:
        """All folders, indexed or being indexed; none where nobody knows which are meant."""
        if not self.service.projects:
            try:
                await find_roots(self.service, client, self._start, may_ask=may_ask)
            except CatalogError:
                if may_ask:
                    raise
        return self.open()

    def open(self) -> list[ServedIndex]:
        """Index the folders that are known, and keep them fresh."""
        folders = self.service.documents()
        for served in folders:
            served.keep_fresh(partial(self._changed, served))
            served.make_index()
        return folders

    async def document(self, client: Call, uri: str) -> tuple[Document, ServedIndex, str]:
        """A document as it is now, where it stands, and the anchor in its address."""
        served, path, anchor = await self.place(client, uri)
        found = await served.do(read_now, path)
        if found is None:
            raise ResourceNotFound(f"Resource not found: {uri}")
        return found, served, anchor

    async def place(self, client: Call, uri: str) -> tuple[ServedIndex, str, str]:
        """Where an address leads."""
        if not uri.startswith(SCHEME):
            raise ResourceNotFound(f"Unsupported URI scheme: {uri}")
        path, anchor = parts_of(uri)
        for served in await self.folders(client):
            if not self.service.has_several:
                return served, path, anchor
            if path.startswith(f"{served.name}/"):
                return served, path.removeprefix(f"{served.name}/"), anchor
        raise ResourceNotFound(f"Resource not found: {uri}")

    def uri(self, served: ServedIndex, path: str, anchor: str = "") -> str:
        """The address of a document."""
        return uri_of(self.service.shown(served, path), anchor)

    def titles(self, served: ServedIndex) -> TitleIndex:
        """The titles of a folder, as they were last looked at; for the folder's thread."""
        return self._titles.setdefault(served, TitleIndex())

    def listing(self, served: ServedIndex) -> ResourceList:
        """What clients believe of a folder."""
        return self._listings.setdefault(served, ResourceList())

    def _changed(self, served: ServedIndex, project: ProjectIndex) -> None:
        """Tell clients when the list is another one; on a thread that works for the folder."""
        if self._loop is None or self._loop.is_closed():
            return
        if project.is_being_updated() or project.store.noted("state") != "complete":
            self._loop.call_soon_threadsafe(self._wait, served)  # meanwhile the list comes from the files
        elif self.listing(served).is_another(project.store):
            asyncio.run_coroutine_threadsafe(self._announcer.announce(), self._loop)

    def _wait(self, served: ServedIndex) -> None:
        if served not in self._waiting and self._loop:
            self._waiting[served] = self._loop.call_later(AGAIN_SECONDS, self._look, served)

    def _look(self, served: ServedIndex) -> None:
        async def look() -> None:
            with contextlib.suppress(DowseError, RuntimeError):  # deleted meanwhile, or we are leaving
                await served.do(lambda project: self._changed(served, project))

        del self._waiting[served]
        task = asyncio.ensure_future(look())
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)
