"""`dowse publish`: build or update the shared index of a repository for a commit."""

from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import json_option, parse_folder
from dowse.cli.output import CommandReply, pluralize, progress_bar, say, show
from dowse.errors import UsageError

if TYPE_CHECKING:
    from dowse.publishing.publish import PublishReport


@click.command()
@click.argument("words", metavar="[DIR] PLACE", nargs=-1, required=True)
@click.option("--without-model", is_flag=True, help="Do not encode the chunks with the model, which takes longest.")
@json_option
def publish(words: tuple[str, ...], *, without_model: bool, as_json: bool) -> int | CommandReply:
    """Publish the index of the commit in DIR to PLACE.

    Others search it there. PLACE is a folder or s3://bucket/prefix. dowse serve --store PLACE serves it on a machine
    without a checkout. Credentials and the endpoint of a bucket are found where the AWS tools
    look for them.

    Only the tracked files of the commit are read, with the same rules as dowse index, and secrets
    in them are masked. Whoever can read PLACE can read the code. It needs the extra lance.
    """
    if len(words) > 2:
        raise UsageError("dowse publish takes a folder and a place.")
    folder = words[0] if len(words) == 2 else None
    return publish_folder(folder, words[-1], with_model=not without_model, as_json=as_json)


def publish_folder(folder: str | None, location: str, *, with_model: bool, as_json: bool) -> int | CommandReply:
    """Publish a repository to a place, and say what was published."""
    report = _publish(folder, location, with_model=with_model)
    if as_json:
        return CommandReply(_as_json(report, location), 0)
    _show(report, location)
    return 0


def _publish(folder: str | None, location: str, *, with_model: bool) -> "PublishReport":
    from dowse.indexes.project_lookup import open_project
    from dowse.publishing.publish import publish as run
    from dowse.sharing.place_lookup import open_place
    from dowse.store.lance_tables import import_lancedb

    place = open_place(location)
    root = open_project(parse_folder(folder)).root
    import_lancedb()  # before anything is written
    with progress_bar(f"Publishing {root.name}", is_expected=False) as progress:
        return run(root, place, progress, say, with_model=with_model)


def _as_json(report: "PublishReport", location: str) -> dict[str, Any]:
    version = report.version
    return {
        "status": "published" if report.is_new else "unchanged",
        "place": location,
        "commit": version.commit,
        "version": version.number,
        "files": version.files,
        "chunks": version.chunks,
        "encoders": version.encoders,
        "added": report.added,
        "updated": report.updated,
        "removed": report.removed,
        "seconds": round(report.seconds, 3),
    }


def _show(report: "PublishReport", location: str) -> None:
    version = report.version
    contents = f"{pluralize(version.files, 'file')}, {pluralize(version.chunks, 'chunk')}"
    if not report.is_new:
        show(f"{location}: commit {version.commit[:12]} is published already: {contents}")
        return
    show(f"{location}: published commit {version.commit[:12]}: {contents}")
    changes = f"{report.added:,} added, {report.updated:,} updated, {report.removed:,} removed"
    show(f"  {changes} since the version before, in {report.seconds:.1f} s")
