"""`dowse index`: make the index of a project equal to its files."""

import sys
from typing import TYPE_CHECKING

import click

from dowse.cli.output import counted, json_option, named_folder, progress_bar, show_json, show_warnings
from dowse.errors import UsageError
from dowse.system import lower_priority

if TYPE_CHECKING:
    from dowse.serving.project import ProjectIndex, Report


@click.command()
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--yes", is_flag=True, help="Do not ask before indexing more files than maxFiles.")
@click.option("--first", hidden=True, help="Index files whose path has these words before the others.")
@json_option
def index(folder: str | None, *, yes: bool, first: str | None, as_json: bool) -> int:
    """Index DIR, or the project around the working directory.

    Only what changed since the last run is read again. Ctrl-C keeps what is done; the next run
    goes on from there. What is left out and why: dowse why PATH.
    """
    from dowse.serving.project import open_project

    if first is not None:  # started by a search, in the background
        lower_priority()
    project = open_project(named_folder(folder))
    show_warnings(project.warnings)
    shown = len(project.warnings)
    _confirm_size(project, is_confirmed=yes)
    with progress_bar(f"Indexing {project.root.name}") as progress:
        report = project.update(progress, first=first or "")
    show_warnings(project.warnings[shown:])
    status = project.status()
    project.close()
    if as_json:
        show_json(
            {
                "status": "success" if report.is_complete else "interrupted",
                "projectPath": str(project.root),
                "filesIndexed": status.files,
                "chunksCreated": status.chunks,
                "added": report.added,
                "updated": report.updated,
                "removed": report.removed,
                "unchanged": report.unchanged,
                "skipped": report.skipped_by_reason(),
                "truncated": [path for totals in status.totals.values() for path in totals.truncated],
                "problem": status.problem,
                "seconds": round(report.seconds, 3),
            }
        )
    else:
        click.echo(f"{project.root}: {counted(status.files, 'file')}, {counted(status.chunks, 'chunk')}")
        click.echo(f"  {_changes(report)} in {report.seconds:.2f} s")
        for reason, count in report.skipped_by_reason().items():
            click.echo(f"  skipped {count:,}: {reason}")
        for totals in status.totals.values():
            for path in totals.truncated:
                click.echo(f"  cut after 1,000 chunks: {path}")
        if status.problem:
            click.echo(f"  problem: {status.problem}")
    if not report.is_complete:
        raise KeyboardInterrupt
    return 0 if status.files else 1


def _changes(report: "Report") -> str:
    counts = {"added": report.added, "updated": report.updated, "removed": report.removed}
    said = [f"{count:,} {what}" for what, count in counts.items() if count]
    return ", ".join([*said, f"{report.unchanged:,} unchanged"])


def _confirm_size(project: "ProjectIndex", *, is_confirmed: bool) -> None:
    """Ask before a project that is larger than anyone expects is indexed for the first time."""
    if is_confirmed or project.exists:
        return
    try:
        project.require_size()
    except UsageError as error:
        if not sys.stdin.isatty():
            raise
        click.confirm(str(error).partition(" Continue")[0] + " Continue?", abort=True, err=True)
