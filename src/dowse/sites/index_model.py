"""The content of a site's index, and the limits of the format."""

from dataclasses import dataclass

FORMAT_VERSION = "3.0"
"""The version that dowse writes. It also reads 2.x, with the defaults below."""
MAJOR_VERSIONS = ("2", "3")
MAX_INDEX_BYTES = 256 << 20
"""Maximum size of an index file. The texts and the postings of an index are held in memory."""

DEFAULT_PREFIX = "website"
"""The prefix of a site that states none: its tool is `search_website`."""
PREFIX_PATTERN = "^[a-z][a-z0-9_]*$"
MAX_PREFIX_CHARACTERS = 57
"""64 characters with `search_` before it; clients refuse tools with longer names."""
RESERVED_PREFIXES = frozenset({"docs", "code", "index", "documents", "by_path", "add_document", "create_index"})
"""Prefixes that would give a site's tool the name of another tool of dowse."""


@dataclass(frozen=True, slots=True)
class Site:
    """The site that an index describes; the defaults are those of version 2."""

    name: str = "Website"
    domain: str = "example.com"
    description: str = "Search this website"
    prefix: str = DEFAULT_PREFIX


@dataclass(frozen=True, slots=True)
class Page:
    """One page. Values that the index does not state are empty."""

    url: str
    title: str
    abstract: str = ""
    date: str = ""
    topics: tuple[str, ...] = ()
    body: str = ""


@dataclass(frozen=True, slots=True)
class SiteHeader:
    """The values of an index beside its pages."""

    version: str
    generated: str
    site: Site
