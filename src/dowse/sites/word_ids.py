"""Numbers for words, given in the order they are met: a hash table whose every step is numpy's."""

import numpy as np
from numpy.typing import NDArray

from dowse.sites.site_tokens import Hashes

Ids = NDArray[np.int32]

_FREE = -1
_MAX_LOAD = 0.4
"""Of the table; fuller ones need more steps to find a word."""


class WordIds:
    """Which number a word has, by its hash."""

    def __init__(self) -> None:
        self._slots: Ids = np.full(1 << 16, _FREE, np.int32)
        self._known: Hashes = np.zeros(0, np.uint64)

    def __len__(self) -> int:
        return len(self._known)

    def find(self, hashes: Hashes) -> Ids:
        """The numbers of words; -1 for those that are not known."""
        found = np.full(len(hashes), _FREE, np.int32)
        mask = np.uint64(len(self._slots) - 1)
        left = np.arange(len(hashes))
        places = _mix(hashes) & mask
        while len(left):
            numbers = self._slots[places]
            is_met = numbers != _FREE
            left, places, numbers = left[is_met], places[is_met], numbers[is_met]
            is_right = self._known[numbers] == hashes[left]
            found[left[is_right]] = numbers[is_right]
            left, places = left[~is_right], (places[~is_right] + np.uint64(1)) & mask
        return found

    def number(self, hashes: Hashes) -> tuple[Ids, NDArray[np.int64]]:
        """The numbers of words, new ones for those not known; and where each new one is met first."""
        found = self.find(hashes)
        unknown = np.flatnonzero(found == _FREE)
        if not len(unknown):
            return found, unknown
        new, first, which = np.unique(hashes[unknown], return_index=True, return_inverse=True)
        found[unknown] = (len(self._known) + which).astype(np.int32)
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
        self._place(np.arange(first, len(self._known), dtype=np.int32))

    def _place(self, numbers: Ids) -> None:
        mask = np.uint64(len(self._slots) - 1)
        places = _mix(self._known[numbers]) & mask
        while len(numbers):
            is_free = self._slots[places] == _FREE
            self._slots[places[is_free]] = numbers[is_free]  # of several that want one place the last gets it
            is_placed = self._slots[places] == numbers
            numbers, places = numbers[~is_placed], (places[~is_placed] + np.uint64(1)) & mask


def _mix(hashes: Hashes) -> Hashes:
    """A hash whose low bits depend on all of it."""
    return (hashes ^ (hashes >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93) >> np.uint64(24)
