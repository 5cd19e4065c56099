"""The options of a server, and the server that they describe."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.cli.output import show_warnings
from dowse.mcp.reply_budget import BUDGET_TOKENS
from dowse.mcp.tools import SURFACES, Level, Surface, searchable_surfaces

if TYPE_CHECKING:
    from dowse.keeping.service import Service
    from dowse.server.composition import ComposedServer


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The sources and tools that a server offers."""

    surfaces: tuple[Surface, ...] = SURFACES
    level: Level = "standard"
    budget: int = BUDGET_TOKENS
    roots: tuple[Path, ...] = ()
    """If empty: the client's roots, or the project around the working directory."""
    sites: tuple[str, ...] = ()
    store: str | None = None
    """The place of a shared index to serve as a project."""


def compose_server(options: ServeOptions, *, is_public: bool = False, is_over_http: bool = False) -> "ComposedServer":
    """Return the server that the options describe."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:  # load the sites while the protocol is imported, which takes a second
        loading = pool.submit(_load_sites, options.sites if "site" in searchable_surfaces(options.surfaces) else ())
        from dowse.server.composition import ComposedServer, Offer

        sites = loading.result()
    offer = Offer(options.surfaces, options.level, options.budget, is_public)
    service = _open_service(options, is_over_http=is_over_http)
    if "archive" in searchable_surfaces(options.surfaces) and not is_public:
        from dowse.archives.archive_locations import find_locations

        show_warnings([*find_locations().missing().values()])
    return ComposedServer(service, Path.cwd(), offer, sites)


def _open_service(options: ServeOptions, *, is_over_http: bool) -> "Service | None":
    """Return the service of the folders; None if neither code nor documents are served."""
    if not {"code", "documents"} & set(searchable_surfaces(options.surfaces)):
        return None
    from dowse.keeping.service import Service

    if options.store:
        return _serve_copy(options.store)
    if options.roots or not is_over_http:
        return Service(list(options.roots))
    from dowse.indexes.project_lookup import open_project

    return Service([open_project(None).root])  # over HTTP no client names its roots


def _serve_copy(location: str) -> "Service":
    """Return the service of a shared index, which follows its newer versions."""
    from dowse.keeping.service import Service
    from dowse.keeping.shared_copy import SharedCopy

    copy = SharedCopy(location)
    service = Service([copy.root])
    copy.follow(service)
    return service


def _load_sites(sites: tuple[str, ...]) -> Any:
    if not sites:
        return None
    from dowse.surfaces.sites.sites_surface import open_sites

    return open_sites(sites)
