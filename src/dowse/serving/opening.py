"""The surface of the sites that a command line names."""

from collections.abc import Iterable

from dowse.serving.surfaces.sites import SitesSurface
from dowse.sites.opening import open_places


def open_sites(places: Iterable[str]) -> SitesSurface:
    """The surface of the sites at these places, loaded."""
    return SitesSurface(open_places(places))
