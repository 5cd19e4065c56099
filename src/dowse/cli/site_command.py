"""`dowse site`: serve, check and build the index of a static site."""

from typing import Any

import click

from dowse.cli.common_arguments import FILE_TEXT, FOLDER_TEXT, json_option, parse_folder, parse_path
from dowse.cli.output import CommandReply, escape, progress_bar, show_warnings
from dowse.cli.serve_command import run_server
from dowse.cli.server_options import Offer, budget_option, http_options
from dowse.errors import UsageError
from dowse.visible_text import pluralize

MAX_WARNINGS = 20
"""Maximum number of warnings shown after a build."""


@click.group()
def site() -> None:
    """Serve the search index of a static site to assistants, check it or build it.

    docs/site.md describes the format and shows how each step is used. All but serve take --json.
    """


@site.command()
@click.argument("arguments", metavar="[NAME=]FILE|URL...", nargs=-1, required=True, type=FILE_TEXT)
@budget_option
@http_options
def serve(arguments: tuple[str, ...], *, budget: int, **http: Any) -> None:
    """Serve the site of each index to assistants, on stdin and stdout or over HTTP.

    An index is a file, or an https:// or s3:// address. Its search tool is search_PREFIX,
    with the prefix that the index states; NAME= before it sets another one. A replaced index
    is loaded automatically.
    """
    run_server(Offer(("site",), budget_tokens=budget, sites=arguments), http)


@site.command()
@click.argument("location", metavar="FILE|URL", type=FILE_TEXT)
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@json_option
def check(location: str, *, strict: bool) -> CommandReply:
    """Check an index: report every problem, where it is and how to fix it.

    Exit code 0 if the index has no errors, 1 if it has; with --strict, also 1 if it has
    warnings.
    """
    from dowse.sites.index_sources import inspect

    report = inspect(location)
    found = [
        {
            "path": problem.path,
            "grade": "error" if strict else problem.grade,
            "problem": problem.what,
            "remedy": problem.remedy,
        }
        for problem in report.problems
    ]
    errors = sum(problem["grade"] == "error" for problem in found)
    warnings = len(found) - errors
    reply = {
        "file": location, "valid": not errors, "version": report.version, "pageCount": report.pages,
        "errors": errors, "warnings": warnings, "problems": found,
    }  # fmt: skip
    lines = list[tuple[str, ...]]()
    for problem in found:
        grade = escape(problem["grade"], fg="red" if problem["grade"] == "error" else "yellow")
        lines.append((grade, f" {problem['path'] or location}: {problem['problem']}. {problem['remedy']}."))
    counts = [pluralize(number, noun) for number, noun in ((errors, "error"), (warnings, "warning")) if number]
    summary = f"{location}: {pluralize(report.pages, 'page')}, {' and '.join(counts) or 'no problems'}"
    return CommandReply(reply, [*lines, summary], exit_code=1 if errors else 0)


@site.command()
@click.argument("source", metavar="SRC", type=FOLDER_TEXT)
@click.option("-o", "--output", metavar="FILE", type=FILE_TEXT, required=True, help="Write the index to this file.")
@click.option("--name", default="", help="The site's name.")
@click.option("--domain", default="", help="Its domain, without https://.")
@click.option("--description", default="", help="A sentence about it.")
@click.option("--prefix", default="", help="The search tool is called search_PREFIX.")
@click.option("--base", metavar="PATH", default="", help="The path that all URLs begin with.")
@click.option("--exclude", metavar="GLOB", multiple=True, help="Leave out files that match.")
@click.option("--drafts", is_flag=True, help="Include drafts.")
@click.option("--future", is_flag=True, help="Include pages with a future date.")
@json_option
def build(source: str, *, output: str, **options: Any) -> CommandReply:
    """Build the index of the site in SRC, a folder of built HTML or of Markdown with front matter.

    Only files of the kind that there is more of are pages. The site needs a name and a domain;
    the pages of built HTML may state the domain. Exit code 1 if there are no pages.
    """
    from dowse.sites.building.builder import BuildSettings
    from dowse.sites.building.builder import build as build_index
    from dowse.system.platform import write_atomically

    folder, target = parse_folder(source), parse_path(output)
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent} is not a folder. Create it first.")
    with progress_bar(f"Building {folder.name}") as progress:
        built = build_index(folder, BuildSettings(**options), progress)
    write_atomically(target, built.data)
    show_warnings(built.warnings[:MAX_WARNINGS])
    if len(built.warnings) > MAX_WARNINGS:
        show_warnings([f"and {len(built.warnings) - MAX_WARNINGS} more; --json lists all"])
    reply = {
        "file": str(target), "format": built.format, "pageCount": built.pages, "bytes": len(built.data),
        "skipped": built.skipped, "warnings": list(built.warnings),
    }  # fmt: skip
    notes = []
    for reason, paths in built.skipped.items():
        some = ", ".join(paths[:3]) + (", …" if len(paths) > 3 else "")
        notes.append(f"dowse: left out {pluralize(len(paths), 'file')}: {reason} ({some})")
    size = f"{len(built.data) / 1e6:.1f} MB" if len(built.data) >= 1e5 else f"{len(built.data):,} bytes"
    line = f"{output}: {pluralize(built.pages, 'page')} of {built.site.name} ({built.format}), {size}"
    return CommandReply(reply, [line], notes)
