"""`dowse archive`: indexes and searches research archives, and answers queries about their citations."""

import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import json_option, parse_path
from dowse.cli.exit_codes import INTERRUPTED
from dowse.cli.output import CommandReply, pluralize, progress_bar, say, show, show_warnings

if TYPE_CHECKING:
    from dowse.archives.archive_database import ArchiveDatabase
    from dowse.archives.archive_locations import ArchiveLocations
    from dowse.archives.archive_types import ArchiveReport
    from dowse.errors import DowseError

database_option: Callable[[Any], Any] = click.option(
    "--db", "database", metavar="FILE", help="The database file. Default: SEARCH_DB_PATH or data/search.db."
)

_LAZY_COMMANDS = {
    "citations": "dowse.cli.archive_graph_command:citations",
    "most-cited": "dowse.cli.archive_graph_command:most_cited",
    "broken": "dowse.cli.archive_graph_command:broken",
    "graph": "dowse.cli.archive_picture_options:graph",
    "export": "dowse.cli.archive_picture_options:export",
}


class _LazyGroup(click.Group):
    """A command group that imports the commands of the graph when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *_LAZY_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _LAZY_COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, _, name = _LAZY_COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(cls=_LazyGroup)
def archive() -> None:
    """Search research archives and their citations.

    Archives are folders of reports and captured web pages. RESEARCH_ARCHIVE_PATH and URL_CONTENT_ARCHIVE_PATH
    name them, by default ./research-archive and ./url-content-archive; SEARCH_DB_PATH names the database, by
    default ./data/search.db. Every command takes --json. For more, see docs/archive.md.
    """


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
    from dowse.archives.archive_watcher import index_once, run_lock

    locations = _find_locations(folder, urls, database)
    if watch:
        if as_json or prune:
            raise click.UsageError("--watch cannot be combined with --json or --prune.")
        return _watch(locations)
    opened = create_database(locations.database)
    try:
        if run_lock(locations).is_taken():
            say(f"dowse: waiting for {run_lock(locations).owner()} to finish indexing")
        with progress_bar("Indexing archives") as progress:
            report = index_once(opened, locations, progress, prunes=prune)
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
    from dowse.archives.archive_replies import search_reply
    from dowse.archives.archive_search import search_archives
    from dowse.archives.reply_screening import screen_reply
    from dowse.indexes.masking_setting import masks_secrets

    with open_archives(database) as archives:
        masks = masks_secrets()
        hits = search_archives(archives, query, limit, fuzzy=not exact, masks=masks)
        found = search_reply(
            archives, hits, query=query, fuzzy=not exact, include_citations=citations, citation_depth=depth,
            limit=limit,
        )  # fmt: skip
        reply = screen_reply(found, masks=masks)
        titles = {document.id: document.title for document in archives.documents().values()} if citations else {}
    exit_code = 0 if hits else 1
    if as_json:
        return CommandReply(reply, exit_code)
    from dowse.cli.archive_output import show_results

    show_results(reply["results"], titles)
    if not hits:
        say(f"Nothing found for: {query}")
    return exit_code


class open_archives:  # noqa: N801 - used like a function
    """A context manager that opens the database and closes it at the end."""

    def __init__(self, database: str | None) -> None:
        self._path = database

    def __enter__(self) -> "ArchiveDatabase":
        from dowse.archives.archive_database import open_database

        locations = _find_locations(None, None, self._path)
        show_warnings([*locations.missing().values()])
        self._database = open_database(locations.database)
        return self._database

    def __exit__(self, *_: object) -> None:
        self._database.close()


def _find_locations(folder: str | None, urls: str | None, database: str | None) -> "ArchiveLocations":
    from dowse.archives.archive_locations import find_locations

    for named in (folder, urls):
        if named is not None and not parse_path(named).is_dir():
            raise click.UsageError(f"{named} is not a folder.")
    return find_locations(
        parse_path(folder) if folder else None,
        parse_path(urls) if urls else None,
        parse_path(database) if database else None,
    )


def _watch(locations: "ArchiveLocations") -> int:
    from dowse.archives.archive_database import create_database
    from dowse.archives.archive_types import ArchiveReport
    from dowse.archives.archive_watcher import keep_indexed

    create_database(locations.database).close()  # raises its errors here rather than in the thread

    has_reported = False

    def show_result(result: "ArchiveReport | DowseError") -> None:
        nonlocal has_reported
        if isinstance(result, ArchiveReport):
            if result.changed_anything or not has_reported:
                show(f"{_changes(result)} in {result.seconds:.2f} s; {pluralize(result.citations, 'citation')}")
            has_reported = True
            show_warnings(result.warnings)
        else:
            say(f"dowse: {result}")

    stop = threading.Event()
    say("dowse: watching the archives; press Ctrl-C to stop")
    # In a thread, because the library that watches files would swallow Ctrl-C.
    thread = threading.Thread(target=keep_indexed, args=(locations, stop, show_result))
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.2)
    except KeyboardInterrupt:
        stop.set()
        thread.join()
    return 0


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
