"""`dowse index`: bring the index of a project up to date with its files."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dowse.cli.common_arguments import folder_argument, json_option
from dowse.cli.output import (
    INTERRUPTED,
    CommandReply,
    confirm,
    format_changes,
    format_encoding,
    format_unparsed,
    progress_bar,
    say,
    say_if_locked,
    using,
)
from dowse.errors import TooManyFiles
from dowse.indexes.early_parsing import warm_up_parser
from dowse.memory_plan import is_memory_small
from dowse.system.platform import lower_priority, release_memory
from dowse.types import Progress, View
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.indexes.index import IndexReport, ProjectIndex
    from dowse.indexes.index_status import IndexStatus


@click.command()
@folder_argument
@click.option("--yes", is_flag=True, help="Do not ask before indexing more files than maxFiles.")
@click.option("--wait", is_flag=True, help="Wait until all chunks are encoded for search by meaning.")
@click.option(
    "--store", metavar="PLACE", help="Publish the commit in DIR to a folder or an address: see dowse publish."
)
@click.option("--background", is_flag=True, hidden=True, help="Give way to the search that started this process.")
@click.option("--documents", is_flag=True, hidden=True, help="Index the files as documents.")
@json_option
def index(
    folder: Path | None, *, yes: bool, wait: bool, store: str | None, background: bool, documents: bool
) -> CommandReply:
    """Index the files in DIR.

    DIR defaults to the project around the working directory. Only files that changed since the
    last run are read again. Ctrl-C keeps the work done so far, and the next run continues from
    there. To see why a file is left out, run dowse why PATH.

    Search by meaning improves while a server encodes the chunks in the background. --wait encodes
    them now, about 20 per second.

    Exit code 1: no file is indexed, or you declined to index more than maxFiles files.
    """
    if store is not None:
        from dowse.cli.publish_command import publish_folders

        return publish_folders([folder], store)
    if background:  # a search reads the same files meanwhile
        lower_priority()
    warm_up_parser(folder)
    from dowse.indexes.project_lookup import open_project

    project = open_project(folder)
    if documents:
        project = project.seen_as(View.DOCUMENTS)
    if is_memory_small():
        release_memory(arenas=1)  # before a thread has one of its own
    with using(project, project.root.name) as progress:
        report = _update(project, progress, is_confirmed=yes)
        if report is None:
            return CommandReply({"status": "cancelled"}, notes=["Cancelled; nothing was indexed."], exit_code=1)
        if report.is_complete:
            _read_references(project)
            if wait:
                from dowse.keeping.encoding_worker.background_encoder import encode_now

                with progress_bar(f"Encoding {project.root.name}") as encoding:
                    encode_now(project, encoding, lambda text: say(f"dowse: {text}"))
        status = project.status()
    from dowse.surfaces.project.project_replies import indexed_reply

    reply = indexed_reply(status, report.seconds, project.warnings, is_complete=report.is_complete)
    if not report.is_complete:
        interrupted = ["dowse: Interrupted; the work done so far is kept."]
        return CommandReply(reply, _lines(report, status), interrupted, INTERRUPTED)
    return CommandReply(reply, _lines(report, status), exit_code=0 if status.files else 1)


def _update(project: "ProjectIndex", progress: Progress, *, is_confirmed: bool) -> "IndexReport | None":
    """Index a project, after a confirmation if it has more than maxFiles files. Return None if the answer is no."""
    try:
        if not is_confirmed and not project.exists:
            project.require_size()  # ask before anything is written
        say_if_locked(project)
        return project.update(progress, is_confirmed=is_confirmed)
    except TooManyFiles as error:
        if is_confirmed or not sys.stdin.isatty():
            raise
        question = f"{str(error).partition(' Continue')[0]} Continue?"
        return _update(project, progress, is_confirmed=True) if confirm(question) else None


def _read_references(project: "ProjectIndex") -> None:
    """Read who uses what: searches that show callers would read some each time, and take twice as long until all are known."""
    from dowse.indexes.reference_lookup import read_missing_references

    with progress_bar(f"Reading references of {project.root.name}") as progress:
        read_missing_references(project, progress=progress)


def _lines(report: "IndexReport", status: "IndexStatus") -> Iterator[str]:
    yield f"{status.root}: {pluralize(status.files, 'file')}, {pluralize(status.chunks, 'chunk')}"
    yield f"  {format_changes(report)} in {report.seconds:.2f} s"
    for reason, count in report.skipped_by_reason().items():
        yield f"  skipped {count:,}: {reason}"
    for totals in status.totals.values():
        for path in totals.truncated:
            yield f"  cut after 1,000 chunks: {path}"
    for line in format_unparsed(status.unparsed):
        yield f"  {line}"
    if status.problem:
        yield f"  problem: {status.problem}"
    if status.encoding and status.chunks:
        yield f"  {format_encoding(status.encoding)}"
