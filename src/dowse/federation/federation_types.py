"""What flows between the sources of a federated search and those who ask it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, Protocol

from dowse.searching.query_terms import SearchQuery
from dowse.types import Coverage

SourceKind = Literal["project", "documents", "site", "archive", "index"]
SOURCE_KINDS: tuple[SourceKind, ...] = ("project", "documents", "site", "archive", "index")


@dataclass(frozen=True, slots=True)
class SourceQuery:
    """What is looked for, and how much of it one source is to give."""

    query: SearchQuery
    limit: int
    path: str | None = None
    language: str | None = None
    since: date | None = None
    until: date | None = None

    @property
    def text(self) -> str:
        """The query as it was written."""
        return self.query.text

    @property
    def is_dated(self) -> bool:
        """Whether only some days are meant."""
        return self.since is not None or self.until is not None

    def is_within(self, day: date | None) -> bool:
        """Whether a day is one of those meant; what has no day is on none of them."""
        if not self.is_dated:
            return True
        if day is None:
            return False
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a source found."""

    id: str
    source: str
    title: str
    url: str
    text: str
    """The passage that answers, as it is shown."""
    relevance: float | None
    """What the source itself says, between 0 and 1; None where its scores say nothing beyond their order."""
    names: str = ""
    """What it is called beside its title: its path, the headings and definitions around the passage."""
    keys: frozenset[str] = frozenset()
    """What it is: two items that share a key are one thing under two sources."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """What else is told of it."""


@dataclass(frozen=True, slots=True)
class SourceResult:
    """What one source has to say."""

    items: tuple[Item, ...] = ()
    coverage: Coverage | None = None
    """How much of it is indexed, where that is known."""
    pending: tuple[str, ...] = ()
    corrected: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    ways: Mapping[str, float] = field(default_factory=dict)
    """How it was searched, where not by words alone, and the share of chunks that each way could find."""


@dataclass(frozen=True, slots=True)
class FetchedItem:
    """A thing that was fetched."""

    title: str
    text: str
    url: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """How one source stands, for the status."""

    kind: SourceKind
    name: str
    state: str
    counts: Mapping[str, int] = field(default_factory=dict)
    last_updated: str | None = None
    problem: str | None = None
    encoding: Mapping[str, Any] | None = None
    """How far its vectors are, where it gets any."""

    @property
    def is_indexed_on_demand(self) -> bool:
        """Whether the source has no index yet and its first search makes one, so that nothing is missing."""
        return self.state == "not_found" and self.kind in ("documents", "archive")

    def as_json(self) -> dict[str, Any]:
        """The source as a status shows it."""
        told = {"kind": self.kind, "name": self.name, "state": self.state, **self.counts}
        told |= {"lastUpdated": self.last_updated} if self.last_updated else {}
        told |= {"encoding": dict(self.encoding)} if self.encoding else {}
        return told | ({"problem": self.problem} if self.problem else {})


class SearchSource(Protocol):
    """One source of a federation."""

    @property
    def kind(self) -> SourceKind: ...

    @property
    def name(self) -> str:
        """Unique among all, and the beginning of its ids."""
        ...

    def unsupported_filter(self, query: SourceQuery) -> str:
        """The filter that it cannot apply; empty where it can apply all."""
        ...

    async def search(self, query: SourceQuery) -> SourceResult:
        """The best things it has, best first."""
        ...

    async def fetch(self, locator: str) -> FetchedItem:
        """One thing, whole; NoSuchThing where there is none."""
        ...

    def keys(self, locator: str) -> frozenset[str]:
        """What a thing is, as far as that is known without a look at it."""
        ...

    async def status(self) -> SourceStatus:
        """How it stands."""
        ...
