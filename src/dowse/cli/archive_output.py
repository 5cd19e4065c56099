"""The commands about archives: the database that they open, and how they print documents and citations."""

import contextlib
import html
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import parse_path
from dowse.cli.output import SafeText, escape, pluralize, show, show_warnings
from dowse.cli.result_output import format_flags

if TYPE_CHECKING:
    from dowse.archives.archive_database import ArchiveDatabase
    from dowse.archives.archive_locations import ArchiveLocations
    from dowse.archives.archive_types import ArchiveHit

database_option: Callable[[Any], Any] = click.option(
    "--db", "database", metavar="FILE", help="The database file. Default: SEARCH_DB_PATH or data/search.db."
)
MAX_SHOWN_CITATIONS = 10
"""Citations of a hit that are printed in each direction; --json prints all."""

_MARK = re.compile(r"<mark>(.*?)</mark>", re.DOTALL)

Reply = dict[str, Any]


@contextlib.contextmanager
def open_archives(database: str | None) -> "Iterator[ArchiveDatabase]":
    """Give a block the open database."""
    from dowse.archives.archive_database import open_database

    locations = find_archives(None, None, database)
    show_warnings([*locations.missing().values()])
    with contextlib.closing(open_database(locations.database)) as opened, opened.odd_values_are_damage():
        yield opened


def search_documents(archives: "ArchiveDatabase", query: str, limit: int, *, fuzzy: bool = True) -> "list[ArchiveHit]":
    """Search the archives of an open database, whose folders it has recorded."""
    from dowse.archives.archive_index import open_indexes
    from dowse.archives.archive_search import search_archives

    with open_indexes(archives.locations(), with_missing=True) as indexes:
        return search_archives(indexes, query, limit, fuzzy=fuzzy)


def find_archives(folder: str | None, urls: str | None, database: str | None) -> "ArchiveLocations":
    """Return the locations of the archives that a command line names."""
    from dowse.archives.archive_locations import find_locations

    for named in (folder, urls):
        if named is not None and not parse_path(named).is_dir():
            raise click.UsageError(f"{named} is not a folder.")
    return find_locations(
        parse_path(folder) if folder else None,
        parse_path(urls) if urls else None,
        parse_path(database) if database else None,
    )


def show_document(document: Reply, *more: str) -> None:
    """Print a document on two lines."""
    about = ", ".join(filter(None, (document["date"], document["source"], document["type"])))
    show(escape(document["title"], bold=True), *more, "  ", escape(f"({about})", dim=True))
    show("  ", escape(document["id"], fg="cyan"), "  ", document["path"])


def show_results(results: list[Reply], titles: Mapping[str, str]) -> None:
    """Print hits with their snippets, and with the titles of the archived documents they cite and are cited by."""
    for number, result in enumerate(results):
        if number:
            show()
        document = result["document"]
        flags = [flag for part in (document, *result["highlights"]) for flag in part.get("flags", ())]
        show_document(document, "  ", escape(f"{document['score']:.2f}", dim=True), *format_flags(flags))
        for highlight in result["highlights"]:
            if highlight["field"] != "title":
                for snippet in highlight["snippets"]:
                    show("  ", *_colour_marks(snippet))
        if citations := result.get("citations"):
            _show_citations(citations, titles)


def _show_citations(citations: Reply, titles: Mapping[str, str]) -> None:
    for name, field in (("cites", "citing"), ("is cited by", "cited")):
        found = citations[field]
        if found:
            show(f"  {name}:")
        for citation in found[:MAX_SHOWN_CITATIONS]:
            other = citation.get("targetId", "") if field == "citing" else citation["sourceId"]
            about = citation["targetUrl"] if field == "citing" else citation["context"]
            show("    ", escape(titles.get(other, "(not archived)"), fg="cyan"), "  ", about)
        if len(found) > MAX_SHOWN_CITATIONS:
            show(f"    and {pluralize(len(found) - MAX_SHOWN_CITATIONS, 'more')[:-1]}")


def _colour_marks(snippet: str) -> list[SafeText]:
    pieces = list[SafeText]()
    for number, piece in enumerate(_MARK.split(snippet)):
        text = html.unescape(piece)
        pieces.append(escape(text, fg="red", bold=True) if number % 2 else escape(text))
    return pieces
