"""Detection of changes in the list of a folder's documents since clients last saw it."""

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dowse.indexes.document_search import ListedDocument
from dowse.types import StoredDocument

if TYPE_CHECKING:
    from dowse.store.local import LocalStore


class ResourceList:
    """The paths and titles of one folder's documents, as hashes. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = ("", -1)
        self._entries: dict[int, int] = {}
        """The hash of path and title of each document."""
        self._shown: dict[str, str] = {}
        """The titles of listed paths, until the list is first compared with the index."""
        self._is_all_shown = False

    @property
    def is_compared(self) -> bool:
        """Whether the list was compared with the index; from then on the index is followed."""
        return self._state[1] >= 0

    def record_page(self, page: Iterable[ListedDocument], *, is_last: bool) -> None:
        """Record a page that a client was shown."""
        if not self.is_compared:
            with self._lock:
                self._shown |= {document.path: document.title for document in page}
                self._is_all_shown = self._is_all_shown or is_last

    def has_changed(self, store: "LocalStore") -> bool:
        """Return whether the list of a complete index changed since the last call, or since clients saw it."""
        with self._lock:
            state = (store.catalog.id, store.catalog.sequence())
            if self._state == state:
                return False
            if not self.is_compared:
                self._state = state
                differs = self._read_all(store)
                self._shown.clear()
                return differs
            before = self._checksum()
            self._follow(store)
            return self._checksum() != before

    def _read_all(self, store: "LocalStore") -> bool:
        last = max(self._shown, default="")
        known: dict[str, str] = {}
        for document in store.documents():
            self._entries[document.id] = _entry_hash(document)
            if self._is_all_shown or document.path <= last:
                known[document.path] = document.title
        return known != self._shown

    def _follow(self, store: "LocalStore") -> None:
        state = (store.catalog.id, store.catalog.sequence())
        changes = store.changes_since(self._state[1]) if self._state[0] == state[0] else None
        if changes is None:
            self._state = state
            self._entries = {document.id: _entry_hash(document) for document in store.documents()}
            return
        for number in changes.removed:
            self._entries.pop(number, None)
        self._entries |= {
            number: _entry_hash(document) for number, document in store.documents_by_id(changes.added).items()
        }
        self._state = (state[0], changes.sequence)

    def _checksum(self) -> tuple[int, int]:
        return len(self._entries), sum(self._entries.values())


def _entry_hash(document: StoredDocument) -> int:
    return hash((document.path, document.title))
