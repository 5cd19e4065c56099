"""`dowse archive`: indexes and searches research archives, and answers queries about their citations."""

import time
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.archive_graph_command import broken, citations, export, graph, most_cited
from dowse.cli.archive_output import database_option, find_archives, open_archives, search_documents, show_results
from dowse.cli.common_arguments import json_option
from dowse.cli.exit_codes import INTERRUPTED
from dowse.cli.output import CommandReply, pluralize, progress_bar, say, show, show_warnings

if TYPE_CHECKING:
    from dowse.archives.archive_locations import ArchiveLocations
    from dowse.archives.archive_types import ArchiveReport

WATCH_CHECK_SECONDS = 0.5
"""Time between two checks whether an archive has appeared."""


@click.group()
def archive() -> None:
    """Search research archives and their citations.

    Archives are folders of reports and captured web pages. RESEARCH_ARCHIVE_PATH and URL_CONTENT_ARCHIVE_PATH
    name them, by default ./research-archive and ./url-content-archive; SEARCH_DB_PATH names the database, by
    default ./data/search.db. Every command takes --json. For more, see docs/archive.md.
    """


for _command in (broken, citations, export, graph, most_cited):
    archive.add_command(_command)


@archive.command()
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--urls", metavar="DIR", help="The folder of captured pages.")
@database_option
@click.option("--watch", is_flag=True, help="Keep running, and index again after every change.")
@click.option("--prune", is_flag=True, help="Remove the documents of an archive whose folder does not exist.")
@json_option
def index(
    folder: str | None,
    urls: str | None,
    database: str | None,
    *,
    watch: bool,
    prune: bool,
    as_json: bool,
) -> int | CommandReply:
    """Index the archive in DIR, and the archive of captured pages.

    Only changed files are read again. A run takes effect as a whole: after Ctrl-C the database is unchanged.
    Exit code 1 if there are no documents.
    """
    from dowse.archives.archive_database import create_database
    from dowse.archives.archive_update import index_archives

    locations = find_archives(folder, urls, database)
    opened = create_database(locations.database)
    try:
        if watch:
            if as_json or prune:
                raise click.UsageError("--watch cannot be combined with --json or --prune.")
            return _watch(locations)
        with progress_bar("Indexing archives") as progress:
            report = index_archives(
                opened, locations, progress, prunes=prune,
                on_wait=lambda process: say(f"dowse: waiting for {process} to finish indexing"),
            )  # fmt: skip
        ((documents,),) = opened.rows("SELECT COUNT(*) FROM documents")
    except KeyboardInterrupt:
        say("dowse: Interrupted; the database is unchanged.")
        return CommandReply({"status": "interrupted"}, INTERRUPTED) if as_json else INTERRUPTED
    finally:
        opened.close()
    show_warnings(report.warnings)
    exit_code = 0 if documents else 1
    if as_json:
        return CommandReply(_index_reply(report, documents, locations), exit_code)
    show(f"{locations.database}: {pluralize(documents, 'document')}, {pluralize(report.citations, 'citation')}")
    show(f"  {_changes(report)} in {report.seconds:.2f} s")
    for reason, count in report.skipped.items():
        show(f"  skipped {count:,}: {reason}")
    return exit_code


@archive.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 50), default=10, show_default=True, help="Maximum number of documents.")
@click.option("--exact", is_flag=True, help="Match exact words only: no typos, other forms or prefixes.")
@click.option("--citations", is_flag=True, help="Show what each document cites, and what cites it.")
@click.option(
    "--depth",
    type=click.IntRange(1, 3),
    default=1,
    show_default=True,
    help="Depth of the citation graph in the JSON output.",
)
@database_option
@json_option
def search(
    query: str,
    database: str | None,
    *,
    limit: int,
    exact: bool,
    citations: bool,
    depth: int,
    as_json: bool,
) -> int | CommandReply:
    """Search the archives. Exit code 1 if nothing is found."""
    from dowse.archives.archive_replies import screen_reply, search_reply
    from dowse.indexes.masking_setting import masks_secrets

    with open_archives(database) as archives:
        masks = masks_secrets()
        hits = search_documents(archives, query, limit, fuzzy=not exact)
        found = search_reply(
            archives, hits, query=query, fuzzy=not exact, include_citations=citations, citation_depth=depth,
            limit=limit,
        )  # fmt: skip
        reply = screen_reply(found, masks=masks)
        titles = {document.id: document.title for document in archives.documents().values()} if citations else {}
    exit_code = 0 if hits else 1
    if as_json:
        return CommandReply(reply, exit_code)
    show_results(reply["results"], titles)
    if not hits:
        say(f"Nothing found for: {query}")
    return exit_code


def _watch(locations: "ArchiveLocations") -> int:
    """Index the archives, and again after every change, until Ctrl-C."""
    from dowse.errors import DowseError
    from dowse.surfaces.archives.archive_keeping import ArchiveKeeping

    has_reported = False

    def show_result(result: "ArchiveReport | DowseError") -> None:
        nonlocal has_reported
        if isinstance(result, DowseError):
            say(f"dowse: {result}")
            return
        if result.changed_anything or not has_reported:
            show(f"{_changes(result)} in {result.seconds:.2f} s; {pluralize(result.citations, 'citation')}")
        has_reported = True
        show_warnings(result.warnings)

    keeping = ArchiveKeeping(locations, show_result)
    say("dowse: watching the archives; press Ctrl-C to stop")
    try:
        while True:
            keeping.open()  # an archive may appear later
            time.sleep(WATCH_CHECK_SECONDS)
    except KeyboardInterrupt:
        return 0
    finally:
        keeping.close()


def _changes(report: "ArchiveReport") -> str:
    counts = {"added": report.added, "updated": report.updated, "removed": report.removed}
    changes = [f"{count:,} {change}" for change, count in counts.items() if count]
    return ", ".join([*changes, f"{report.unchanged:,} unchanged"])


def _index_reply(report: "ArchiveReport", documents: int, locations: "ArchiveLocations") -> dict[str, Any]:
    return {
        "status": "success",
        "database": str(locations.database),
        "archives": {archive: str(root) for archive, root in locations.present.items()},
        "documents": documents,
        "citations": report.citations,
        "added": report.added,
        "updated": report.updated,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "skipped": report.skipped,
        "warnings": report.warnings,
        "seconds": round(report.seconds, 3),
    }
