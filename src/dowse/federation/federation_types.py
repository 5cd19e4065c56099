"""The types that a federated search shares with its sources, and the ids of results.

An id is the name of a source and the locator of an item in it, percent-encoded: names, paths and addresses alone, so that
it means the same after a restart and in a new index.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from types import MappingProxyType
from typing import Any, Literal, Protocol
from urllib.parse import quote, unquote

from dowse.searching.path_kinds import path_filter
from dowse.searching.query_terms import SearchQuery
from dowse.surfaces.project.path_search import relative_pattern
from dowse.types import Coverage, Kind, View

MAX_ID_CHARACTERS = 8_192
"""A path has at most 4,096 bytes, and most ids are shorter than a line."""
AS_DOCUMENT = "?as=document"
"""Ends the id of a file whose text as a reader gets it differs from the file, as that of a page does."""


def source_name(kind: str, name: str) -> str:
    """Return the name of a source: ids begin with it, and replies show it."""
    return f"{kind}/{quote(name, safe='', errors='surrogateescape')}"


def id_of(source: str, locator: str) -> str:
    """Return the id of an item in a source."""
    return f"{source}/{quote(locator, safe='/', errors='surrogateescape')}"


def locator_in(source: str, item_id: str) -> str | None:
    """Return the locator that an id has within a source; None if the id belongs to another source."""
    prefix = f"{source}/"
    if not item_id.startswith(prefix):
        return None
    return unquote(item_id.removeprefix(prefix), errors="surrogateescape")


SourceKind = Literal["project", "documents", "site", "archive", "index", "dependencies"]
SOURCE_KINDS: tuple[SourceKind, ...] = ("project", "documents", "site", "archive", "index", "dependencies")
ROOT_KINDS: tuple[SourceKind, ...] = ("project", "documents")
"""The kinds of a root: a project, which has documents as well, or documents alone."""


@dataclass(frozen=True, slots=True)
class SourceQuery:
    """A query to one source, with its filters and the number of results."""

    query: SearchQuery
    limit: int
    path: str | None = None
    language: str | None = None
    since: date | None = None
    until: date | None = None
    kind: Kind | None = None
    views: View = View.BOTH
    """The views in which the files of roots are searched."""
    lists_matches: bool = False
    """Whether the paths of all files that match are listed, to be counted."""
    asks_model: bool = True
    """Whether the model may be asked to score texts, which takes a moment."""

    def with_typed_filters(self) -> "SourceQuery":
        """Return the query with the language and the kind that are typed into it, if none are given beside it."""
        typed = self.query.filters
        return replace(self, language=self.language or typed.language, kind=self.kind or typed.kind)

    @property
    def filters_paths(self) -> bool:
        """Whether the path of an item says whether it is searched."""
        return bool(self.path or self.query.filters.paths or self.query.filters.excluded_paths)

    def path_filter(self) -> Callable[[str], bool]:
        """Return a function that says whether the items of a path are searched."""
        typed = self.query.filters
        path = relative_pattern(self.path.lstrip("/")) if self.path else None
        return path_filter([[path] if path else [], typed.paths], typed.excluded_paths, "ranked")

    @property
    def text(self) -> str:
        """The query as it was written."""
        return self.query.text

    @property
    def is_dated(self) -> bool:
        """Whether the query is limited to a range of days."""
        return self.since is not None or self.until is not None

    def is_within(self, day: object) -> bool:
        """Return whether a day, such as 2025-01-31, is in the range; an item without a day is in no range."""
        first, last = self.since or date.min, self.until or date.max
        return not self.is_dated or (isinstance(day, str) and first.isoformat() <= day[:10] <= last.isoformat())


@dataclass(frozen=True, slots=True)
class Item:
    """One result of a source."""

    id: str
    source: str
    title: str
    url: str
    text: str
    """The passage that answers, as it is shown."""
    relevance: float | None
    """The score of the source, between 0 and 1; None if only the order of its scores has a meaning."""
    names: str = ""
    """Its names beside the title: the path, and the headings and definitions around the passage."""
    keys: frozenset[str] = frozenset()
    """Identity keys: two items that share a key are the same thing in two sources."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the result."""
    data: bytes = field(default=b"", repr=False)
    """The text of its file, as the search has verified it."""
    add_passage: Callable[[], "Item"] | None = None
    """Returns the item with its passage, for a source that is ranked without one; called for the results shown."""
    around: tuple[str, ...] = ()
    """The headings or definitions around the passage, outermost first."""


@dataclass(frozen=True, slots=True)
class SourceResult:
    """The answer of one source."""

    rankings: Sequence[Sequence[Item]] = ()
    """Its items, best first: a root ranks its files and its documents apart."""
    coverage: Coverage | None = None
    """How much of the source is indexed, if known."""
    pending: tuple[str, ...] = ()
    corrected: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    search_methods: Mapping[str, float] = field(default_factory=dict)
    """The search methods, if not words alone, and the share of chunks that each could find."""
    matched: tuple[str, ...] = ()
    """The paths of all files that match, if they are listed."""
    error: Exception | None = None
    """Why a part of the source did not answer."""

    @property
    def items(self) -> list[Item]:
        """The items of all rankings."""
        return [item for ranking in self.rankings for item in ranking]


@dataclass(frozen=True, slots=True)
class FetchedItem:
    """An item that was fetched whole."""

    title: str
    text: str
    url: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ListedItem:
    """An item of a source as a list of all items shows it."""

    path: str
    """Where a list sorts it in: names with slashes between them."""
    locator: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """The status of one source."""

    kind: SourceKind
    name: str
    state: str
    counts: Mapping[str, int] = field(default_factory=dict)
    last_updated: str | None = None
    problem: str | None = None
    encoding: Mapping[str, Any] | None = None
    """Progress of its encoding, if it has vectors."""
    growth: Coverage | None = None
    """How far its index is, while it does not have all files yet."""

    @property
    def is_indexed_on_demand(self) -> bool:
        """Whether the source has no index yet because its first search creates it."""
        return self.state == "not_found" and self.kind in ("documents", "archive")

    @property
    def total(self) -> int:
        """How much it has: files, documents, pages or packages; the documents of a project are among its files."""
        return next((count for name, count in self.counts.items() if name not in ("chunks", "projects")), 0)

    def as_json(self) -> dict[str, Any]:
        """Return the status as replies show it."""
        optional = {"lastUpdated": self.last_updated, "encoding": self.encoding, "problem": self.problem}
        fields = {"kind": self.kind, "name": self.name, "state": self.state, **self.counts}
        return fields | {name: value for name, value in optional.items() if value}


FilterName = Literal["code", "language", "path", "days"]


class SearchSource(Protocol):
    """One source of a federated search."""

    kind: SourceKind
    name: str
    """The name, unique among all sources; the ids of its items begin with it."""

    @property
    def kinds(self) -> tuple[SourceKind, ...]:
        """The kinds as which it can be asked for: a project is asked as `documents` as well."""
        return (self.kind,)

    lacks: Mapping[FilterName, str] = MappingProxyType({})
    """The filters that it cannot apply, each with the reason."""

    def unsupported_filter(self, query: SourceQuery) -> str:
        """Return why it cannot apply a filter of the query; empty if it can apply all."""
        given: dict[FilterName, bool] = {
            "code": query.kind == "code",
            "language": bool(query.language),
            "path": query.filters_paths,
            "days": query.is_dated,
        }
        return next((why for name, why in self.lacks.items() if given[name]), "")

    async def find_items(self, query: SourceQuery) -> SourceResult:
        """Return the best items, best first."""
        ...

    async def fetch(self, locator: str) -> FetchedItem:
        """Return one item whole; raise ItemNotFound if there is none."""
        ...

    async def list_items(self) -> list[ListedItem]:
        """Return all items."""
        ...

    async def texts(self) -> Iterable[tuple[str, str]]:
        """Return the locators and the texts of all items, to be read off the event loop; none where an index finds texts."""
        return ()

    async def prepare(self, query: SourceQuery) -> None:
        """Load what a search needs, by a search whose result is not used, and keep the index fresh from now on.

        Without an index, do nothing.
        """
        await self.find_items(query)

    async def status(self) -> SourceStatus:
        """Return the status of the source."""
        ...
