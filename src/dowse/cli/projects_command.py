"""`dowse status`, `dowse projects` and `dowse forget`: show, list and remove indexes."""

import asyncio
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import FOLDER_TEXT, folder_argument, json_option, parse_path, prints_json
from dowse.cli.output import CommandReply, format_encoding, format_unparsed, show_warnings
from dowse.cli.serve_command import compose_server
from dowse.cli.server_options import Offer
from dowse.indexes.index_status import format_size
from dowse.indexes.remaining_time import format_seconds_left
from dowse.types import View
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.indexes.index_status import IndexStatus
    from dowse.indexes.project_lookup import Project
    from dowse.keeping.watch_status import WatchStatus


@click.command()
@folder_argument
@json_option
def status(folder: Path | None) -> CommandReply:
    """Show the state of the index of DIR and of its documents.

    DIR defaults to the project around the working directory. The state is one of not_found, indexing,
    ready, incomplete, failed.

    With --json, the reply has every source that dowse serve would serve here.

    Exit code 1: there is no index that can be used.
    """
    from dowse.archives.archive_index import find_index
    from dowse.keeping.watch_status import read_watch_status

    project = find_index(folder)
    if prints_json():
        return _status_reply(project.root)
    found, watch = project.status(), read_watch_status(project)
    documents_found = project.seen_as(View.DOCUMENTS).status()
    project.close()
    show_warnings(found.warnings)
    # One catalog has both; an archive has documents alone.
    has_documents = project.view is View.PROJECT and documents_found.state != "not_found" and found.state != "failed"
    lines = [*_lines(found, watch), *(_document_lines(documents_found) if has_documents else ())]
    return CommandReply({}, lines, exit_code=1 if {found.state, documents_found.state} <= UNUSABLE_STATES else 0)


@click.command()
@click.option("--store", metavar="PLACE", help="List the projects that are published in this folder or address.")
@json_option
def projects(*, store: str | None) -> CommandReply:
    """List all indexed projects, documents and archives.

    The size is that of the index on disk. A folder that no longer exists is marked.
    """
    if store:
        return _list_place(store)
    from dowse.indexes.project_lookup import list_projects
    from dowse.store.storage_layout import folder_size
    from dowse.system.platform import storage_root

    found = list_projects()

    def reply() -> dict[str, Any]:
        from dowse.surfaces.project.project_replies import projects_reply  # 70 ms

        return projects_reply(found, sys.maxsize)

    lines = []
    for project in found:
        counts = f"{_format_counts(project)}, {format_size(project.size_bytes)}"
        kind = "  (an archive)" if project.is_archive else ""
        lines.append(f"{project.root}  {counts}{kind}{_ROOT_STATES[project.root_state]}")
    note = "Nothing is indexed. Start with: dowse index DIR, or dowse docs list DIR"
    if found:
        note = f"All of dowse's files: {format_size(folder_size(storage_root()))} in {storage_root()}"
    return CommandReply(reply, lines, [note])


def _list_place(location: str) -> CommandReply:
    from dowse.places.place_store import PlaceStore
    from dowse.places.place_table import SharedPlace
    from dowse.surfaces.organisation.place_surface import projects_reply

    with contextlib.closing(PlaceStore(SharedPlace(location))) as store:
        show_warnings(store.warnings)
        lines = [
            f"{project.name}  {pluralize(project.files, 'file')}, {pluralize(project.chunks, 'chunk')}, "
            f"commit {project.commit[:12]}, published {project.published}"
            for project in store.projects()
        ]
        notes = [] if lines else [f"Nothing has been published to {location}."]
        return CommandReply(projects_reply(store, sys.maxsize), lines, notes)


_ROOT_STATES = {
    "present": "",
    "missing": "  (the folder no longer exists; dowse forget --missing deletes the index)",
    "unreachable": "  (the folder cannot be reached now; the index is kept)",
}


def _format_counts(project: "Project") -> str:
    counts = [pluralize(project.files, "file")] if project.views & View.PROJECT else []
    if project.documents is not None:
        counts.append(pluralize(project.documents, "document"))
    return " and ".join(counts)


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, type=FOLDER_TEXT)
@click.option("--missing", is_flag=True, help="Delete the index of every folder that no longer exists.")
@json_option
def forget(folder: str | None, *, missing: bool) -> CommandReply:
    """Delete the index of DIR; its files stay as they are.

    DIR may be the address of a repository, whose clone is deleted as well.

    If DIR has an index of its documents, that is deleted, too. --missing keeps the index of a folder
    that cannot be reached now, for example because its disk is not mounted, and names it.
    """
    from dowse.api.folder_target import forget as forget_location

    if missing == (folder is not None):
        raise click.UsageError("forget takes a DIR, or --missing.")
    if folder is None:
        return _forget_missing()
    root = forget_location(folder if "://" in folder else parse_path(folder))
    reply = {"status": "success", "projectPath": str(root), "message": "Index deleted successfully"}
    return CommandReply(reply, [f"Deleted the index of {root}; its files are unchanged."])


def _forget_missing() -> CommandReply:
    from dowse.indexes.project_lookup import forget_project, list_projects

    removed, lines, kept = [], [], []
    for project in list_projects():
        if project.root_state == "missing":
            forget_project(project.root)
            removed.append({"projectPath": str(project.root), "sizeBytes": project.size_bytes})
            lines.append(f"Deleted the index of {project.root}, a folder that no longer exists.")
        elif project.root_state == "unreachable":
            kept.append(str(project.root))
    notes = [
        f"Kept the index of {root}, which cannot be reached now. If it is gone: dowse forget {root}" for root in kept
    ]
    if not removed:
        notes.append("No indexed folder is missing.")
    return CommandReply({"status": "success", "removed": removed, "kept": kept}, lines, notes)


def _document_lines(found: "IndexStatus") -> Iterator[str]:
    yield f"  documents ({found.state}): {pluralize(found.files, 'document')}, {pluralize(found.chunks, 'chunk')}"
    for line in (*_problems(found), *format_unparsed(found.unparsed)):
        yield f"    {line}"


def _problems(found: "IndexStatus") -> Iterator[str]:
    if found.problem:
        yield f"problem: {found.problem}"
    if found.last_error and found.last_error != found.problem:
        yield f"last error: {found.last_error}"


def _lines(found: "IndexStatus", watch: "WatchStatus") -> Iterator[str]:
    progress = ""
    if found.state == "indexing" and found.expected_files:
        progress = f", {found.files:,} of {found.expected_files:,} files{format_seconds_left(found.seconds_left)}"
    yield f"{found.root}: {found.state}{progress}"
    if found.state == "not_found":
        yield f"  index it with: dowse index {found.root}"
        return
    for line in _problems(found):
        yield f"  {line}"
    for kind, totals in found.totals.items():
        languages = ", ".join(f"{name} {count:,}" for name, count in list(totals.languages.items())[:8])
        counts = f"{pluralize(totals.documents, 'file')}, {pluralize(totals.chunks, 'chunk')}"
        yield f"  {kind}: {counts}  {languages}".rstrip()
    for reason, count in found.skipped.items():
        yield f"  skipped {count:,}: {reason}"
    for line in format_unparsed(found.unparsed):
        yield f"  {line}"
    yield f"  updated {found.last_updated or 'never'}, {format_size(found.size_bytes)} in {found.folder}"
    kept = "kept up to date" if watch.mode == "elsewhere" else "not kept up to date"
    yield f"  {kept}: {watch.why}; strategy {watch.strategy}, last check {found.last_check or 'never'}"
    if found.encoding and found.chunks:
        yield f"  {format_encoding(found.encoding)}"
    if found.memory:
        yield f"  memory: small, without the model: {found.memory}"
    if "." in watch.pending:
        yield "  pending: some files, not compared yet"
    elif watch.pending:
        yield f"  pending: {pluralize(len(watch.pending), 'path')}, {', '.join(watch.pending[:5])}"


UNUSABLE_STATES = {"not_found", "failed"}


def _status_reply(root: Path) -> CommandReply:
    """Return what the tool get_index_status of a server replies, which indexes nothing; the exit code is about files alone."""
    from dowse.federation.source_list import RUN_INDEX
    from dowse.mcp.tools import Call

    composed = compose_server(Offer(roots=(root,)), is_prepared=False)
    composed.source_list.remedy, composed.source_list.indexes_projects = RUN_INDEX, False
    try:
        reply = asyncio.run(composed.status(Call()))
    finally:
        composed.close()
    show_warnings(reply.get("warnings", []))
    states = {source["state"] for source in reply["sources"] if source["kind"] in ("project", "documents")}
    return CommandReply(reply, exit_code=1 if "failed" in states or states <= UNUSABLE_STATES else 0)
