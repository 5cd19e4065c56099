"""`dowse archive`: research archives indexed, searched, and asked what cites what."""

import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import json_option, named_path
from dowse.cli.exit_codes import INTERRUPTED
from dowse.cli.output import CommandReply, counted, progress_bar, say, show, show_warnings

if TYPE_CHECKING:
    from dowse.archives.archive_database import ArchiveDatabase
    from dowse.archives.archive_locations import ArchiveLocations
    from dowse.archives.archive_types import ArchiveReport
    from dowse.errors import DowseError

database_option: Callable[[Any], Any] = click.option(
    "--db", "database", metavar="FILE", help="The database (SEARCH_DB_PATH, else data/search.db)."
)
inferred_option: Callable[[Any], Any] = click.option(
    "--inferred", is_flag=True, help="Also citations that are inferred: plain mentions, quotations."
)

_LATER = {
    "citations": "dowse.cli.archive_graph_command:citations",
    "path": "dowse.cli.archive_graph_command:path",
    "most-cited": "dowse.cli.archive_graph_command:most_cited",
    "orphans": "dowse.cli.archive_graph_command:orphans",
    "broken": "dowse.cli.archive_graph_command:broken",
    "duplicates": "dowse.cli.archive_graph_command:duplicates",
    "graph": "dowse.cli.archive_picture_options:graph",
    "export": "dowse.cli.archive_picture_options:export",
}


class _Commands(click.Group):
    """Imports the commands of the graph when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *_LATER]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _LATER:
            return super().get_command(ctx, cmd_name)
        module, _, name = _LATER[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(cls=_Commands)
def archive() -> None:
    """Search research archives, and see what cites what.

    Archives are folders of reports and of captured web pages. They are where RESEARCH_ARCHIVE_PATH and
    URL_CONTENT_ARCHIVE_PATH say, else ./research-archive and ./url-content-archive; the database is
    where SEARCH_DB_PATH says, else ./data/search.db. Every command takes --json. docs/archive.md has the rest.
    """


@archive.command()
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--urls", metavar="DIR", help="The archive of captured pages.")
@database_option
@click.option("--watch", is_flag=True, help="Go on, and index again after every change.")
@click.option("--quotes/--no-quotes", default=None, help="Also find captured pages that reports quote; stays so.")
@click.option("--prune", is_flag=True, help="Remove the documents of an archive whose folder is gone.")
@json_option
def index(
    folder: str | None,
    urls: str | None,
    database: str | None,
    *,
    watch: bool,
    quotes: bool | None,
    prune: bool,
    as_json: bool,
) -> int | CommandReply:
    """Index the archive in DIR, and that of captured pages.

    Only what changed since the last run is read again. A run is taken over as a whole: Ctrl-C leaves
    what was there before. Exit code 1 when there is no document.
    """
    from dowse.archives.archive_database import create_database
    from dowse.archives.archive_watcher import index_once, run_lock

    places = _places(folder, urls, database)
    if watch:
        if as_json or prune or quotes is not None:
            raise click.UsageError("--watch goes with neither --json, --prune nor --quotes.")
        return _watch(places)
    opened = create_database(places.database)
    try:
        if run_lock(places).is_taken():
            say(f"dowse: waiting for {run_lock(places).owner()} to finish indexing")
        with progress_bar("Indexing archives") as progress:
            report = index_once(opened, places, progress, prunes=prune, quotes=quotes)
        ((documents,),) = opened.rows("SELECT COUNT(*) FROM documents")
    except KeyboardInterrupt:
        say("dowse: Interrupted; the database is as it was before.")
        return CommandReply({"status": "interrupted"}, INTERRUPTED) if as_json else INTERRUPTED
    finally:
        opened.close()
    show_warnings(report.warnings)
    exit_code = 0 if documents else 1
    if as_json:
        return CommandReply(_as_json(report, documents, places), exit_code)
    show(f"{places.database}: {counted(documents, 'document')}, {counted(report.citations, 'citation')}")
    show(f"  {_changes(report)} in {report.seconds:.2f} s")
    for reason, count in report.skipped.items():
        show(f"  skipped {count:,}: {reason}")
    return exit_code


@archive.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 50), default=10, show_default=True, help="How many documents.")
@click.option("--exact", is_flag=True, help="Exact words: no typos, forms or beginnings.")
@click.option("--citations", is_flag=True, help="Show what each document cites, and what cites it.")
@click.option("--depth", type=click.IntRange(1, 3), default=1, show_default=True, help="Levels of the graph in JSON.")
@inferred_option
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
    inferred: bool,
    as_json: bool,
) -> int | CommandReply:
    """Search the archives. Exit code 1 when nothing is found."""
    from dowse.archives.archive_replies import search_reply
    from dowse.archives.archive_search import search as search_archives
    from dowse.archives.reply_screening import screened
    from dowse.indexes.masking_setting import masks_secrets

    with opened(database) as archives:
        masks = masks_secrets()
        hits = search_archives(archives, query, limit, fuzzy=not exact, masks=masks)
        found = search_reply(
            archives, hits, query=query, fuzzy=not exact, include_citations=citations, citation_depth=depth,
            limit=limit, inferred=inferred,
        )  # fmt: skip
        reply = screened(found, masks=masks)
        titles = {one.id: one.title for one in archives.documents().values()} if citations else {}
    exit_code = 0 if hits else 1
    if as_json:
        return CommandReply(reply, exit_code)
    from dowse.cli.archive_output import show_results

    show_results(reply["results"], titles)
    if not hits:
        say(f"Nothing found for: {query}")
    return exit_code


class opened:  # noqa: N801 - used like a function
    """The database for the length of a block."""

    def __init__(self, database: str | None) -> None:
        self._named = database

    def __enter__(self) -> "ArchiveDatabase":
        from dowse.archives.archive_database import open_database

        self._database = open_database(_places(None, None, self._named).database)
        return self._database

    def __exit__(self, *_: object) -> None:
        self._database.close()


def _places(folder: str | None, urls: str | None, database: str | None) -> "ArchiveLocations":
    from dowse.archives.archive_locations import find_places

    for named in (folder, urls):
        if named is not None and not named_path(named).is_dir():
            raise click.UsageError(f"{named} is not a folder.")
    return find_places(
        named_path(folder) if folder else None,
        named_path(urls) if urls else None,
        named_path(database) if database else None,
    )


def _watch(places: "ArchiveLocations") -> int:
    from dowse.archives.archive_database import create_database
    from dowse.archives.archive_types import ArchiveReport
    from dowse.archives.archive_watcher import keep

    create_database(places.database).close()  # what is wrong with it is said here, and not in a thread

    def told(what: "ArchiveReport | DowseError") -> None:
        if isinstance(what, ArchiveReport):
            if what.changed_anything or not has_begun:
                show(f"{_changes(what)} in {what.seconds:.2f} s; {counted(what.citations, 'citation')}")
            has_begun.append(True)
            show_warnings(what.warnings)
        else:
            say(f"dowse: {what}")

    has_begun = list[bool]()
    stop = threading.Event()
    say("dowse: watching the archives; Ctrl-C ends it")
    # In a thread of its own: the library that watches would swallow a Ctrl-C.
    thread = threading.Thread(target=keep, args=(places, stop, told))
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
    said = [f"{count:,} {what}" for what, count in counts.items() if count]
    return ", ".join([*said, f"{report.unchanged:,} unchanged"])


def _as_json(report: "ArchiveReport", documents: int, places: "ArchiveLocations") -> dict[str, Any]:
    return {
        "status": "success",
        "database": str(places.database),
        "archives": {archive: str(root) for archive, root in places.present.items()},
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
