"""The interface of a place that an index is fetched from."""

from dataclasses import dataclass
from typing import Protocol

REMOTE_CHECK_SECONDS = 60.0
"""How long an index that was fetched from elsewhere is used before its source is asked whether it changed."""


@dataclass(frozen=True, slots=True)
class FetchedIndex:
    """The bytes of an index, and the mark by which its keeper knows this state of it."""

    data: bytearray
    mark: str


class IndexSource(Protocol):
    """Keeps an index."""

    @property
    def name(self) -> str:
        """How messages name it, without anything that is secret or only true on this machine."""
        ...

    @property
    def is_remote(self) -> bool:
        """Whether asking it takes time."""
        ...

    def fetch(self, mark: str | None) -> FetchedIndex | None:
        """The index; None where it is still as it was at that mark. Failed says why it cannot be had."""
        ...

    def has_changed(self, mark: str) -> bool:
        """Whether it is worth fetching; only asked of what is not remote."""
        ...
