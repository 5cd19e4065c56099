"""The readers of an index: its segments, whose postings are sorted, and the tail of newer documents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dowse.notes.notes_postings import Flags, Numbers, TokenRun

Ids = npt.NDArray[np.int64]

NO_NUMBERS: Numbers = np.zeros(0, dtype=np.uint32)


class SegmentReader(Protocol):
    """Some documents of an index, numbered from 0."""

    @property
    def ids(self) -> Ids:
        """The id of each document in the index."""
        ...

    @property
    def ranks(self) -> Numbers:
        """The rank of each document in the order of `doc_id`."""
        ...

    @property
    def is_alive(self) -> Flags | None:
        """Which documents still exist; None means all."""
        ...

    @property
    def ends(self) -> Ids:
        """The position after each document's last token."""
        ...

    def postings(self, token: str) -> tuple[Numbers, Numbers]:
        """Return the documents that contain a token, ascending, and its count in each."""
        ...

    def positions(self, token: str) -> Numbers:
        """Return the positions of a token, ascending."""
        ...


@dataclass(frozen=True, slots=True)
class SegmentOutline:
    """The documents of a segment, without its postings. It never changes."""

    number: int
    ids: Ids
    ranks: Numbers
    ends: Ids

    @property
    def tokens(self) -> int:
        """The number of tokens in all documents."""
        return int(self.ends[-1]) - len(self.ends) + 1 if len(self.ends) else 0


ReadPostings = Callable[[int, str], tuple[Numbers, Numbers]]
ReadPositions = Callable[[int, str], Numbers]


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment as one transaction sees it."""

    outline: SegmentOutline
    is_alive: Flags | None
    read_postings: ReadPostings
    read_positions: ReadPositions

    @property
    def ids(self) -> Ids:
        return self.outline.ids

    @property
    def ranks(self) -> Numbers:
        return self.outline.ranks

    @property
    def ends(self) -> Ids:
        return self.outline.ends

    def postings(self, token: str) -> tuple[Numbers, Numbers]:
        return self.read_postings(self.outline.number, token)

    def positions(self, token: str) -> Numbers:
        return self.read_positions(self.outline.number, token)


class Tail:
    """The newest documents as a token run, which is scanned from start to end."""

    is_alive: Flags | None = None

    def __init__(
        self, ids: Sequence[int], doc_ids: Sequence[str], vocabulary: Mapping[str, int], run: TokenRun
    ) -> None:
        self.ids: Ids = np.array(ids, dtype=np.int64)
        self.ranks = rank_ids(doc_ids)
        self.ends = run.ends
        self._vocabulary = vocabulary
        """The tokens of all documents that were ever in the tail; it only grows."""
        self._run = run

    @cached_property
    def _documents(self) -> Numbers:
        return self._run.documents

    def postings(self, token: str) -> tuple[Numbers, Numbers]:
        held = self._documents[self.positions(token)]
        found, counts = np.unique(held, return_counts=True)
        return found, counts.astype(np.uint32)

    def positions(self, token: str) -> Numbers:
        number = self._vocabulary.get(token)
        return NO_NUMBERS if number is None else np.flatnonzero(self._run.flat == number).astype(np.uint32)


def rank_ids(doc_ids: Sequence[str]) -> Numbers:
    """Return the rank of each id in sorted order."""
    ranks = np.zeros(len(doc_ids), dtype=np.uint32)
    ranks[sorted(range(len(doc_ids)), key=doc_ids.__getitem__)] = np.arange(len(doc_ids), dtype=np.uint32)
    return ranks
