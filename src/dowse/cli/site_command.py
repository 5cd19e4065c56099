"""`dowse site`: serve, check and build the index of a static site."""

import os
from typing import Any

import click

from dowse.cli.common_arguments import json_option, parse_folder, parse_path
from dowse.cli.http_options import http_options
from dowse.cli.output import CommandReply, SafeText, escape, pluralize, progress_bar, say, show, show_warnings
from dowse.cli.serve_command import budget_option, run_server
from dowse.cli.serve_options import ServeOptions
from dowse.errors import UsageError

MAX_WARNINGS = 20
"""Maximum number of warnings shown after a build."""


@click.group()
def site() -> None:
    """A static site's search index: serve it to assistants, check it, build it.

    docs/site.md describes the format and shows how each step is used. All but serve take --json.
    """


@site.command()
@click.argument("arguments", metavar="[NAME=]FILE|URL...", nargs=-1, required=True)
@budget_option
@http_options
def serve(arguments: tuple[str, ...], *, budget: int, **http: Any) -> int:
    """Serve the site of each index to assistants, on stdin and stdout or over HTTP.

    An index is a file, or at an https:// or s3:// address. It is searched with the tool
    search_PREFIX, by the prefix that it states; NAME= before it gives another one. An index
    that is replaced is picked up by itself.
    """
    return run_server(ServeOptions(("site",), "standard", budget, sites=arguments), http)


@site.command()
@click.argument("location", metavar="FILE|URL")
@click.option("--strict", is_flag=True, help="Warnings are errors.")
@json_option
def check(location: str, *, strict: bool, as_json: bool) -> int | CommandReply:
    """Check an index: every problem, where it is and how to mend it.

    Exit code 0 when the index is good, 1 when it has errors; with --strict also when it has
    warnings.
    """
    from dowse.sites.inspection import inspect

    report = inspect(location)
    problems = report.problems
    errors = sum(1 for problem in problems if strict or problem.grade == "error")
    exit_code = 1 if errors else 0
    if as_json:
        found = [
            {
                "path": problem.path,
                "grade": "error" if strict else problem.grade,
                "problem": problem.what,
                "remedy": problem.remedy,
            }
            for problem in problems
        ]
        value = {
            "file": location, "valid": not errors, "version": report.version, "pageCount": report.pages,
            "errors": errors, "warnings": len(problems) - errors, "problems": found,
        }  # fmt: skip
        return CommandReply(value, exit_code)
    for problem in problems:
        is_error = strict or problem.grade == "error"
        grade = escape("error" if is_error else "warning", fg="red" if is_error else "yellow")
        show(grade, f" {problem.path or location}: {problem.what}. {problem.remedy}.")
    show(f"{location}: {_summary(report.pages, errors, len(problems) - errors)}")
    return exit_code


def _summary(pages: int, errors: int, warnings: int) -> SafeText:
    found = [pluralize(number, noun) for number, noun in ((errors, "error"), (warnings, "warning")) if number]
    return escape(f"{pluralize(pages, 'page')}, {' and '.join(found) or 'no problems'}")


@site.command()
@click.argument("source", metavar="SRC")
@click.option("-o", "--output", metavar="FILE", help="Where the index is written.")
@click.option("--name", help="The site's name.")
@click.option("--domain", help="Its domain, without https://.")
@click.option("--description", help="A sentence about it.")
@click.option("--prefix", help="The search tool is called search_PREFIX.")
@click.option("--generator", metavar="NAME", help="markdown, hugo, astro, jekyll, docusaurus, mkdocs or html.")
@click.option("--base", metavar="PATH", help="All addresses begin with this path.")
@click.option("--exclude", metavar="GLOB", multiple=True, help="Leave out files that match.")
@click.option("--drafts", is_flag=True, default=None, help="Drafts, too.")
@click.option("--future", is_flag=True, default=None, help="Pages whose date is to come, too.")
@json_option
def build(source: str, *, as_json: bool, **options: Any) -> int | CommandReply:
    """Build the index of the site in SRC: Markdown as a generator has it, or HTML that it made.

    The generator is found by its settings file, which also gives name and domain. What is not
    given here comes from DOWSE_SITE_NAME and the like, then from dowse-site.toml in SRC or in
    the working directory. Exit code 1 when there is no page.
    """
    folder = parse_folder(source)
    assert folder is not None  # noqa: S101 - SRC is required
    from dowse.platform import write_atomically
    from dowse.sites.building.builder import build as build_index
    from dowse.sites.building.generator_settings import gather_settings

    settings = gather_settings(folder, {**options, "exclude": options["exclude"] or None}, os.environ)
    if not settings.output:
        raise UsageError("Say where the index is to be written: -o FILE.")
    target = parse_path(settings.output)
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent} is not a folder. Make it first.")
    with progress_bar(f"Building {folder.name}", is_expected=False) as progress:
        built = build_index(folder, settings, progress)
    write_atomically(target, built.data)
    show_warnings(built.warnings[:MAX_WARNINGS])
    if len(built.warnings) > MAX_WARNINGS:
        show_warnings([f"and {len(built.warnings) - MAX_WARNINGS} more; --json has them all"])
    if as_json:
        value = {
            "file": str(target), "generator": built.generator, "pageCount": built.pages, "bytes": len(built.data),
            "skipped": built.skipped, "warnings": list(built.warnings),
        }  # fmt: skip
        return CommandReply(value)
    for reason, paths in built.skipped.items():
        some = ", ".join(paths[:3]) + (", …" if len(paths) > 3 else "")
        say(f"dowse: left out {pluralize(len(paths), 'file')}: {reason} ({some})")
    size = f"{len(built.data) / 1e6:.1f} MB" if len(built.data) >= 1e5 else f"{len(built.data):,} bytes"
    show(f"{settings.output}: {pluralize(built.pages, 'page')} of {built.identity.name} ({built.generator}), {size}")
    return 0
