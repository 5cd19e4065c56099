"""`dowse serve`: an MCP server for an assistant, on stdin and stdout or over HTTP."""

from pathlib import Path
from typing import Any

import click

from dowse.cli.arguments import named_folder
from dowse.cli.http import http_options, serve_over_http
from dowse.serving.tools import BUDGET_TOKENS


@click.command()
@click.argument("folders", metavar="[DIR]...", nargs=-1)
@click.option(
    "--budget", metavar="TOKENS", type=click.IntRange(1000), default=BUDGET_TOKENS, show_default=True,
    help="No reply is longer than this.",
)  # fmt: skip
@http_options
def serve(folders: tuple[str, ...], *, budget: int, **web: Any) -> int:
    """Serve DIR to an assistant over the Model Context Protocol, on stdin and stdout or over HTTP.

    Without DIR: the folders that the client says it works in, or the project around the working
    directory; over HTTP always the latter. With several, paths begin with the name of their folder.
    Meant to be started by an assistant; docs/clients.md shows how, docs/http.md the rest.
    """
    roots = [folder for name in folders if (folder := named_folder(name))]
    if web["address"]:
        return serve_over_http(roots, budget, **web)
    from dowse.serving.stdio import run_on, take_the_wire

    wire = take_the_wire()
    from dowse.serving.project_server import make_project_server

    run_on(wire, make_project_server(roots, Path.cwd(), budget))
    return 0
