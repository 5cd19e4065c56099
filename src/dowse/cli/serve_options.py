"""What a command line and a `dowse.toml` together want to be served."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import named_path
from dowse.errors import UsageError
from dowse.mcp.tools import BUDGET_TOKENS, SURFACES, Level, Surface, sources_of

if TYPE_CHECKING:
    from dowse.archives.archive_locations import ArchiveLocations
    from dowse.keeping.service import Service
    from dowse.server.composition import ComposedServer
    from dowse.server.manifest import Archives, Manifest


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What is to be served."""

    surfaces: tuple[Surface, ...]
    level: Level = "standard"
    budget: int = BUDGET_TOKENS
    roots: tuple[Path, ...] = ()
    """Without any, the client's or the one around the working directory."""
    sites: tuple[str, ...] = ()
    documents: tuple[Path, ...] = ()
    """Folders of documents beside the roots."""
    archives: "Archives | None" = None
    has_projects: bool = True
    """Whether roots that nobody named are looked for."""


def config_options(command: Any) -> Any:
    """Add `--config` and `--no-config` to a command."""
    ignoring = click.option("--no-config", is_flag=True, help="Do not read dowse.toml.")
    naming = click.option("--config", metavar="FILE", help="Read this dowse.toml, and trust it.")
    return naming(ignoring(command))


def manifest_of(config: str | None, *, no_config: bool, has_folders: bool) -> "Manifest | None":
    """The dowse.toml that is named; else, where no folder is, the one in the working directory."""
    if config is not None and no_config:
        raise UsageError("--config and --no-config exclude each other.")
    if no_config or (config is None and has_folders):
        return None
    from dowse.server.manifest import find_manifest, read_manifest

    return read_manifest(named_path(config), is_trusted=True) if config is not None else find_manifest(Path.cwd())


def wish_of(given: "dict[str, Any]", manifest: "Manifest | None") -> ServeOptions:
    """What was given on the command line, and of a manifest what was not given; key by key."""
    surfaces: tuple[Surface, ...] = given.get("only") or (manifest.only if manifest else None) or SURFACES
    if manifest and manifest.indexes is False:
        surfaces = tuple(name for name in _all_named(surfaces) if name != "indexes")
    roots = given.get("roots") or (manifest.roots if manifest else None) or ()
    return ServeOptions(
        surfaces,
        given.get("level") or (manifest.level if manifest else None) or "standard",
        given.get("budget") or (manifest.budget if manifest else None) or BUDGET_TOKENS,
        tuple(roots),
        given.get("sites") or (manifest.sites if manifest else ()),
        manifest.documents if manifest else (),
        manifest.archives if manifest else None,
        has_projects=bool(roots) or manifest is None or manifest.roots is None,
    )


def _all_named(surfaces: tuple[Surface, ...]) -> tuple[Surface, ...]:
    """Surfaces with what the federated one alone is over spelled out."""
    return surfaces if surfaces != ("federated",) else (*sources_of(surfaces), "federated")


def composed(wish: ServeOptions, *, is_public: bool = False, is_over_http: bool = False) -> "ComposedServer":
    """The server of a wish."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:  # the protocol takes a second to import, in which sites can be loaded
        loading = pool.submit(_loaded, wish.sites if "site" in sources_of(wish.surfaces) else ())
        from dowse.server.composition import ComposedServer, Offer

        sites = loading.result()
    offer = Offer(wish.surfaces, wish.level, wish.budget, is_public)
    service, library = services_of(wish, is_over_http=is_over_http)
    return ComposedServer(service, Path.cwd(), offer, sites, library=library, places=places_of(wish))


def services_of(wish: ServeOptions, *, is_over_http: bool = False) -> "tuple[Service | None, Service | None]":
    """The projects that are served, if any are, and where other folders have documents, the folders of documents."""
    if not {"code", "documents"} & set(sources_of(wish.surfaces)):
        return None, None
    from dowse.keeping.service import Service

    library = Service([*wish.roots, *wish.documents]) if wish.documents else None
    if not wish.has_projects:
        return None, library
    if wish.roots or not is_over_http:
        return Service(list(wish.roots)), library
    from dowse.indexes.project_lookup import open_project

    return Service([open_project(None).root]), library  # over HTTP there is nobody to say which


def places_of(wish: ServeOptions) -> "ArchiveLocations | None":
    """Where archives are, where that is said; else they are looked for."""
    if wish.archives is None:
        return None
    from dowse.archives.archive_locations import find_places

    return find_places(wish.archives.research, wish.archives.url_content, wish.archives.database)


def _loaded(sites: tuple[str, ...]) -> Any:
    if not sites:
        return None
    from dowse.surfaces.sites.sites_surface import open_sites

    return open_sites(sites)
