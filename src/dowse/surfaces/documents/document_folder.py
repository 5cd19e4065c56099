"""One folder of documents as a server has it: its index, its links, and what clients know of its list."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from dowse.indexes.document_search import (
    DocumentQuery,
    DocumentResults,
    ListedDocument,
    find_documents,
    list_documents,
    read_now,
)
from dowse.indexes.index import ProjectIndex
from dowse.keeping.catch_up import is_far_behind
from dowse.keeping.served_index import ServedIndex
from dowse.sources.linked_files import exists_below
from dowse.surfaces.documents.doc_uris import make_uri
from dowse.surfaces.documents.link_graph import LinkGraph
from dowse.surfaces.documents.resource_list import ResourceList
from dowse.types import Document, View

if TYPE_CHECKING:
    from dowse.keeping.keeper import IndexCallback


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

    async def search(self, query: DocumentQuery) -> DocumentResults:
        """Find documents by title and content."""
        return await self.served.ask_fresh(lambda index, pending: self.search_in(index, pending, query), View.DOCUMENTS)

    def search_in(self, index: ProjectIndex, pending: list[str], query: DocumentQuery) -> DocumentResults:
        """Find documents, on the index's thread."""
        found = find_documents(index, query, len(pending), self.served.encoder, is_behind=is_far_behind(pending))
        if self.served.encoder:
            self.served.encoder.prioritize(index.root, [one.document.path for one in found.matches.found])
        return found

    async def list_page(self, after: str, limit: int) -> list[ListedDocument]:
        """Return the documents after a path, in the order of their paths."""
        return await self.served.ask(lambda index: self._read_page(index, after, limit), View.DOCUMENTS)

    def _read_page(self, index: ProjectIndex, after: str, limit: int) -> list[ListedDocument]:
        if self.resource_list.is_compared:
            self.served.catch_up(index)
        page = list_documents(index, after, limit)
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
