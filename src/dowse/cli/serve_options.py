"""The options of a server, merged from the command line and a `dowse.toml`, and the server they describe."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import parse_path
from dowse.cli.output import show_warnings
from dowse.errors import UsageError
from dowse.mcp.reply_budget import BUDGET_TOKENS
from dowse.mcp.tools import SURFACES, Level, Surface, searchable_surfaces

if TYPE_CHECKING:
    from dowse.archives.archive_locations import ArchiveLocations
    from dowse.keeping.service import Service
    from dowse.server.composition import ComposedServer
    from dowse.server.manifest import Archives, Manifest


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The sources and tools that a server offers."""

    surfaces: tuple[Surface, ...]
    level: Level = "standard"
    budget: int = BUDGET_TOKENS
    roots: tuple[Path, ...] = ()
    """If empty: the client's roots, or the project around the working directory."""
    sites: tuple[str, ...] = ()
    documents: tuple[Path, ...] = ()
    """Folders of documents in addition to the roots."""
    archives: "Archives | None" = None
    has_projects: bool = True
    """Whether to serve projects, detected ones if no root is named."""
    store: str | None = None
    """The place of a shared index to serve as a project."""


def config_options(command: Any) -> Any:
    """Add `--config` and `--no-config` to a command."""
    no_config = click.option("--no-config", is_flag=True, help="Do not read dowse.toml.")
    config = click.option("--config", metavar="FILE", help="Read FILE as dowse.toml, and trust it.")
    return config(no_config(command))


def load_manifest(config: str | None, *, no_config: bool, has_folders: bool) -> "Manifest | None":
    """Return the named dowse.toml or, if no folder is named either, the one in the working directory."""
    if config is not None and no_config:
        raise UsageError("--config and --no-config exclude each other.")
    if no_config or (config is None and has_folders):
        return None
    from dowse.server.manifest import find_manifest, read_manifest

    return read_manifest(parse_path(config), is_trusted=True) if config is not None else find_manifest(Path.cwd())


def merge_options(arguments: "dict[str, Any]", manifest: "Manifest | None") -> ServeOptions:
    """Return the options. Arguments of the command line override a manifest, key by key."""
    surfaces: tuple[Surface, ...] = arguments.get("only") or (manifest.only if manifest else None) or SURFACES
    if manifest and manifest.indexes is False:
        surfaces = tuple(name for name in _expand_federated(surfaces) if name != "indexes")
    roots = arguments.get("roots") or (manifest.roots if manifest else None) or ()
    return ServeOptions(
        surfaces,
        arguments.get("level") or (manifest.level if manifest else None) or "standard",
        arguments.get("budget") or (manifest.budget if manifest else None) or BUDGET_TOKENS,
        tuple(roots),
        arguments.get("sites") or (manifest.sites if manifest else ()),
        manifest.documents if manifest else (),
        manifest.archives if manifest else None,
        has_projects=bool(roots) or manifest is None or manifest.roots is None,
        store=arguments.get("store"),
    )


def _expand_federated(surfaces: tuple[Surface, ...]) -> tuple[Surface, ...]:
    """Return the surfaces, with the sources listed if only the federated surface is named."""
    return surfaces if surfaces != ("federated",) else (*searchable_surfaces(surfaces), "federated")


def compose_server(options: ServeOptions, *, is_public: bool = False, is_over_http: bool = False) -> "ComposedServer":
    """Return the server that the options describe."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:  # load the sites while the protocol is imported, which takes a second
        loading = pool.submit(_load_sites, options.sites if "site" in searchable_surfaces(options.surfaces) else ())
        from dowse.server.composition import ComposedServer, Offer

        sites = loading.result()
    offer = Offer(options.surfaces, options.level, options.budget, is_public)
    service, library = open_services(options, is_over_http=is_over_http)
    locations = find_archives(options)
    if "archive" in searchable_surfaces(options.surfaces) and not is_public:
        from dowse.archives.archive_locations import find_locations

        show_warnings([*(locations or find_locations()).missing().values()])
    return ComposedServer(service, Path.cwd(), offer, sites, documents_service=library, locations=locations)


def open_services(options: ServeOptions, *, is_over_http: bool = False) -> "tuple[Service | None, Service | None]":
    """Return the service of projects and the service of document folders, each None if there is nothing to serve."""
    if not {"code", "documents"} & set(searchable_surfaces(options.surfaces)):
        return None, None
    from dowse.keeping.service import Service

    if options.store:
        return _serve_copy(options.store)
    library = Service([*options.roots, *options.documents]) if options.documents else None
    if not options.has_projects:
        return None, library
    if options.roots or not is_over_http:
        return Service(list(options.roots)), library
    from dowse.indexes.project_lookup import open_project

    return Service([open_project(None).root]), library  # over HTTP no client names its roots


def _serve_copy(location: str) -> "tuple[Service, None]":
    """Return the service of a shared index, which follows its newer versions."""
    from dowse.keeping.service import Service
    from dowse.keeping.shared_copy import SharedCopy

    copy = SharedCopy(location)
    service = Service([copy.root])
    copy.follow(service)
    return service, None


def find_archives(options: ServeOptions) -> "ArchiveLocations | None":
    """Return where a manifest says the archives are; None means the default locations."""
    if options.archives is None:
        return None
    from dowse.archives.archive_locations import find_locations

    return find_locations(options.archives.research, options.archives.url_content, options.archives.database)


def _load_sites(sites: tuple[str, ...]) -> Any:
    if not sites:
        return None
    from dowse.surfaces.sites.sites_surface import open_sites

    return open_sites(sites)
