"""`dowse site`: a static site's index served, checked and built."""

from typing import Any

import click

from dowse.cli.arguments import json_option
from dowse.cli.http import http_options
from dowse.cli.output import Reply, Shown, counted, show, shown
from dowse.serving.tools import BUDGET_TOKENS


@click.group()
def site() -> None:
    """A static site's search index: serve it to assistants, check it, build it.

    docs/site.md describes the format and shows how each step is used.
    """


@site.command()
@click.argument("places", metavar="[NAME=]FILE|URL...", nargs=-1, required=True)
@click.option(
    "--budget", metavar="TOKENS", type=click.IntRange(1000), default=BUDGET_TOKENS, show_default=True,
    help="No reply is longer than this.",
)  # fmt: skip
@http_options
def serve(places: tuple[str, ...], *, budget: int, **web: Any) -> int:
    """Serve the site of each index to assistants, on stdin and stdout or over HTTP.

    An index is a file, or at an https:// or s3:// address. It is searched with the tool
    search_PREFIX, by the prefix that it states; NAME= before it gives another one. An index
    that is replaced is picked up by itself.
    """
    if web["address"]:
        return _serve_over_http(places, budget, web)
    from dowse.serving.stdio import run_on, take_the_wire

    wire = take_the_wire()
    from dowse.serving.opening import open_sites

    surface = open_sites(places)
    from dowse.serving.site_server import make_site_server

    run_on(wire, make_site_server(surface, budget))
    return 0


def _serve_over_http(places: tuple[str, ...], budget: int, web: dict[str, Any]) -> int:
    from dowse.cli.http import Offer, offer_over_http

    def offer(*, is_public: bool) -> Offer:  # noqa: ARG001 - all of a site may be read by anybody
        from dowse.serving.opening import open_sites
        from dowse.serving.site_server import make_site_server

        surface = open_sites(places)
        return Offer(make_site_server(surface, budget), surface.sources, surface.names())

    return offer_over_http(offer, **web)


@site.command()
@click.argument("place", metavar="FILE|URL")
@click.option("--strict", is_flag=True, help="Warnings are errors.")
@json_option
def check(place: str, *, strict: bool, as_json: bool) -> int | Reply:
    """Check an index: every problem, where it is and how to mend it.

    Exit code 0 when the index is good, 1 when it has errors; with --strict also when it has
    warnings.
    """
    from dowse.sites.inspecting import inspect

    report = inspect(place)
    problems = report.problems
    errors = sum(1 for problem in problems if strict or problem.grade == "error")
    exit_code = 1 if errors else 0
    if as_json:
        found = [
            {"path": one.path, "grade": "error" if strict else one.grade, "problem": one.what, "remedy": one.remedy}
            for one in problems
        ]
        value = {
            "file": place, "valid": not errors, "version": report.version, "pageCount": report.pages,
            "errors": errors, "warnings": len(problems) - errors, "problems": found,
        }  # fmt: skip
        return Reply(value, exit_code)
    for problem in problems:
        is_error = strict or problem.grade == "error"
        grade = shown("error" if is_error else "warning", fg="red" if is_error else "yellow")
        show(grade, f" {problem.path or place}: {problem.what}. {problem.remedy}.")
    show(f"{place}: {_verdict(report.pages, errors, len(problems) - errors)}")
    return exit_code


def _verdict(pages: int, errors: int, warnings: int) -> Shown:
    found = [counted(number, noun) for number, noun in ((errors, "error"), (warnings, "warning")) if number]
    return shown(f"{counted(pages, 'page')}, {' and '.join(found) or 'no problems'}")
