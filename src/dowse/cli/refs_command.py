"""`dowse refs`: where a name is defined and used."""

import sys
from typing import Any

import click

from dowse.cli.common_arguments import json_option, parse_folder
from dowse.cli.output import CommandReply, escape, progress_bar, say, show, using
from dowse.cli.result_output import coverage_notes

KINDS = ("call", "import", "inheritance", "annotation", "mention")


@click.command()
@click.argument("name")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind of use.")
@click.option("--path", "glob", metavar="GLOB", help="Only uses in files whose path matches, such as 'src/**/*.py'.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Maximum number of uses.")
@json_option
def refs(name: str, folder: str | None, *, as_json: bool, **how: Any) -> int | CommandReply:
    """Find where NAME is defined and used in the files in DIR.

    DIR defaults to the project around the working directory. NAME is the name of a function, class
    or other symbol, alone or with its class or module before it, such as Client.get. The index is
    brought up to date first.

    A name that several things have is told apart by imports and by the expression before it. A use
    that may be of something else is marked.

    Exit code 1: the name is unknown.
    """
    from dowse.api.folder_target import FolderTarget
    from dowse.indexes.project_lookup import open_or_find
    from dowse.searching.references.reference_search import ReferenceOptions

    project = open_or_find(parse_folder(folder))
    options = ReferenceOptions(how["kind"], how["glob"], how["limit"])
    target = FolderTarget([project], waits=True)
    with using(target, project), progress_bar(f"Indexing {target.name}", is_expected=False) as progress:
        [(found, coverage, _)] = target.references(name, options, progress).values()
    exit_code = 0 if found.is_found else 1
    if as_json:
        from dowse.mcp.reply_status import coverage_warnings
        from dowse.surfaces.project.reference_replies import references_reply

        warnings = [*project.warnings, *coverage_warnings(coverage)]
        reply = references_reply([(str, found, coverage)], 0, options.limit, sys.maxsize, warnings)
        return CommandReply(reply, exit_code)
    from dowse.federation.answers.line_replies import references_text

    for line in references_text(name, found, str).split("\n"):
        (show if found.is_found else say)(escape(line, keeps_tabs=True, bold=not line.startswith(" ")))
    for note in coverage_notes(coverage):
        say(note)
    return exit_code
