"""The folders of documents that a server has: found, indexed, kept fresh, and their addresses understood."""

import asyncio
from functools import partial
from pathlib import Path

from dowse.searching.documents import Titles, titles_of
from dowse.serving.catalogue import CatalogueError
from dowse.serving.documents import read_now
from dowse.serving.project import ProjectIndex
from dowse.serving.resources import Announcer, NoSuchResource
from dowse.serving.rooting import find_roots
from dowse.serving.service import Served, Service
from dowse.serving.surfaces.addresses import SCHEME, parts_of, uri_of
from dowse.serving.tools import Call
from dowse.types import Document

UNKNOWN = 0
"""The state of a list that was made from the files themselves, so that the first index is news."""


class Shelves:
    """The documents of a service's folders."""

    def __init__(self, service: Service, start: Path, announcer: Announcer) -> None:
        self.service = service
        self._start = start
        """Where a root is looked for when none was named."""
        self._announcer = announcer
        self._titles: dict[Served, Titles] = {}
        self._listed: dict[Served, int] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def live_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Announce changes from now on, by this loop."""
        self._loop = loop

    async def folders(self, client: Call, *, may_ask: bool = False) -> list[Served]:
        """All folders, indexed or being indexed; none where nobody knows which are meant."""
        if not self.service.projects:
            try:
                await find_roots(self.service, client, self._start, may_ask=may_ask)
            except CatalogueError:
                if may_ask:
                    raise
        return self.open()

    def open(self) -> list[Served]:
        """Index the folders that are known, and keep them fresh."""
        folders = self.service.documents()
        for served in folders:
            served.keep_fresh(partial(self._changed, served))
            served.make_index()
        return folders

    async def document(self, client: Call, uri: str) -> tuple[Document, Served, str]:
        """A document as it is now, where it stands, and the anchor in its address."""
        served, path, anchor = await self.place(client, uri)
        found = await served.do(read_now, path)
        if found is None:
            raise NoSuchResource(f"Resource not found: {uri}")
        return found, served, anchor

    async def place(self, client: Call, uri: str) -> tuple[Served, str, str]:
        """Where an address leads."""
        if not uri.startswith(SCHEME):
            raise NoSuchResource(f"Unsupported URI scheme: {uri}")
        path, anchor = parts_of(uri)
        for served in await self.folders(client):
            if not self.service.has_several:
                return served, path, anchor
            if path.startswith(f"{served.name}/"):
                return served, path.removeprefix(f"{served.name}/"), anchor
        raise NoSuchResource(f"Resource not found: {uri}")

    def uri(self, served: Served, path: str, anchor: str = "") -> str:
        """The address of a document."""
        return uri_of(self.service.shown(served, path), anchor)

    def titles(self, served: Served, project: ProjectIndex) -> Titles:
        """The titles of a folder, gathered once for each state of its index; on the folder's thread."""
        sequence = project.store.sequence()
        known = self._titles.get(served)
        if known is None or known.sequence != sequence:
            known = self._titles[served] = titles_of(project.store, sequence)
        return known

    def listed_from_files(self, served: Served) -> None:
        """Somebody was shown a list that no index stands for."""
        self._listed.setdefault(served, UNKNOWN)

    def _changed(self, served: Served, project: ProjectIndex) -> None:
        """Tell clients when the list is another one; on the thread that keeps the index fresh."""
        digest = hash(tuple((one.path, one.title) for one in project.store.documents())) or 1
        if self._listed.setdefault(served, digest) != digest and self._loop:
            self._listed[served] = digest
            asyncio.run_coroutine_threadsafe(self._announcer.announce(), self._loop)
