"""`dowse serve`: an MCP server for an assistant, on stdin and stdout or over HTTP; `dowse open`: the page for people, in a browser."""

import contextlib
import gc
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from dowse.cli.common_arguments import json_option, parse_root
from dowse.cli.http_options import http_options, serve_over_http
from dowse.cli.output import format_json, say, show, show_text, show_warnings
from dowse.errors import DowseError, UsageError
from dowse.mcp.replies import BUDGET_TOKENS
from dowse.mcp.tools import SURFACES, Level, Surface, searchable_surfaces

if TYPE_CHECKING:
    from dowse.cli.composition import ComposedServer
    from dowse.indexes.index import ProjectIndex
    from dowse.keeping.served_index import Service
    from dowse.surfaces.organisation.place_surface import PlaceSurface

PLACE_SURFACES: tuple[Surface, ...] = ("code", "site", "federated")
"""What is offered beside a place: nothing that writes, and nothing of this machine."""


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
    """The place to serve instead of folders."""
    projects: tuple[str, ...] = ()
    """The projects of the place that are served; all if there are none."""


def compose_server(
    options: ServeOptions, *, is_public: bool = False, is_over_http: bool = False, is_prepared: bool = True
) -> "ComposedServer":
    """Return the server that the options describe. If it is to be prepared, its first searches find their indexes loaded."""
    gc.disable()  # looking for garbage among what is imported takes 80 ms, and frees 0.5 MB
    try:
        return _compose(options, is_public=is_public, is_over_http=is_over_http, is_prepared=is_prepared)
    finally:
        gc.freeze()
        gc.enable()


def _compose(options: ServeOptions, *, is_public: bool, is_over_http: bool, is_prepared: bool) -> "ComposedServer":
    from concurrent.futures import ThreadPoolExecutor

    from dowse.mcp.sdk_import import leave_out_unused_modules

    leave_out_unused_modules()
    place = _open_place(options)
    service = None if place else _open_service(options, is_over_http=is_over_http)
    with ThreadPoolExecutor(1) as pool:  # load indexes and sites while the protocol is imported, which takes a second
        if service and is_prepared:
            _prepare(service, options, is_public=is_public)
        loading = pool.submit(_load_sites, options.sites if "site" in searchable_surfaces(options.surfaces) else ())
        from dowse.cli.composition import ComposedServer, Offer

        sites = loading.result()
    offer = Offer(options.surfaces, options.level, options.budget, is_public)
    if "archive" in searchable_surfaces(options.surfaces) and not is_public:
        from dowse.archives.archive_locations import find_locations

        show_warnings([*find_locations().missing().values()])
    return ComposedServer(service, Path.cwd(), offer, sites, place=place)


def _open_service(options: ServeOptions, *, is_over_http: bool) -> "Service | None":
    """Return the service of the folders; None if neither code nor documents are served."""
    if not {"code", "documents"} & set(searchable_surfaces(options.surfaces)):
        return None
    from dowse.keeping.served_index import Service

    if options.roots or not is_over_http:
        return Service(list(options.roots))
    from dowse.indexes.project_lookup import open_project

    return Service([open_project(None).root])  # over HTTP no client names its roots


def _prepare(service: "Service", options: ServeOptions, *, is_public: bool) -> None:
    """Begin to load what the first searches need, in the order in which they ask for it."""
    from dowse.memory_plan import is_memory_small
    from dowse.types import View

    if is_memory_small():
        return
    if not service.projects:
        _expect_project(service)
    views = {"documents": View.DOCUMENTS} if is_public else {"code": View.PROJECT, "documents": View.DOCUMENTS}
    asked = [view for name, view in views.items() if name in searchable_surfaces(options.surfaces)]
    if options.level == "assistant":  # which searches files in one way
        service.prepare(tuple(asked[:1]), _search_definitions)
    else:
        service.prepare(tuple(asked), _search_files)


def _expect_project(service: "Service") -> None:
    """Let the project around the working directory be loaded, which most clients mean that name none."""
    from dowse.indexes.project_lookup import open_project

    with contextlib.suppress(DowseError):
        found = open_project(None)
        if not found.warnings:  # it has a marker
            service.expect(found.root)


def _search_definitions(index: "ProjectIndex") -> None:
    from dowse.federation.answers.definition_search import search_first_definitions

    search_first_definitions(index)
    import_module("dowse.notes.registry")  # every server has named indexes


def _search_files(index: "ProjectIndex") -> None:
    from dowse.indexes.first_search import search_first

    search_first(index)
    import_module("dowse.notes.registry")


def _open_place(options: ServeOptions) -> "PlaceSurface | None":
    """Return the surface of a place."""
    if not options.store:
        return None
    from dowse.keeping.encoding_worker.model_pool import ModelPool
    from dowse.places.place_table import SharedPlace
    from dowse.surfaces.organisation.place_surface import PlaceSurface

    return PlaceSurface(SharedPlace(options.store), options.projects, ModelPool())


def _load_sites(sites: tuple[str, ...]) -> Any:
    if not sites:
        return None
    from dowse.surfaces.sites.sites_surface import open_sites

    return open_sites(sites)


budget_option = click.option(
    "--budget", metavar="TOKENS", type=click.IntRange(1000), default=BUDGET_TOKENS, show_default=True,
    help="Maximum length of a reply; a token is four characters.",
)  # fmt: skip
tools_option = click.option(
    "--tools", "level", type=click.Choice(get_args(Level)), default="standard", show_default=True,
    help="minimal: search, fetch and get_index_status; assistant: search, read, find and uses, which answer in plain text; "
    "standard: the usual tools; full: all tools.",
)  # fmt: skip


def _site_option(verb: str) -> Callable[[Any], Any]:
    about = f"Also {verb} the site with this search index. May be repeated."
    return click.option("--site", "sites", metavar="[NAME=]FILE|URL", multiple=True, help=about)


@click.command()
@click.argument("folders", metavar="[DIR|ADDRESS]...", nargs=-1)
@click.option("--only", metavar="NAMES", help=f"Offer only these, separated by commas: {', '.join(SURFACES)}.")
@_site_option("serve")
@click.option("--store", metavar="PLACE", help="Serve the projects that are published in this folder or address.")
@click.option(
    "--project", "projects", metavar="NAME", multiple=True, help="Of --store, serve this project. May be repeated."
)
@tools_option
@budget_option
@http_options
def serve(folders: tuple[str, ...], **how: Any) -> int:
    """Serve DIR to an assistant over the Model Context Protocol (MCP).

    The server uses stdin and stdout, or HTTP with --http. An assistant usually starts it; see
    docs/clients.md.

    Without DIR, the server serves the folders that the client names, or the project around the
    working directory. Over HTTP, it serves that project. With several folders, paths begin with
    the name of their folder. ADDRESS is that of a git repository, as in dowse search; the newest
    commit is fetched when the server starts. See docs/http.md for HTTP.
    """
    roots = tuple(map(parse_root, folders))
    level, budget, only, sites, store = (how.pop(name) for name in ("level", "budget", "only", "sites", "store"))
    projects = how.pop("projects")
    if store and roots:
        raise UsageError("--store serves what is published there in place of DIR. Leave out one of them.")
    if projects and not store:
        raise UsageError("--project needs --store: it names projects of a place.")
    surfaces = _parse_only(only)
    if store:
        surfaces = tuple(name for name in surfaces if name in PLACE_SURFACES)
        if "code" not in searchable_surfaces(surfaces):
            raise UsageError(f"--store serves {', '.join(PLACE_SURFACES)}. Name code in --only, or leave it out.")
    return run_server(ServeOptions(surfaces, level, budget, roots, sites, store, projects), how)


def run_server(options: ServeOptions, web: dict[str, Any]) -> int:
    """Serve until the client disconnects or a signal arrives."""
    if web["address"]:
        return serve_over_http(lambda is_public: compose_server(options, is_public=is_public, is_over_http=True), **web)
    from dowse.mcp.stdio import serve_stdio, take_stdio

    wire = take_stdio()  # before importing anything that may print
    serve_stdio(wire, compose_server(options).server())
    return 0


def _parse_only(only: str | None) -> tuple[Surface, ...]:
    if only is None:
        return SURFACES
    names = {name.strip() for name in only.split(",") if name.strip()}
    if not names or names - set(SURFACES):
        raise UsageError(f"--only {only}: it takes one or more of {', '.join(SURFACES)}, separated by commas.")
    return tuple(name for name in SURFACES if name in names)


@click.command("open")
@click.argument("folders", metavar="[DIR|ADDRESS]...", nargs=-1)
@_site_option("show")
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@json_option
def open_page(folders: tuple[str, ...], sites: tuple[str, ...], *, no_browser: bool, as_json: bool) -> int:
    """Search and read DIR in a browser.

    The page shows what dowse serve would serve: projects, documents, sites, archives and named
    indexes. It is on a free port of this machine, and only those who have its address may see it.
    A project without an index is indexed. Ctrl-C ends it. See docs/page.md.
    """
    roots = tuple(map(parse_root, folders))
    options = ServeOptions(level="minimal", roots=roots, sites=sites)

    def open_browser(address: str) -> None:
        if as_json:
            show_text(format_json({"url": address}))
        elif no_browser or not _start_browser(address):
            show(address)
            say("dowse: open this address in a browser; it works until Ctrl-C.")

    return serve_over_http(
        lambda is_public: compose_server(options, is_public=is_public, is_over_http=True),
        address="127.0.0.1:0", allow_remote=False, token_file=None, public=False, allow_changes=False, origins=(),
        hosts=(), rate=None, log_queries=False, open_browser=open_browser,
    )  # fmt: skip


def _start_browser(address: str) -> bool:
    """Open a browser with windows; return False if there is none, since one in the terminal would run no script."""
    import webbrowser  # servers of assistants open none

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    if type(browser) is webbrowser.GenericBrowser:
        return False
    return browser.open(address)
