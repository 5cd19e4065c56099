"""The content of a site's index, and the limits of the format."""

import json
from dataclasses import dataclass
from json.decoder import JSONDecodeError
from typing import Any

from dowse.errors import NotASiteIndex

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


def parse_index(data: bytes | bytearray) -> dict[str, Any]:
    """Return the root object of an index. Raise NotASiteIndex if there is none."""
    try:
        root = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise NotASiteIndex(
            f"It is not UTF-8: the byte at position {error.start:,} is invalid. Save it as UTF-8."
        ) from error
    except JSONDecodeError as error:
        raise NotASiteIndex(
            f"It is not JSON: {error.msg}, line {error.lineno:,} column {error.colno:,}. Generate the file again."
        ) from error
    except (RecursionError, ValueError) as error:  # thousands of brackets, or a number with thousands of digits
        raise NotASiteIndex(
            "It is nested too deeply, or has a number with thousands of digits. Generate the file again."
        ) from error
    if not isinstance(root, dict):
        raise NotASiteIndex("It is JSON, but not an object. An index begins with {.")
    return root
