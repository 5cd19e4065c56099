"""`dowse serve`: an MCP server for an assistant, on stdin and stdout or over HTTP."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.arguments import named_folder
from dowse.cli.http import Made, http_options, serve_over_http
from dowse.errors import UsageError
from dowse.serving.tools import BUDGET_TOKENS

if TYPE_CHECKING:
    from dowse.serving.composing import Offer

budget_option = click.option(
    "--budget", metavar="TOKENS", type=click.IntRange(1000), default=BUDGET_TOKENS, show_default=True,
    help="No reply is longer than this.",
)  # fmt: skip
tools_option = click.option(
    "--tools", "level", type=click.Choice(["standard", "full"]), default="standard", show_default=True,
    help="Offer the tools that are always needed, or all.",
)  # fmt: skip


@click.command()
@click.argument("folders", metavar="[DIR]...", nargs=-1)
@click.option("--only", metavar="NAMES", help="Offer only these, by commas: code, documents.")
@tools_option
@budget_option
@http_options
def serve(folders: tuple[str, ...], *, only: str | None, level: Any, budget: int, **web: Any) -> int:
    """Serve DIR to an assistant over the Model Context Protocol, on stdin and stdout or over HTTP.

    Without DIR: the folders that the client says it works in, or the project around the working
    directory; over HTTP always the latter. With several, paths begin with the name of their folder.
    Meant to be started by an assistant; docs/clients.md shows how, docs/http.md the rest.
    """
    roots = [folder for name in folders if (folder := named_folder(name))]
    wanted = None if only is None else _wanted(only)
    return run_server(roots, wanted, level, budget, web, begins_at_once=wanted == ("documents",))


def run_server(
    roots: list[Path], only: Any, level: Any, budget: int, web: dict[str, Any], *, begins_at_once: bool
) -> int:
    """Serve folders until the client or a signal ends it."""
    wire = None
    if not web["address"]:
        from dowse.serving.stdio import run_on, take_the_wire

        wire = take_the_wire()  # before anything is imported that may print
    from dowse.serving.composing import SURFACES, Offer, make_service_server
    from dowse.serving.service import Service

    offer = Offer(only or SURFACES, level, budget, begins_at_once)
    if wire is not None:
        run_on(wire, make_service_server(Service(roots), Path.cwd(), offer))
        return 0
    return serve_over_http(lambda is_public: _made(roots, offer, is_public=is_public), **web)


def _made(roots: list[Path], offer: "Offer", *, is_public: bool) -> Made:
    from dataclasses import replace

    from dowse.serving.composing import make_service_server
    from dowse.serving.locating import open_project
    from dowse.serving.service import Service

    service = Service(roots or [open_project(None).root])
    offer = replace(offer, is_public=is_public, begins_at_once=offer.begins_at_once or is_public)
    server = make_service_server(service, Path.cwd(), offer)
    is_project = "code" in offer.surfaces and not is_public
    return Made(server, lambda: service.sources("project" if is_project else "documents"), service.names())


def _wanted(only: str) -> tuple[str, ...]:
    known = ("code", "documents")
    names = tuple(name.strip() for name in only.split(",") if name.strip())
    if not names or set(names) - set(known):
        raise UsageError(f"--only {only}: it takes some of {', '.join(known)}, with commas between them.")
    return tuple(name for name in known if name in names)
