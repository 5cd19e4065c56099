"""`dowse serve`: an MCP server for an assistant, on stdin and stdout or over HTTP; `dowse open`: the page for people, in a browser."""

import contextlib
import gc
import logging
import math
import secrets
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import FILE_TEXT, FOLDER_TEXT, json_option, parse_root, prints_json
from dowse.cli.output import format_json, say, show, show_warnings
from dowse.cli.server_options import HttpOptions, Offer, budget_option, http_options, tools_option
from dowse.errors import DowseError, Failed, UsageError
from dowse.mcp.tools import SURFACES, Level, Surface

if TYPE_CHECKING:
    from dowse.cli.composition import ComposedServer
    from dowse.indexes.index import ProjectIndex
    from dowse.keeping.served_index import Service
    from dowse.surfaces.organisation.place_surface import PlaceSurface

PLACE_SURFACES: tuple[Surface, ...] = ("code", "site", "federated")
"""What is offered beside a place: nothing that writes, and nothing of this machine."""


def compose_server(offer: Offer, *, is_over_http: bool = False, is_prepared: bool = True) -> "ComposedServer":
    """Return the server of an offer. If it is to be prepared, its first searches find their indexes loaded."""
    from concurrent.futures import ThreadPoolExecutor

    from dowse.mcp.sdk_import import leave_out_unused_modules

    gc.disable()  # looking for garbage among what is imported takes 80 ms, and frees 0.5 MB
    try:
        leave_out_unused_modules()
        place = _open_place(offer)
        service = None if place else _open_service(offer, is_over_http=is_over_http)
        with ThreadPoolExecutor(1) as pool:  # load indexes and sites while the protocol is imported: it takes a second
            if service and is_prepared:
                _prepare(service, offer)
            loading = pool.submit(_load_sites, offer.sites if "site" in offer.sources else ())
            from dowse.cli.composition import ComposedServer

            sites = loading.result()
        if "archive" in offer.sources:
            from dowse.archives.archive_locations import find_locations

            show_warnings([*find_locations().missing().values()])
        return ComposedServer(service, Path.cwd(), offer, sites, place=place)
    finally:
        gc.freeze()
        gc.enable()


def _open_service(offer: Offer, *, is_over_http: bool) -> "Service | None":
    """Return the service of the folders; None if neither code nor documents are served."""
    if not {"code", "documents"} & set(offer.sources):
        return None
    from dowse.keeping.served_index import Service

    if offer.roots or not is_over_http:
        return Service(list(offer.roots))
    from dowse.indexes.project_lookup import open_project

    return Service([open_project(None).root])  # over HTTP no client names its roots


def _prepare(service: "Service", offer: Offer) -> None:
    """Begin to load what the first searches need, in the order in which they ask for it."""
    from dowse.memory_plan import is_memory_small
    from dowse.types import View

    if is_memory_small():
        return
    if not service.projects:
        _expect_project(service)
    views = {"code": View.PROJECT, "documents": View.DOCUMENTS}
    asked = tuple(view for name, view in views.items() if name in offer.sources)
    # An assistant's tools search files in one way.
    service.prepare(asked[:1] if offer.level == "assistant" else asked, partial(_search_first, offer.level))


def _expect_project(service: "Service") -> None:
    """Let the project around the working directory be loaded, which most clients mean that name none."""
    from dowse.indexes.project_lookup import open_project

    with contextlib.suppress(DowseError):
        found = open_project(None)
        if not found.warnings:  # it has a marker
            service.expect(found.root)


def _search_first(level: Level, index: "ProjectIndex") -> None:
    """Search an index as the first call does, so that all that it needs is loaded."""
    if level == "assistant":
        from dowse.federation.answers.definition_search import search_first_definitions

        search_first_definitions(index)
    else:
        from dowse.indexes.first_search import search_first

        search_first(index)
    import_module("dowse.notes.registry")  # every server has named indexes


def _open_place(offer: Offer) -> "PlaceSurface | None":
    """Return the surface of a place."""
    if not offer.store:
        return None
    from dowse.keeping.encoding_worker.model_pool import ModelPool
    from dowse.places.place_table import SharedPlace
    from dowse.surfaces.organisation.place_surface import PlaceSurface

    return PlaceSurface(SharedPlace(offer.store), offer.projects, ModelPool())


def _load_sites(sites: tuple[str, ...]) -> Any:
    if not sites:
        return None
    from dowse.surfaces.sites.sites_surface import open_sites

    return open_sites(sites)


def _parse_only(only: str) -> tuple[Surface, ...]:
    names = {name.strip() for name in only.split(",") if name.strip()}
    if not names or names - set(SURFACES):
        raise UsageError(f"--only {only}: it takes one or more of {', '.join(SURFACES)}, separated by commas.")
    return tuple(name for name in SURFACES if name in names)


def _site_option(verb: str) -> Callable[[Any], Any]:
    about = f"Also {verb} the site with this search index. May be repeated."
    return click.option("--site", "sites", metavar="[NAME=]FILE|URL", multiple=True, type=FILE_TEXT, help=about)


@click.command()
@click.argument("folders", metavar="[DIR|ADDRESS]...", nargs=-1, type=FOLDER_TEXT)
@click.option(
    "--only",
    "surfaces",
    metavar="NAMES",
    type=_parse_only,
    default=",".join(SURFACES),
    help=f"Offer only these, separated by commas: {', '.join(SURFACES)}.",
)
@_site_option("serve")
@click.option("--store", metavar="PLACE", help="Serve the projects that are published in this folder or address.")
@click.option(
    "--project", "projects", metavar="NAME", multiple=True, help="Of --store, serve this project. May be repeated."
)
@tools_option
@budget_option
@http_options
def serve(
    folders: tuple[str, ...], *, surfaces: tuple[Surface, ...], store: str | None, projects: tuple[str, ...], **how: Any
) -> None:
    """Serve DIR to an assistant over the Model Context Protocol (MCP).

    The server uses stdin and stdout, or HTTP with --http. An assistant usually starts it; see
    docs/clients.md.

    Without DIR, the server serves the folders that the client names, or the project around the
    working directory. Over HTTP, it serves that project. With several folders, paths begin with
    the name of their folder. ADDRESS is that of a git repository, as in dowse search; the newest
    commit is fetched when the server starts. See docs/http.md for HTTP.
    """
    roots = tuple(map(parse_root, folders))
    if store and roots:
        raise UsageError("--store serves what is published there in place of DIR. Leave out one of them.")
    if projects and not store:
        raise UsageError("--project needs --store: it names projects of a place.")
    if store:
        surfaces = tuple(name for name in surfaces if name in PLACE_SURFACES)
        if "code" not in Offer(surfaces).sources:
            raise UsageError(f"--store serves {', '.join(PLACE_SURFACES)}. Name code in --only, or leave it out.")
    level, budget, sites = how.pop("level"), how.pop("budget"), how.pop("sites")
    run_server(Offer(surfaces, level, budget, roots=roots, sites=sites, store=store, projects=projects), how)


def run_server(offer: Offer, web: dict[str, Any]) -> None:
    """Serve until the client disconnects or a signal arrives."""
    if web["address"] is not None:
        http = HttpOptions(**web)
        serve_over_http(http, partial(compose_server, replace(offer, is_public=http.public), is_over_http=True))
        return
    from dowse.mcp.stdio import serve_stdio, take_stdio

    wire = take_stdio()  # before importing anything that may print
    serve_stdio(wire, compose_server(offer).server())


def serve_over_http(
    http: HttpOptions,
    make: "Callable[[], ComposedServer]",
    open_browser: Callable[[str], None] | None = None,
) -> None:
    """Serve what `make` returns until a signal arrives.

    `open_browser` is given an address that signs one browser in; then nobody else may read anything.
    """
    host, port = http.address
    host_text = f"[{host}]" if ":" in host else host
    token = secrets.token_urlsafe(32) if open_browser else http.read_token()
    if http.rate is not None and not math.isfinite(http.rate):
        raise UsageError(f"--rate {http.rate} is not a number of requests.")
    from dowse.mcp.http.access import LOOPBACK_NAMES, Admission, is_loopback

    is_local = is_loopback(host)
    if not is_local and not http.allow_remote:
        raise UsageError(f"Other machines can reach {host}. To allow that, add --allow-remote.")
    if not is_local and not (token or http.public):
        raise UsageError(
            "Other machines need a token. Set DOWSE_TOKEN or --token-file, or serve without one with --public."
        )
    if http.public and token:
        raise UsageError("--public and a token exclude each other.")
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s", level=logging.WARNING)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # it would log every malformed request
    # A page asks with every key that is pressed.
    logging.getLogger("dowse.access").setLevel(logging.WARNING if open_browser else logging.INFO)
    logging.getLogger("dowse.calls").setLevel(logging.INFO if http.log_queries else logging.WARNING)
    from dowse.indexes.early_parsing import start_parser
    from dowse.memory_plan import is_memory_small

    if not is_memory_small():
        start_parser()  # which colours what the page shows
    composed = make()  # before more is imported, so that its indexes are loaded meanwhile
    from dowse.mcp.http.access import BrowserSessions
    from dowse.mcp.http.app import bind, make_app, run_http_server
    from dowse.page.page_app import BrowserPage
    from dowse.page.page_frame import PageAccess

    names = LOOPBACK_NAMES | {host.lower(), *http.hosts}
    try:
        listener = bind(host, port)
    except OSError as error:
        raise Failed(
            f"Cannot listen on {host_text}:{port} ({error.strerror or error}). Choose another port."
        ) from error
    port = listener.getsockname()[1]
    sessions = BrowserSessions(port, token)
    admission = Admission(names if is_local or http.hosts else None, frozenset(http.origins), token, sessions)
    access = PageAccess(is_local, http.public, open_browser is not None, http.allow_changes)
    page = BrowserPage(composed.source_list, sessions, access)
    address = f"http://{host_text}:{port}"
    app = make_app(composed.server(is_over_http=True), composed.health, admission, http.rate, page.routes())

    def announce() -> None:
        say(f"dowse: serving {composed.names()} at {address}/mcp")
        if open_browser:
            open_browser(f"{address}/sign-in?key={sessions.key}")

    run_http_server(app, listener, announce)


@click.command("open")
@click.argument("folders", metavar="[DIR|ADDRESS]...", nargs=-1, type=FOLDER_TEXT)
@_site_option("show")
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@json_option
def open_page(folders: tuple[str, ...], sites: tuple[str, ...], *, no_browser: bool) -> None:
    """Search and read DIR in a browser.

    The page shows what dowse serve would serve: projects, documents, sites, archives and named
    indexes. It is on a free port of this machine, and only those who have its address may see it.
    A project without an index is indexed. Ctrl-C ends it. See docs/page.md.
    """
    offer = Offer(level="minimal", roots=tuple(map(parse_root, folders)), sites=sites)
    as_json = prints_json()

    def open_browser(address: str) -> None:
        if as_json:
            show(format_json({"url": address}))
        elif no_browser or not _start_browser(address):
            show(address)
            say("dowse: open this address in a browser; it works until Ctrl-C.")

    serve_over_http(HttpOptions(("127.0.0.1", 0)), partial(compose_server, offer, is_over_http=True), open_browser)


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
