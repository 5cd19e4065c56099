"""`dowse serve`: an MCP server for an assistant, on stdin and stdout or over HTTP."""

from typing import Any, get_args

import click
from click.core import ParameterSource

from dowse.cli.common_arguments import named_folder
from dowse.cli.http_options import http_options, serve_over_http
from dowse.cli.serve_options import ServeOptions, composed, config_options, manifest_of, wish_of
from dowse.errors import UsageError
from dowse.mcp.tools import BUDGET_TOKENS, SURFACES, Level, Surface

budget_option = click.option(
    "--budget", metavar="TOKENS", type=click.IntRange(1000), default=BUDGET_TOKENS, show_default=True,
    help="No reply is longer than this.",
)  # fmt: skip
tools_option = click.option(
    "--tools", "level", type=click.Choice(get_args(Level)), default="standard", show_default=True,
    help="Offer one search over everything, the tools that are always needed, or all.",
)  # fmt: skip


@click.command()
@click.argument("folders", metavar="[DIR]...", nargs=-1)
@click.option("--only", metavar="NAMES", help=f"Offer only these, by commas: {', '.join(SURFACES)}.")
@click.option("--site", "sites", metavar="[NAME=]FILE|URL", multiple=True, help="Also search the site of this index.")
@config_options
@tools_option
@budget_option
@http_options
def serve(folders: tuple[str, ...], *, config: str | None, no_config: bool, **how: Any) -> int:
    """Serve DIR to an assistant over the Model Context Protocol, on stdin and stdout or over HTTP.

    Without DIR: what dowse.toml in the working directory says; else the folders that the client
    says it works in, or the project around the working directory; over HTTP always the latter.
    With several, paths begin with the name of their folder. What is given here goes before what
    dowse.toml says. Meant to be started by an assistant; docs/clients.md shows how,
    docs/federation.md what dowse.toml may say, docs/http.md the rest.
    """
    roots = tuple(folder for name in folders if (folder := named_folder(name)))
    manifest = manifest_of(config, no_config=no_config, has_folders=bool(roots))
    level, budget, only, sites = (how.pop(name) for name in ("level", "budget", "only", "sites"))
    given = {
        "roots": roots,
        "sites": sites,
        "only": _wanted(only),
        "level": level if _is_given("level") else None,
        "budget": budget if _is_given("budget") else None,
    }
    if manifest and manifest.http and not how["address"]:
        how |= manifest.http
    return run_server(wish_of(given, manifest), how)


def run_server(wish: ServeOptions, web: dict[str, Any]) -> int:
    """Serve what is wished for until the client or a signal ends it."""
    if web["address"]:
        return serve_over_http(lambda is_public: composed(wish, is_public=is_public, is_over_http=True), **web)
    from dowse.mcp.stdio import run_on, take_the_wire

    wire = take_the_wire()  # before anything is imported that may print
    run_on(wire, composed(wish).server())
    return 0


def _is_given(name: str) -> bool:
    """Whether an option was written, and is not just its default."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def _wanted(only: str | None) -> tuple[Surface, ...] | None:
    if only is None:
        return None
    names = {name.strip() for name in only.split(",") if name.strip()}
    if not names or names - set(SURFACES):
        raise UsageError(f"--only {only}: it takes some of {', '.join(SURFACES)}, with commas between them.")
    return tuple(name for name in SURFACES if name in names)
