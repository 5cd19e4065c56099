"""What clients believe to be the list of a folder's documents, and whether it is still that."""

import threading
from collections.abc import Iterable

from dowse.indexes.document_search import ListedDocument
from dowse.searching.title_index import FollowableStore
from dowse.types import StoredDocument


class ResourceList:
    """The paths and titles of one folder, as numbers; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = ("", -1)
        self._entries: dict[int, int] = {}
        """Of each document what its path and title come to."""
        self._shown: dict[str, str] = {}
        """Titles that somebody was shown before the index could be compared with them."""
        self._is_all_shown = False

    @property
    def is_compared(self) -> bool:
        """Whether the index was looked at: from then on something watches it."""
        return self._state[1] >= 0

    def show(self, page: Iterable[ListedDocument], *, is_last: bool) -> None:
        """Somebody is shown a page."""
        if not self.is_compared:
            with self._lock:
                self._shown |= {one.path: one.title for one in page}
                self._is_all_shown = self._is_all_shown or is_last

    def is_another(self, store: FollowableStore) -> bool:
        """Whether the index, which is whole, has another list than the last time, or than was shown before that."""
        with self._lock:
            state = (store.identity, store.sequence())
            if self._state == state:
                return False
            if not self.is_compared:
                self._state = state
                is_news = self._read_all(store)
                self._shown.clear()
                return is_news
            before = self._sum()
            self._follow(store)
            return self._sum() != before

    def _read_all(self, store: FollowableStore) -> bool:
        last = max(self._shown, default="")
        known: dict[str, str] = {}
        for document in store.documents():
            self._entries[document.id] = _entry_hash(document)
            if self._is_all_shown or document.path <= last:
                known[document.path] = document.title
        return known != self._shown

    def _follow(self, store: FollowableStore) -> None:
        state = (store.identity, store.sequence())
        changes = store.changes_since(self._state[1]) if self._state[0] == state[0] else None
        if changes is None:
            self._state = state
            self._entries = {document.id: _entry_hash(document) for document in store.documents()}
            return
        for number in changes.removed:
            self._entries.pop(number, None)
        self._entries |= {number: _entry_hash(one) for number, one in store.documents_by_id(changes.added).items()}
        self._state = (state[0], changes.sequence)

    def _sum(self) -> tuple[int, int]:
        return len(self._entries), sum(self._entries.values())


def _entry_hash(document: StoredDocument) -> int:
    return hash((document.path, document.title))
