"""`dowse serve`: an MCP server for an assistant."""

from pathlib import Path

import click

from dowse.cli.arguments import named_folder
from dowse.serving.tools import BUDGET_TOKENS


@click.command()
@click.argument("folders", metavar="[DIR]...", nargs=-1)
@click.option(
    "--budget", metavar="TOKENS", type=click.IntRange(1000), default=BUDGET_TOKENS, show_default=True,
    help="No reply is longer than this.",
)  # fmt: skip
def serve(folders: tuple[str, ...], *, budget: int) -> None:
    """Serve DIR to an assistant over the Model Context Protocol, on stdin and stdout.

    Without DIR: the folders that the client says it works in, or the project around the working
    directory. With several, paths begin with the name of their folder. Meant to be started by an
    assistant; docs/clients.md shows how.
    """
    from dowse.serving.stdio import run_on, take_the_wire

    roots = [folder for name in folders if (folder := named_folder(name))]
    wire = take_the_wire()
    from dowse.serving.project_server import make_project_server

    run_on(wire, make_project_server(roots, Path.cwd(), budget))
