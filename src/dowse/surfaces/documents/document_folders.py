"""The folders of documents that a server has: found, indexed, kept fresh, their URIs resolved, and changes of their lists noticed."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import CatalogError, DowseError, ResourceNotFound
from dowse.indexes.document_search import (
    DocumentQuery,
    DocumentResults,
    ListedDocument,
    find_documents,
    list_documents,
    read_now,
)
from dowse.indexes.index import ProjectIndex
from dowse.keeping.keeper import is_far_behind
from dowse.keeping.served_index import ServedIndex, Service
from dowse.mcp.resources import Announcer
from dowse.mcp.tools import Call
from dowse.sources.open_folders import exists_below
from dowse.surfaces.documents.doc_uris import SCHEME, make_uri, parse_uri
from dowse.surfaces.documents.document_links import LinkGraph
from dowse.surfaces.root_detection import find_roots
from dowse.types import Document, View

if TYPE_CHECKING:
    from dowse.keeping.keeper import IndexCallback
    from dowse.store.local import LocalStore


class ResourceList:
    """The paths and titles of one folder's documents, as clients know them. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._checksum: int | None = None
        """The hash of all paths and titles when the list was last compared with the index."""
        self._shown: dict[str, str] = {}
        """The titles of listed paths, until the list is first compared with the index."""
        self._is_all_shown = False

    @property
    def is_compared(self) -> bool:
        """Whether the list was compared with the index; from then on the index is followed."""
        return self._checksum is not None

    def record_page(self, page: Iterable[ListedDocument], *, is_last: bool) -> None:
        """Record a page that a client was shown."""
        if not self.is_compared:
            with self._lock:
                self._shown |= {document.path: document.title for document in page}
                self._is_all_shown = self._is_all_shown or is_last

    def has_changed(self, store: "LocalStore") -> bool:
        """Return whether the list of a complete index changed since the last call, or since clients saw it."""
        titles = {path: title for _, path, title in store.titles()}  # of 15,000 documents in 20 ms
        with self._lock:
            before, self._checksum = self._checksum, hash(frozenset(titles.items()))
            if before is not None:
                return self._checksum != before
            last, shown, self._shown = max(self._shown, default=""), self._shown, {}
            return shown != {path: title for path, title in titles.items() if self._is_all_shown or path <= last}


class DocumentFolder:
    """One folder of documents. Its links belong to the index's thread."""

    def __init__(self, served: ServedIndex, shown_path: Callable[[ServedIndex, str], str]) -> None:
        self.served = served
        self.resource_list = ResourceList()
        self.on_change: IndexCallback | None = None
        """Called after each change of the index."""
        self._shown_path = shown_path
        self._links = LinkGraph(partial(exists_below, served.root))

    def uri(self, path: str, anchor: str = "") -> str:
        """Return the URI of a document, or of a section of it."""
        return make_uri(self._shown_path(self.served, path), anchor)

    async def find_documents(self, query: DocumentQuery) -> DocumentResults:
        """Find documents by title and content."""
        find = partial(find_served_documents, self.served, query=query)
        return await self.served.ask_fresh(find, View.DOCUMENTS)

    async def list_page(self, after: str, limit: int) -> list[ListedDocument]:
        """Return the documents after a path, in the order of their paths."""
        return await self.served.ask(lambda index: self._read_page(index, after, limit), View.DOCUMENTS)

    def _read_page(self, index: ProjectIndex, after: str, limit: int) -> list[ListedDocument]:
        if is_compared := self.resource_list.is_compared:  # the first list does not wait for that
            self.served.catch_up(index)
        page = list_documents(index, after, limit, is_compared=is_compared)
        self.resource_list.record_page(page, is_last=len(page) < limit)
        return page

    async def read(self, path: str) -> Document | None:
        """Read a document as it is now; None if there is none that may be read."""
        return await self.served.ask(lambda index: read_now(index, path), View.DOCUMENTS)

    def current_links(self, index: ProjectIndex) -> LinkGraph:
        """Return the links of the folder as they are now, on the index's thread."""
        self.served.catch_up(index)
        self._links.update(index.store)
        return self._links


def find_served_documents(
    served: ServedIndex, index: ProjectIndex, pending: list[str], query: DocumentQuery
) -> DocumentResults:
    """Find documents by title and content, on the index's thread."""
    return find_documents(index, query, len(pending), served.encoder, is_behind=is_far_behind(pending))


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
        self._comparisons: dict[DocumentFolder, asyncio.Task[None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def live_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Announce changes from now on, in this event loop."""
        self._loop = loop

    def close(self) -> None:
        """Stop announcing changes."""
        for comparison in self._comparisons.values():
            comparison.cancel()
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
        if folder not in self._comparisons:
            self._comparisons[folder] = asyncio.ensure_future(self._compare(folder))

    async def _compare(self, folder: DocumentFolder) -> None:
        await asyncio.sleep(COMPARE_AGAIN_SECONDS)
        del self._comparisons[folder]
        with contextlib.suppress(DowseError, RuntimeError):  # deleted meanwhile, or the server is stopping
            await folder.served.ask(partial(self._announce_change, folder), View.DOCUMENTS)
