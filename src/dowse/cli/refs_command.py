"""`dowse refs`: where a name is defined and used; `dowse related`: what a file imports, what imports it, its tests, and what changes together with it."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import FILE_TEXT, count_option, folder_argument, json_option, parse_path
from dowse.cli.output import CommandReply, escape, using
from dowse.cli.result_output import coverage_notes

if TYPE_CHECKING:
    from dowse.searching.references.related_files import RelatedFile

KINDS = ("call", "import", "inheritance", "annotation", "mention")


@click.command()
@click.argument("name")
@folder_argument
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind of use.")
@click.option("--path", "glob", metavar="GLOB", help="Only uses in files whose path matches, such as 'src/**/*.py'.")
@count_option("--limit", 10_000, 100, "Maximum number of uses.")
@json_option
def refs(name: str, folder: Path | None, **how: Any) -> CommandReply:
    """Find where NAME is defined and used in the files in DIR.

    DIR defaults to the project around the working directory. NAME is the name of a function, class
    or other symbol, alone or with its class or module before it, such as Client.get. The index is
    brought up to date first.

    A name that several things have is told apart by imports and by the expression before it. A use
    that may be of something else is marked.

    Exit code 1: the name is unknown.
    """
    from dowse.api.folder_target import FolderTarget
    from dowse.federation.answers.line_replies import references_text
    from dowse.indexes.project_lookup import open_or_find
    from dowse.mcp.replies import coverage_warnings
    from dowse.searching.references.reference_search import ReferenceOptions
    from dowse.surfaces.project.reference_replies import references_reply

    project = open_or_find(folder)
    options = ReferenceOptions(how["kind"], how["glob"], how["limit"])
    target = FolderTarget([project], waits=True)
    with using(target, target.name, project) as progress:
        [(found, coverage, _)] = target.references(name, options, progress).values()
    text = references_text(name, found, str).split("\n")
    lines = [escape(line, keeps_tabs=True, bold=not line.startswith(" ")) for line in text]
    notes = coverage_notes(coverage)
    warnings = [*project.warnings, *coverage_warnings(coverage)]
    reply = references_reply([(str, found, coverage)], 0, options.limit, sys.maxsize, warnings)
    return CommandReply(reply, lines, notes) if found.is_found else CommandReply(reply, (), [*lines, *notes], 1)


@click.command()
@click.argument("path", type=FILE_TEXT)
@folder_argument
@count_option("--limit", 1000, 20, "Maximum number of files of each kind.")
@json_option
def related(path: str, folder: Path | None, limit: int) -> CommandReply:
    """List the files in DIR around PATH, each with the reason.

    The files around PATH are those that it imports, those that import it, its tests, and those that
    usually change together with it. DIR defaults to the project around PATH; if it is given, PATH is
    relative to it. The index is brought up to date first.

    Exit code 1: there is none.
    """
    from dowse.api.folder_target import FolderTarget
    from dowse.indexes.project_lookup import find_project, open_or_find
    from dowse.surfaces.project.reference_replies import related_reply

    file = parse_path(path)  # with DIR as well, to refuse what is not a path
    if folder is None:
        project = find_project(file)
    else:
        file, project = folder / Path(path).expanduser(), open_or_find(folder)
    target = FolderTarget([project], waits=True)
    with using(target, target.name, project) as progress:
        found = target.related(str(file), limit, progress)
    groups = {
        "imports": found.imports,
        "imported by": found.imported_by,
        "tests": found.tests,
        "changes with": found.changes_with,
    }
    reply = related_reply(found, limit)
    if not any(groups.values()):
        return CommandReply(reply, notes=["nothing found"], exit_code=1)
    return CommandReply(reply, _file_lines(groups, limit))


def _file_lines(groups: "Mapping[str, Sequence[RelatedFile]]", limit: int) -> Iterator[str | tuple[str, ...]]:
    for title, rows in groups.items():
        if rows:
            yield escape(title, bold=True)
        for one in rows[:limit]:
            yield "  ", one.path, "  ", escape(one.reason, dim=True)
        if len(rows) > limit:
            yield escape(f"  and {len(rows) - limit} more", dim=True)
