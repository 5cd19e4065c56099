"""`dowse publish`: put the code of repositories into a place where others search it."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import FOLDER_TEXT, json_option, parse_folder, prints_json
from dowse.cli.output import CommandReply, progress_bar, say, show
from dowse.errors import UsageError
from dowse.types import Progress
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.api.publishing.publish import PublishReport


@click.command()
@click.argument("words", metavar="[DIR]... PLACE", nargs=-1, required=True, type=FOLDER_TEXT)
@click.option("--name", metavar="NAME", default="", help="Name of the project at PLACE; by default that of the folder.")
@click.option("--remove", metavar="NAME", help="Remove the project NAME from PLACE.")
@click.option("--without-model", is_flag=True, help="Do not encode the chunks with the model, which takes longest.")
@json_option
def publish(words: tuple[str, ...], *, name: str, remove: str | None, without_model: bool) -> CommandReply:
    """Publish the commits in DIR to PLACE, where others search them.

    PLACE has the projects of a whole organisation. It is a folder, s3://bucket/prefix, gs://, az://, or db:// of a
    LanceDB server. dowse serve --store PLACE and dowse search --store PLACE search it. Credentials and the endpoint of a
    bucket are found where the AWS tools look for them.

    Only the tracked files of the commit are read, with the same rules as dowse index, and secrets
    in them are masked. Whoever can read PLACE can read the code. It needs the extra lance.
    """
    *folders, location = words
    if remove is not None:
        if folders or name:
            raise UsageError("--remove takes the name of a project, and PLACE alone.")
        return _remove(remove, location)
    if name and len(folders) > 1:
        raise UsageError("--name is for one DIR.")
    roots: list[Path | None] = [*map(parse_folder, folders)] or [None]
    return publish_folders(roots, location, name=name, with_model=not without_model)


def publish_folders(
    roots: Iterable[Path | None], location: str, *, name: str = "", with_model: bool = True
) -> CommandReply:
    """Publish the commits in some folders, or that of the project around the working directory."""
    from dowse.api.folder_target import FolderTarget
    from dowse.indexes.project_lookup import open_project

    target = FolderTarget([open_project(root) for root in roots])

    def progress_of(root: Path) -> AbstractContextManager[Progress]:
        return progress_bar(f"Publishing {root.name}")

    replies = []
    for root, report in target.publish(location, progress_of, say, with_model=with_model, name=name):
        replies.append(_as_json(report, location))
        if not prints_json():
            _show(report, location, root)
    return CommandReply(replies[0] if len(replies) == 1 else {"projects": replies})


def _remove(name: str, location: str) -> CommandReply:
    from dowse.api.publishing.publish import remove
    from dowse.places.place_table import SharedPlace

    remove(name, SharedPlace(location))
    reply = {"status": "removed", "place": location, "project": name}
    return CommandReply(reply, [f"{location}: removed {name}"])


def _as_json(report: "PublishReport", location: str) -> dict[str, Any]:
    project = report.project
    return {
        "status": "published" if report.is_new else "unchanged",
        "place": location,
        "project": project.name,
        "commit": project.commit,
        "files": project.files,
        "chunks": project.chunks,
        "encoders": list(project.encoders),
        "added": report.added,
        "removed": report.removed,
        "seconds": round(report.seconds, 3),
    }


def _show(report: "PublishReport", location: str, root: Path) -> None:
    project = report.project
    contents = f"{pluralize(project.files, 'file')}, {pluralize(project.chunks, 'chunk')}"
    if not report.is_new:
        show(f"{location}: commit {project.commit[:12]} of {project.name} is published already: {contents}")
        return
    show(f"{location}: published commit {project.commit[:12]} of {project.name} ({root}): {contents}")
    changes = f"{report.added:,} files read, {report.removed:,} replaced or removed"
    show(f"  {changes}, in {report.seconds:.1f} s")
