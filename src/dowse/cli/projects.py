"""`dowse status`, `dowse projects`, `dowse forget`: what is indexed, and how to undo it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.output import as_size, counted, json_option, named_folder, show_json, show_warnings

if TYPE_CHECKING:
    from dowse.serving.status import Status


@click.command()
@click.argument("folder", metavar="[DIR]", required=False)
@json_option
def status(folder: str | None, *, as_json: bool) -> int:
    """Show the index of DIR, or of the project around the working directory.

    The state is one of not_found, indexing, ready, incomplete, failed. Exit code 1 when there
    is no index.
    """
    from dowse.serving.project import find_project

    project = find_project(named_folder(folder) or Path.cwd())
    found = project.status()
    project.close()
    if as_json:
        show_json(_as_json(found))
    else:
        show_warnings(found.warnings)
        _show(found)
    return 1 if found.state in ("not_found", "failed") else 0


@click.command()
@json_option
def projects(*, as_json: bool) -> int:
    """List every indexed project."""
    from dowse.serving.project import list_projects

    found = list_projects()
    if as_json:
        show_json({"projects": [{**project.metadata, "exists": project.exists} for project in found]})
        return 0
    for project in found:
        stats, docs = project.metadata.get("stats", {}), project.metadata.get("docsStats", {})
        files = stats.get("totalFiles", 0) + docs.get("totalDocs", 0)
        size = stats.get("storageSizeBytes", 0) + docs.get("docsStorageSizeBytes", 0)
        gone = "" if project.exists else "  (the folder is gone; dowse forget removes the index)"
        click.echo(f"{project.root}  {counted(files, 'file')}, {as_size(size)}{gone}")
    if not found:
        click.echo("No project is indexed. Start with: dowse index DIR", err=True)
    return 0


@click.command()
@click.argument("folder", metavar="DIR")
@json_option
def forget(folder: str, *, as_json: bool) -> int:
    """Remove the index of DIR. The project itself is not touched."""
    from dowse.serving.project import forget_project

    root = forget_project(Path(folder).expanduser())
    if as_json:
        show_json({"status": "success", "projectPath": str(root), "message": "Index deleted successfully"})
    else:
        click.echo(f"Forgot {root}; its files are untouched.")
    return 0


def _as_json(found: "Status") -> dict[str, Any]:
    return {
        "status": found.state,
        "projectPath": str(found.root),
        "indexPath": str(found.folder),
        "totalFiles": found.files,
        "totalChunks": found.chunks,
        "expectedFiles": found.expected_files,
        "lastUpdated": found.last_updated,
        "storageSize": as_size(found.size_bytes),
        "storageSizeBytes": found.size_bytes,
        "kinds": {
            kind: {"files": totals.documents, "chunks": totals.chunks, "languages": totals.languages}
            for kind, totals in found.totals.items()
        },
        "skipped": found.skipped,
        "problem": found.problem,
        "warnings": list(found.warnings),
    }


def _show(found: "Status") -> None:
    click.echo(f"{found.root}: {found.state}")
    if found.state == "not_found":
        click.echo(f"  index it with: dowse index {found.root}")
        return
    if found.problem:
        click.echo(f"  problem: {found.problem}")
    for kind, totals in found.totals.items():
        languages = ", ".join(f"{name} {count:,}" for name, count in list(totals.languages.items())[:8])
        click.echo(
            f"  {kind}: {counted(totals.documents, 'file')}, {counted(totals.chunks, 'chunk')}  {languages}".rstrip()
        )
    for reason, count in found.skipped.items():
        click.echo(f"  skipped {count:,}: {reason}")
    click.echo(f"  updated {found.last_updated or 'never'}, {as_size(found.size_bytes)} in {found.folder}")
