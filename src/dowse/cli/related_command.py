"""`dowse related`: what a file imports, what imports it, its tests, and what changes together with it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dowse.cli.common_arguments import json_option, parse_folder, parse_path
from dowse.cli.output import CommandReply, escape, progress_bar, say, show, using

if TYPE_CHECKING:
    from dowse.searching.references.related_files import RelatedFile


@click.command()
@click.argument("path")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Maximum number of files of each kind."
)
@json_option
def related(path: str, folder: str | None, limit: int, *, as_json: bool) -> int | CommandReply:
    """List the files in DIR around PATH, each with the reason.

    The files around PATH are those that it imports, those that import it, its tests, and those that
    usually change together with it. DIR defaults to the project around PATH; if it is given, PATH is
    relative to it. The index is brought up to date first.

    Exit code 1: there is none.
    """
    from dowse.api.folder_target import FolderTarget
    from dowse.indexes.project_lookup import find_project, open_or_find

    inside = parse_folder(folder)
    file = parse_path(path)
    if inside is None:
        project = find_project(file)
    else:
        file, project = inside / Path(path).expanduser(), open_or_find(inside)
    target = FolderTarget([project], waits=True)
    with using(target, project), progress_bar(f"Indexing {target.name}", is_expected=False) as progress:
        found = target.related(str(file), limit, progress)
    groups = {
        "imports": found.imports,
        "imported by": found.imported_by,
        "tests": found.tests,
        "changes with": found.changes_with,
    }
    exit_code = 0 if any(groups.values()) else 1
    if as_json:
        from dowse.surfaces.project.reference_replies import related_reply

        return CommandReply(related_reply(found, limit), exit_code)
    for title, rows in groups.items():
        _show(title, rows, limit)
    if exit_code:
        say("nothing found")
    return exit_code


def _show(title: str, rows: "Sequence[RelatedFile]", limit: int) -> None:
    if rows:
        show(escape(title, bold=True))
    for one in rows[:limit]:
        show("  ", escape(one.path), "  ", escape(one.reason, dim=True))
    if len(rows) > limit:
        show(escape(f"  and {len(rows) - limit} more", dim=True))
