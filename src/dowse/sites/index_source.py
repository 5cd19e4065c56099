"""The interface of an index source: a file, a web server or a bucket."""

from dataclasses import dataclass
from typing import Protocol

REMOTE_CHECK_SECONDS = 60.0
"""Seconds between two checks whether a remote index has changed."""


@dataclass(frozen=True, slots=True)
class FetchedIndex:
    """The bytes of an index, and the revision that its source gave them."""

    data: bytearray
    revision: str
    """Opaque to callers: an ETag, a date, or the size and times of a file."""


class IndexSource(Protocol):
    """A place that an index is fetched from."""

    @property
    def name(self) -> str:
        """The name used in messages: without secrets, and without paths of this machine."""
        ...

    @property
    def is_remote(self) -> bool:
        """Whether a fetch goes over the network."""
        ...

    def fetch(self, revision: str | None) -> FetchedIndex | None:
        """Return the index; None if it still has that revision. Raise Failed if it cannot be read."""
        ...

    def has_changed(self, revision: str) -> bool:
        """Return whether a fetch may return another index; only called for sources that are not remote."""
        ...
