"""`dowse archive`: indexes and searches research archives, draws their citations and exports bibliographies."""

import contextlib
import html
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import count_option, json_option, parse_path
from dowse.cli.exit_codes import INTERRUPTED
from dowse.cli.output import CommandReply, SafeText, escape, format_changes, progress_bar, say, show, show_warnings
from dowse.cli.result_output import format_flags
from dowse.errors import Failed
from dowse.system.platform import write_atomically
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.archives.archive_database import ArchiveDatabase
    from dowse.archives.archive_locations import ArchiveLocations
    from dowse.archives.archive_types import ArchiveHit, ArchiveReport, CitationGraph, StoredArchiveDocument

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


def show_results(results: list[Reply], titles: Mapping[str, str]) -> None:
    """Print hits with their snippets, and with the titles of the archived documents they cite and are cited by."""
    for number, result in enumerate(results):
        if number:
            show()
        document = result["document"]
        flags = [flag for part in (document, *result["highlights"]) for flag in part.get("flags", ())]
        about = ", ".join(filter(None, (document["date"], document["source"], document["type"])))
        score = escape(f"{document['score']:.2f}", dim=True)
        show(
            escape(document["title"], bold=True),
            "  ",
            score,
            *format_flags(flags),
            "  ",
            escape(f"({about})", dim=True),
        )
        show("  ", escape(document["id"], fg="cyan"), "  ", document["path"])
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


MAX_NODES = 2000
"""The number of documents up to which a page moves smoothly in a browser."""
MAX_EDGES_PER_NODE = 10


@click.group()
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
@click.option("--prune", is_flag=True, help="Remove the documents of an archive whose folder does not exist.")
@json_option
def index(
    folder: str | None, urls: str | None, database: str | None, *, prune: bool, as_json: bool
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
    show(f"  {format_changes(report)} in {report.seconds:.2f} s")
    for reason, count in report.skipped.items():
        show(f"  skipped {count:,}: {reason}")
    return exit_code


@archive.command()
@click.argument("query")
@count_option("--limit", 50, 10, "Maximum number of documents.")
@click.option("--exact", is_flag=True, help="Match exact words only: no typos, other forms or prefixes.")
@click.option("--citations", is_flag=True, help="Show what each document cites, and what cites it.")
@count_option("--depth", 3, 1, "Depth of the citation graph in the JSON output.")
@database_option
@json_option
def search(
    query: str, database: str | None, *, limit: int, exact: bool, citations: bool, depth: int, as_json: bool
) -> int | CommandReply:
    """Search the archives. Exit code 1 if nothing is found."""
    from dowse.archives.archive_replies import screen_reply, search_reply
    from dowse.indexes.user_settings import masks_secrets

    with open_archives(database) as archives:
        masks = masks_secrets()
        hits = search_documents(archives, query, limit, fuzzy=not exact)
        asked = {
            "query": query,
            "fuzzy": not exact,
            "includeCitations": citations,
            "citationDepth": depth,
            "limit": limit,
        }
        reply = screen_reply(search_reply(archives, hits, asked), masks=masks)
        titles = {document.id: document.title for document in archives.documents().values()} if citations else {}
    exit_code = 0 if hits else 1
    if as_json:
        return CommandReply(reply, exit_code)
    show_results(reply["results"], titles)
    if not hits:
        say(f"Nothing found for: {query}")
    return exit_code


@archive.command()
@click.argument("about", metavar="[QUERY|ID]", required=False)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["html", "graphml"]),
    default="html",
    show_default=True,
    help="Output format.",
)
@click.option("-o", "--output", metavar="FILE", help="Output file; - is stdout.")
@count_option("--depth", 3, 1, "How many levels of citations to follow.")
@count_option("--limit", 50, 10, "Maximum number of documents found to start from.")
@count_option("--most", 20_000, MAX_NODES, "Maximum number of documents to draw.")
@database_option
@json_option
def graph(
    about: str | None, format_: str, output: str | None, database: str | None, **options: Any
) -> int | CommandReply:
    """Draw the graph of citations: around a document, around the results of a QUERY, or the whole graph.

    html opens in any browser and needs no network. Without -o, it is written to archive-graph.html, and graphml
    to stdout. Exit code 1 if there is nothing to draw.
    """
    with open_archives(database) as archives:
        found = _find_graph(archives, about, options)
        if not found.nodes:
            say("There is nothing to draw." if about is None else f"Nothing found for: {about}")
            return CommandReply({"nodes": 0, "edges": 0}, 1) if options["as_json"] else 1
        text = _render(archives, found, format_, about or "Graph of citations")
    if found.truncation:
        say(f"dowse: {found.truncation} Use --most to draw more.")
    destination = output or (f"archive-graph.{format_}" if format_ == "html" or options["as_json"] else "-")
    return _write_output(
        text, destination, {"nodes": len(found.nodes), "edges": len(found.edges)}, as_json=options["as_json"]
    )


@archive.command()
@click.argument("about", metavar="[QUERY|ID]", required=False)
@click.option("-o", "--output", metavar="FILE", default="-", help="Output file. Default: stdout.")
@count_option("--limit", 50, 10, "Maximum number of documents found.")
@database_option
@json_option
def export(about: str | None, output: str, database: str | None, *, limit: int, as_json: bool) -> int | CommandReply:
    """Export documents as BibTeX: the results of a QUERY, one by its ID, or all. Exit code 1 if there are none."""
    from dowse.archives.archive_replies import as_bibtex

    with open_archives(database) as archives:
        documents = _find_documents(archives, about, limit)
        text = as_bibtex(documents)
    if not documents:
        say("There are no documents." if about is None else f"Nothing found for: {about}")
        return CommandReply({"documents": 0}, 1) if as_json else 1
    destination = "archive.bib" if as_json and output == "-" else output
    return _write_output(text, destination, {"documents": len(documents)}, as_json=as_json)


def _index_reply(report: "ArchiveReport", documents: int, locations: "ArchiveLocations") -> dict[str, Any]:
    return {
        "status": "success",
        "database": str(locations.database),
        "archives": {archive: str(root) for archive, root in locations.present.items()},
        "documents": documents,
        **asdict(report),
        "seconds": round(report.seconds, 3),
    }


def _find_graph(archives: "ArchiveDatabase", about: str | None, options: dict[str, Any]) -> "CitationGraph":
    from dowse.archives.citation_graph import graph_from, whole_graph

    bounds = {"max_nodes": options["most"], "max_edges": options["most"] * MAX_EDGES_PER_NODE}
    if about is None:
        return whole_graph(archives, **bounds)
    starts = [document.number for document in _find_documents(archives, about, options["limit"])]
    return graph_from(archives, starts, options["depth"], **bounds)


def _find_documents(archives: "ArchiveDatabase", about: str | None, limit: int) -> "list[StoredArchiveDocument]":
    """Return the document with this name, else those that a search finds; all documents without a name or query."""
    if about is None:
        return list(archives.documents().values())
    if named := archives.find_document(about.strip()):
        return [named]
    found = search_documents(archives, about, limit)
    numbers = archives.numbers(hit.document.id for hit in found)
    documents = archives.documents(numbers.values())
    return [documents[numbers[hit.document.id]] for hit in found if hit.document.id in numbers]


def _render(archives: "ArchiveDatabase", found: "CitationGraph", format_: str, title: str) -> str:
    if format_ == "graphml":
        from dowse.archives.archive_replies import as_graphml

        return as_graphml(found)
    from dowse.archives.graph_page import as_html, page_data

    return as_html(page_data(archives, found, title))


def _write_output(text: str, destination: str, counts: dict[str, Any], *, as_json: bool) -> int | CommandReply:
    data = text.encode("utf-8", "replace")
    if destination == "-":
        if as_json:
            raise click.UsageError("--json reports on a written file; name the file with -o.")
        sys.stdout.buffer.write(data)
        return 0
    file = parse_path(destination)
    try:
        write_atomically(file, data)
        Path(file).chmod(0o644)
    except OSError as error:
        raise Failed(f"{file} cannot be written: {error.strerror or error}.") from error
    say(f"dowse: wrote {file}")
    return CommandReply({**counts, "output": str(file), "bytes": len(data)}) if as_json else 0
