"""The arguments that name sites on a command line."""

import logging
import re
from collections.abc import Iterable

from dowse.errors import UsageError
from dowse.sites.index_sources import open_index_source
from dowse.sites.served_site import ServedSite

_NAMED = re.compile(r"([a-z][a-z0-9_]*)=(.*)", re.DOTALL)
_log = logging.getLogger(__name__)


def parse_site_argument(text: str) -> tuple[str | None, str]:
    """Split `[NAME=]FILE|URL` into name and location; only text that can name a tool is a name."""
    match = _NAMED.fullmatch(text)
    name, location = match.groups() if match else (None, text)
    if not location:
        raise UsageError(
            f"{text!r} does not name an index. Write [NAME=]FILE, or an address that begins with https:// or s3://."
        )
    return name, location


def load_sites(arguments: Iterable[str]) -> list[tuple[str | None, ServedSite]]:
    """Load the sites that these arguments name; return each with its given name, or None."""
    sites = [(name, ServedSite(open_index_source(location))) for name, location in map(parse_site_argument, arguments)]
    for _, site in sites:
        if count := len(site.current.problems):
            _log.warning(
                "%s: %d problem%s; `dowse site check` lists them", site.source_name, count, "" if count == 1 else "s"
            )
    return sites
