"""`dowse serve`: an MCP server for an assistant, on stdin and stdout or over HTTP."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.arguments import named_folder
from dowse.cli.http import http_options, serve_over_http
from dowse.errors import UsageError
from dowse.serving.tools import BUDGET_TOKENS, SURFACES, Level, Surface

if TYPE_CHECKING:
    from dowse.serving.composing import Composed
    from dowse.serving.service import Service

budget_option = click.option(
    "--budget", metavar="TOKENS", type=click.IntRange(1000), default=BUDGET_TOKENS, show_default=True,
    help="No reply is longer than this.",
)  # fmt: skip
tools_option = click.option(
    "--tools", "level", type=click.Choice(["standard", "full"]), default="standard", show_default=True,
    help="Offer the tools that are always needed, or all.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wish:
    """What a command line wants to be served."""

    surfaces: tuple[Surface, ...]
    level: Level
    budget: int
    roots: tuple[Path, ...] = ()
    sites: tuple[str, ...] = ()


@click.command()
@click.argument("folders", metavar="[DIR]...", nargs=-1)
@click.option("--only", metavar="NAMES", help=f"Offer only these, by commas: {', '.join(SURFACES)}.")
@click.option("--site", "sites", metavar="[NAME=]FILE|URL", multiple=True, help="Also search the site of this index.")
@tools_option
@budget_option
@http_options
def serve(folders: tuple[str, ...], *, only: str | None, sites: tuple[str, ...], level: Level, **how: Any) -> int:
    """Serve DIR to an assistant over the Model Context Protocol, on stdin and stdout or over HTTP.

    Without DIR: the folders that the client says it works in, or the project around the working
    directory; over HTTP always the latter. With several, paths begin with the name of their folder.
    Meant to be started by an assistant; docs/clients.md shows how, docs/http.md the rest.
    """
    roots = tuple(folder for name in folders if (folder := named_folder(name)))
    budget = how.pop("budget")
    return run_server(Wish(_wanted(only), level, budget, roots, sites), how)


def run_server(wish: Wish, web: dict[str, Any]) -> int:
    """Serve what is wished for until the client or a signal ends it."""
    if web["address"]:
        return serve_over_http(lambda is_public: _composed(wish, is_public=is_public, is_over_http=True), **web)
    from dowse.serving.stdio import run_on, take_the_wire

    wire = take_the_wire()  # before anything is imported that may print
    run_on(wire, _composed(wish).server())
    return 0


def _composed(wish: Wish, *, is_public: bool = False, is_over_http: bool = False) -> "Composed":
    with ThreadPoolExecutor(1) as pool:  # the protocol takes a second to import, in which sites can be loaded
        loading = pool.submit(_loaded, wish.sites)
        from dowse.serving.composing import Composed, Offer

        sites = loading.result()
    offer = Offer(wish.surfaces, wish.level, wish.budget, is_public)
    return Composed(_service(wish, is_over_http=is_over_http), Path.cwd(), offer, sites)


def _service(wish: Wish, *, is_over_http: bool) -> "Service | None":
    """The folders that are served, if any are; over HTTP there is nobody to say which."""
    if not {"code", "documents"} & set(wish.surfaces):
        return None
    from dowse.serving.service import Service

    if wish.roots or not is_over_http:
        return Service(list(wish.roots))
    from dowse.serving.locating import open_project

    return Service([open_project(None).root])


def _loaded(sites: tuple[str, ...]) -> Any:
    if not sites:
        return None
    from dowse.serving.surfaces.sites import open_sites

    return open_sites(sites)


def _wanted(only: str | None) -> tuple[Surface, ...]:
    if only is None:
        return SURFACES
    names = {name.strip() for name in only.split(",") if name.strip()}
    if not names or names - set(SURFACES):
        raise UsageError(f"--only {only}: it takes some of {', '.join(SURFACES)}, with commas between them.")
    return tuple(name for name in SURFACES if name in names)
