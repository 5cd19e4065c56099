"""`dowse serve`: an MCP server for an assistant, on stdin and stdout or over HTTP."""

from typing import Any, get_args

import click

from dowse.cli.common_arguments import parse_folder
from dowse.cli.http_options import http_options, serve_over_http
from dowse.cli.serve_options import ServeOptions, compose_server
from dowse.errors import UsageError
from dowse.mcp.reply_budget import BUDGET_TOKENS
from dowse.mcp.tools import SURFACES, Level, Surface

budget_option = click.option(
    "--budget", metavar="TOKENS", type=click.IntRange(1000), default=BUDGET_TOKENS, show_default=True,
    help="Maximum length of a reply; a token is four characters.",
)  # fmt: skip
tools_option = click.option(
    "--tools", "level", type=click.Choice(get_args(Level)), default="standard", show_default=True,
    help="minimal: search, fetch and get_index_status; assistant: search, read, find and uses, which answer in plain text; "
    "standard: the usual tools; full: all tools.",
)  # fmt: skip


@click.command()
@click.argument("folders", metavar="[DIR]...", nargs=-1)
@click.option("--only", metavar="NAMES", help=f"Offer only these, separated by commas: {', '.join(SURFACES)}.")
@click.option(
    "--site",
    "sites",
    metavar="[NAME=]FILE|URL",
    multiple=True,
    help="Also serve the site with this search index. May be repeated.",
)
@click.option("--store", metavar="PLACE", help="Serve the shared index in this folder or s3:// address, read-only.")
@tools_option
@budget_option
@http_options
def serve(folders: tuple[str, ...], **how: Any) -> int:
    """Serve DIR to an assistant over the Model Context Protocol (MCP).

    The server uses stdin and stdout, or HTTP with --http. An assistant usually starts it; see
    docs/clients.md.

    Without DIR, the server serves the folders that the client names, or the project around the
    working directory. Over HTTP, it serves that project. With several folders, paths begin with
    the name of their folder. See docs/http.md for HTTP.
    """
    roots = tuple(folder for name in folders if (folder := parse_folder(name)))
    level, budget, only, sites, store = (how.pop(name) for name in ("level", "budget", "only", "sites", "store"))
    if store and roots:
        raise UsageError("--store serves a shared index in place of DIR. Leave out one of them.")
    return run_server(ServeOptions(_parse_only(only), level, budget, roots, sites, store), how)


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
