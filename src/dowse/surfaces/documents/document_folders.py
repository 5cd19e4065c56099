"""The folders of documents that a server has: found, indexed, kept fresh, and their URIs resolved."""

import asyncio
import contextlib
from functools import partial
from pathlib import Path

from dowse.errors import CatalogError, DowseError, ResourceNotFound
from dowse.indexes.index import ProjectIndex
from dowse.keeping.service import Service
from dowse.mcp.resources import Announcer
from dowse.mcp.tools import Call
from dowse.surfaces.documents.doc_uris import SCHEME, parse_uri
from dowse.surfaces.documents.document_folder import DocumentFolder
from dowse.surfaces.root_detection import find_roots
from dowse.types import Document, View

COMPARE_AGAIN_SECONDS = 1.0
"""How long to wait before the list is compared again with an index that is being written."""


class DocumentFolders:
    """The folders of documents of a service."""

    def __init__(self, service: Service, start: Path, announcer: Announcer) -> None:
        self.service = service
        self._start = start
        """The folder in which a root is detected if none was named."""
        self._announcer = announcer
        self._folders: list[DocumentFolder] = []
        self._timers: dict[DocumentFolder, asyncio.TimerHandle] = {}
        self._comparisons: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def live_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Announce changes from now on, in this event loop."""
        self._loop = loop

    def close(self) -> None:
        """Stop announcing changes."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._loop = None

    def known(self) -> list[DocumentFolder]:
        """Return the folders of the service's projects."""
        for served in self.service.projects[len(self._folders) :]:
            folder = DocumentFolder(served, self.service.shown_path)
            folder.on_change = partial(self._announce_change, folder)
            self._folders.append(folder)
        return self._folders

    def open(self) -> list[DocumentFolder]:
        """Index the folders that are known and keep them fresh; return them."""
        for folder in self.known():
            folder.served.keep_fresh(folder.on_change)
            folder.served.make_index(View.DOCUMENTS)
        return self._folders

    async def find(self, client: Call, *, may_ask: bool = False) -> list[DocumentFolder]:
        """Return all folders, indexed or being indexed; none if no root was named or could be detected."""
        if not self.service.projects:
            try:
                await find_roots(self.service, client, self._start, may_ask=may_ask)
            except CatalogError:
                if may_ask:
                    raise
        return self.open()

    async def read(self, client: Call, uri: str) -> tuple[Document, DocumentFolder, str]:
        """Return the document of a URI as it is now, its folder, and the anchor in the URI."""
        folder, path, anchor = await self._resolve(client, uri)
        document = await folder.read(path)
        if document is None:
            raise ResourceNotFound(f"Resource not found: {uri}")
        return document, folder, anchor

    async def _resolve(self, client: Call, uri: str) -> tuple[DocumentFolder, str, str]:
        if not uri.startswith(SCHEME):
            raise ResourceNotFound(f"Unsupported URI scheme: {uri}")
        path, anchor = parse_uri(uri)
        for folder in await self.find(client):
            if not self.service.has_several:
                return folder, path, anchor
            if path.startswith(f"{folder.served.name}/"):
                return folder, path.removeprefix(f"{folder.served.name}/"), anchor
        raise ResourceNotFound(f"Resource not found: {uri}")

    def _announce_change(self, folder: DocumentFolder, index: ProjectIndex) -> None:
        """Tell clients if the list of documents changed; called on a thread that works for the folder."""
        if self._loop is None or self._loop.is_closed():
            return
        index = index.seen_as(View.DOCUMENTS)
        if not index.exists:
            return
        if index.is_being_updated() or index.store.fact("state") != "complete":
            self._loop.call_soon_threadsafe(self._compare_later, folder)  # until then the list comes from the files
        elif folder.resource_list.has_changed(index.store):
            asyncio.run_coroutine_threadsafe(self._announcer.announce(), self._loop)

    def _compare_later(self, folder: DocumentFolder) -> None:
        if folder not in self._timers and self._loop:
            self._timers[folder] = self._loop.call_later(COMPARE_AGAIN_SECONDS, self._compare, folder)

    def _compare(self, folder: DocumentFolder) -> None:
        async def compare() -> None:
            with contextlib.suppress(DowseError, RuntimeError):  # deleted meanwhile, or the server is stopping
                await folder.served.ask(partial(self._announce_change, folder), View.DOCUMENTS)

        del self._timers[folder]
        task = asyncio.ensure_future(compare())
        self._comparisons.add(task)
        task.add_done_callback(self._comparisons.discard)
