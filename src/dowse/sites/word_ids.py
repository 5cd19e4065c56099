"""Consecutive ids for words, kept in a hash table in numpy."""

import numpy as np
from numpy.typing import NDArray

from dowse.sites.site_tokens import Hashes

Ids = NDArray[np.int32]

_FREE = -1
_MAX_LOAD = 0.4
"""Maximum load of the table; a fuller one needs more steps to find a word."""


class WordIds:
    """The ids of words, found by their hashes."""

    def __init__(self) -> None:
        self._slots: Ids = np.full(1 << 16, _FREE, np.int32)
        self._known: Hashes = np.zeros(0, np.uint64)

    def __len__(self) -> int:
        return len(self._known)

    def find(self, hashes: Hashes) -> Ids:
        """Return the ids of words; -1 for unknown words."""
        found = np.full(len(hashes), _FREE, np.int32)
        mask = np.uint64(len(self._slots) - 1)
        left = np.arange(len(hashes))
        slots = _mix(hashes) & mask
        while len(left):
            ids = self._slots[slots]
            is_used = ids != _FREE
            left, slots, ids = left[is_used], slots[is_used], ids[is_used]
            is_found = self._known[ids] == hashes[left]
            found[left[is_found]] = ids[is_found]
            left, slots = left[~is_found], (slots[~is_found] + np.uint64(1)) & mask
        return found

    def find_or_add(self, hashes: Hashes) -> tuple[Ids, NDArray[np.int64]]:
        """Return the ids of words, adding unknown ones, and the position of the first occurrence of each new word."""
        found = self.find(hashes)
        unknown = np.flatnonzero(found == _FREE)
        if not len(unknown):
            return found, unknown
        new, first, new_index = np.unique(hashes[unknown], return_index=True, return_inverse=True)
        found[unknown] = (len(self._known) + new_index).astype(np.int32)
        self._add(new)
        return found, unknown[first]

    def _add(self, new: Hashes) -> None:
        first = len(self._known)
        self._known = np.concatenate([self._known, new])
        if len(self._known) > _MAX_LOAD * len(self._slots):
            size = len(self._slots)
            while len(self._known) > _MAX_LOAD / 2 * size:
                size *= 2
            self._slots = np.full(size, _FREE, np.int32)
            first = 0
        self._insert(np.arange(first, len(self._known), dtype=np.int32))

    def _insert(self, ids: Ids) -> None:
        mask = np.uint64(len(self._slots) - 1)
        slots = _mix(self._known[ids]) & mask
        while len(ids):
            is_free = self._slots[slots] == _FREE
            self._slots[slots[is_free]] = ids[is_free]  # the last of several ids for one slot gets it
            is_placed = self._slots[slots] == ids
            ids, slots = ids[~is_placed], (slots[~is_placed] + np.uint64(1)) & mask


def _mix(hashes: Hashes) -> Hashes:
    """Return hashes whose low bits depend on all bits."""
    return (hashes ^ (hashes >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93) >> np.uint64(24)
