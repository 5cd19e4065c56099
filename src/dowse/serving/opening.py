"""Sites as they are named on a command line."""

import logging
import re

from dowse.errors import UsageError
from dowse.serving.surfaces.sites import SitesSurface
from dowse.sites.fetching import keeper_of
from dowse.sites.live import LiveSite

_NAMED = re.compile(r"([a-z][a-z0-9_]*)=(.*)", re.DOTALL)
_log = logging.getLogger(__name__)


def named_place(text: str) -> tuple[str | None, str]:
    """What `[NAME=]FILE|URL` says; a name is what could be one of a tool."""
    match = _NAMED.fullmatch(text)
    name, place = match.groups() if match else (None, text)
    if not place:
        raise UsageError(
            f"{text!r} names no index. Write [NAME=]FILE, or an address that begins with https:// or s3://."
        )
    return name, place


def open_sites(places: tuple[str, ...] | list[str]) -> SitesSurface:
    """The surface of the sites at these places, loaded."""
    sites = [(name, LiveSite(keeper_of(place))) for name, place in map(named_place, places)]
    for _, live in sites:
        if live.current.problems:
            _log.warning("%s: %d problems; `dowse site check` lists them", live.source, len(live.current.problems))
    return SitesSurface(sites)
