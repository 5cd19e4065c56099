"""Sites as they are named on a command line."""

import logging
import re
from collections.abc import Iterable

from dowse.errors import UsageError
from dowse.sites.index_sources import open_index_source
from dowse.sites.served_site import ServedSite

_NAMED = re.compile(r"([a-z][a-z0-9_]*)=(.*)", re.DOTALL)
_log = logging.getLogger(__name__)


def parse_site_argument(text: str) -> tuple[str | None, str]:
    """What `[NAME=]FILE|URL` says; a name is what could be one of a tool."""
    match = _NAMED.fullmatch(text)
    name, place = match.groups() if match else (None, text)
    if not place:
        raise UsageError(
            f"{text!r} names no index. Write [NAME=]FILE, or an address that begins with https:// or s3://."
        )
    return name, place


def load_sites(places: Iterable[str]) -> list[tuple[str | None, ServedSite]]:
    """The sites at these places, loaded, each with the name that was given, if one was."""
    sites = [(name, ServedSite(open_index_source(place))) for name, place in map(parse_site_argument, places)]
    for _, live in sites:
        if count := len(live.current.problems):
            _log.warning("%s: %d problem%s; `dowse site check` tells", live.source, count, "" if count == 1 else "s")
    return sites
