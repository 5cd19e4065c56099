"""What a site's index holds, and the limits of the format."""

from dataclasses import dataclass

FORMAT_VERSION = "3.0"
"""What we write; 2.x is read as well, with the defaults below."""
MAJOR_VERSIONS = ("2", "3")
MAX_INDEX_BYTES = 256 << 20
"""No index file is larger: it is held in memory, with what finds words in it, whole."""

DEFAULT_PREFIX = "website"
"""The tool of a site that names no prefix is `search_website`."""
PREFIX_PATTERN = "^[a-z][a-z0-9_]*$"
MAX_PREFIX_CHARACTERS = 57
"""With `search_` before it 64 characters; clients refuse tools with longer names."""
RESERVED_PREFIXES = frozenset({"docs", "code", "index", "documents", "by_path", "add_document", "create_index"})
"""Tools called `search_` and these are others' in the same product."""


@dataclass(frozen=True, slots=True)
class Site:
    """What an index says of its site; these are the defaults of version 2."""

    name: str = "Website"
    domain: str = "example.com"
    description: str = "Search this website"
    prefix: str = DEFAULT_PREFIX


@dataclass(frozen=True, slots=True)
class Page:
    """One page, with text for all that it has and empty text for what it has not."""

    url: str
    title: str
    abstract: str = ""
    date: str = ""
    topics: tuple[str, ...] = ()
    body: str = ""


@dataclass(frozen=True, slots=True)
class SiteHeader:
    """What an index says of itself, beside its pages."""

    version: str
    generated: str
    site: Site
