"""`dowse archive`: indexes and searches research archives, and draws their citations."""

import contextlib
import html
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import (
    FILE,
    FILE_TEXT,
    FOLDER,
    count_option,
    folder_argument,
    json_option,
    parse_path,
    prints_json,
    value_option,
)
from dowse.cli.output import (
    INTERRUPTED,
    CommandReply,
    SafeText,
    escape,
    format_changes,
    progress_bar,
    say,
    show_warnings,
)
from dowse.cli.result_output import format_flags
from dowse.errors import Failed, UsageError
from dowse.system.platform import SHARED_MODE, write_atomically
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.archives.archive_database import ArchiveDatabase
    from dowse.archives.archive_types import ArchiveHit, CitationGraph

database_option: Callable[[Any], Any] = click.option(
    "--db", "database", metavar="FILE", type=FILE, help="The database file. Default: SEARCH_DB_PATH or data/search.db."
)
MAX_SHOWN_CITATIONS = 10
"""Citations of a hit that are printed in each direction; --json prints all."""

_MARK = re.compile(r"<mark>(.*?)</mark>", re.DOTALL)

Reply = dict[str, Any]


@contextlib.contextmanager
def open_archives(database: Path | None) -> "Iterator[ArchiveDatabase]":
    """Give a block the open database."""
    from dowse.archives.archive_database import open_database
    from dowse.archives.archive_locations import find_locations

    locations = find_locations(database=database)
    show_warnings([*locations.missing().values()])
    with contextlib.closing(open_database(locations.database)) as opened, opened.odd_values_are_damage():
        yield opened


def search_documents(archives: "ArchiveDatabase", query: str, limit: int, *, fuzzy: bool = True) -> "list[ArchiveHit]":
    """Search the archives of an open database, whose folders it has recorded."""
    from dowse.archives.archive_index import open_indexes
    from dowse.archives.archive_search import search_archives

    with open_indexes(archives.locations(), with_missing=True) as indexes:
        return search_archives(indexes, query, limit, fuzzy=fuzzy)


def _result_lines(results: list[Reply], titles: Mapping[str, str]) -> Iterator[str | tuple[str, ...]]:
    """Yield hits with their snippets, and with the titles of the archived documents they cite and are cited by."""
    for number, result in enumerate(results):
        if number:
            yield ""
        document = result["document"]
        flags = [flag for part in (document, *result["highlights"]) for flag in part.get("flags", ())]
        about = ", ".join(filter(None, (document["date"], document["source"], document["type"])))
        title, score = escape(document["title"], bold=True), escape(f"{document['score']:.2f}", dim=True)
        yield title, "  ", score, *format_flags(flags), "  ", escape(f"({about})", dim=True)
        yield "  ", escape(document["id"], fg="cyan"), "  ", document["path"]
        for highlight in result["highlights"]:
            if highlight["field"] != "title":
                for snippet in highlight["snippets"]:
                    yield "  ", *_colour_marks(snippet)
        if citations := result.get("citations"):
            yield from _citation_lines(citations, titles)


def _citation_lines(citations: Reply, titles: Mapping[str, str]) -> Iterator[str | tuple[str, ...]]:
    for name, field in (("cites", "citing"), ("is cited by", "cited")):
        found = citations[field]
        if found:
            yield f"  {name}:"
        for citation in found[:MAX_SHOWN_CITATIONS]:
            other = citation.get("targetId", "") if field == "citing" else citation["sourceId"]
            about = citation["targetUrl"] if field == "citing" else citation["context"]
            yield "    ", escape(titles.get(other, "(not archived)"), fg="cyan"), "  ", about
        if len(found) > MAX_SHOWN_CITATIONS:
            yield f"    and {len(found) - MAX_SHOWN_CITATIONS:,} more"


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
@folder_argument
@click.option("--urls", metavar="DIR", type=FOLDER, help="The folder of captured pages.")
@database_option
@click.option("--prune", is_flag=True, help="Remove the documents of an archive whose folder does not exist.")
@json_option
def index(folder: Path | None, urls: Path | None, database: Path | None, *, prune: bool) -> CommandReply:
    """Index the archive in DIR, and the archive of captured pages.

    Only changed files are read again. A run takes effect as a whole: after Ctrl-C the database is unchanged.
    Exit code 1 if there are no documents.
    """
    from dowse.archives.archive_database import create_database
    from dowse.archives.archive_locations import find_locations
    from dowse.archives.archive_update import index_archives

    locations = find_locations(folder, urls, database)
    opened = create_database(locations.database)
    try:
        with progress_bar("Indexing archives") as progress:
            report = index_archives(
                opened, locations, progress, prunes=prune,
                on_wait=lambda process: say(f"dowse: waiting for {process} to finish indexing"),
            )  # fmt: skip
        ((documents,),) = opened.rows("SELECT COUNT(*) FROM documents")
    except KeyboardInterrupt:
        interrupted = ["dowse: Interrupted; the database is unchanged."]
        return CommandReply({"status": "interrupted"}, notes=interrupted, exit_code=INTERRUPTED)
    finally:
        opened.close()
    show_warnings(report.warnings)
    reply = {
        "status": "success",
        "database": str(locations.database),
        "archives": {archive: str(root) for archive, root in locations.present.items()},
        "documents": documents,
        **asdict(report),
        "seconds": round(report.seconds, 3),
    }
    lines = [
        f"{locations.database}: {pluralize(documents, 'document')}, {pluralize(report.citations, 'citation')}",
        f"  {format_changes(report)} in {report.seconds:.2f} s",
        *(f"  skipped {count:,}: {reason}" for reason, count in report.skipped.items()),
    ]
    return CommandReply(reply, lines, exit_code=0 if documents else 1)


@archive.command()
@click.argument("query")
@count_option("--limit", 50, 10, "Maximum number of documents.")
@click.option("--exact", is_flag=True, help="Match exact words only: no typos, other forms or prefixes.")
@click.option("--citations", is_flag=True, help="Show what each document cites, and what cites it.")
@count_option("--depth", 3, 1, "Depth of the citation graph in the JSON output.")
@database_option
@json_option
def search(query: str, database: Path | None, *, limit: int, exact: bool, citations: bool, depth: int) -> CommandReply:
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
    if not hits:
        return CommandReply(reply, notes=[f"Nothing found for: {query}"], exit_code=1)
    return CommandReply(reply, _result_lines(reply["results"], titles))


@archive.command()
@click.argument("about", metavar="[QUERY|ID]", required=False)
@value_option("--format", ("html", "graphml", "bibtex"), "html", "Output format.", names=["format_"])
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=FILE_TEXT,
    help="Output file; - is stdout. Default: archive-graph and the name of the format.",
)
@count_option("--depth", 3, 1, "How many levels of citations to follow.")
@count_option("--limit", 50, 10, "Maximum number of documents found to start from.")
@count_option("--most", 20_000, MAX_NODES, "Maximum number of documents to draw.")
@database_option
@json_option
def graph(about: str | None, format_: str, output: str | None, database: Path | None, **options: Any) -> CommandReply:
    """Draw the graph of citations: around a document, around the results of a QUERY, or the whole graph.

    html opens in any browser and needs no network; graphml is for other programs, and bibtex has an entry for each
    document. Exit code 1 if there is nothing to draw.
    """
    if output == "-" and prints_json():
        raise UsageError("With --json, name a FILE for the graph.")
    with open_archives(database) as archives:
        found = _find_graph(archives, about, options)
        if not found.nodes:
            note = "There is nothing to draw." if about is None else f"Nothing found for: {about}"
            return CommandReply({"nodes": 0, "edges": 0}, notes=[note], exit_code=1)
        text = _render(archives, found, format_, about or "Graph of citations")
    if found.truncation:
        say(f"dowse: {found.truncation} Use --most to draw more.")
    counts = {"nodes": len(found.nodes), "edges": len(found.edges)}
    if output == "-":
        return CommandReply(counts, [*text.split("\n")] if sys.stdout.isatty() else [SafeText(text)])
    file = Path.cwd() / f"archive-graph.{format_}" if output is None else parse_path(output)
    try:
        write_atomically(file, data := text.encode("utf-8", "replace"), mode=SHARED_MODE)
    except OSError as error:
        raise Failed(f"{file} cannot be written: {error.strerror or error}.") from error
    say(f"dowse: wrote {file}")
    return CommandReply({**counts, "output": str(file), "bytes": len(data)})


def _render(archives: "ArchiveDatabase", found: "CitationGraph", format_: str, title: str) -> str:
    from dowse.archives.archive_replies import as_bibtex, as_graphml
    from dowse.archives.graph_page import as_html, page_data

    match format_:
        case "graphml":
            return as_graphml(found)
        case "bibtex":
            return as_bibtex(node.document for node in found.nodes)
    return as_html(page_data(archives, found, title))


def _find_graph(archives: "ArchiveDatabase", about: str | None, options: dict[str, Any]) -> "CitationGraph":
    from dowse.archives.citation_graph import graph_from, whole_graph

    bounds = {"max_nodes": options["most"], "max_edges": options["most"] * MAX_EDGES_PER_NODE}
    if about is None:
        return whole_graph(archives, **bounds)
    if named := archives.find_document(about.strip()):
        starts = [named.number]
    else:
        hits = search_documents(archives, about, options["limit"])
        numbers = archives.numbers(hit.document.id for hit in hits)
        starts = [numbers[hit.document.id] for hit in hits if hit.document.id in numbers]
    return graph_from(archives, starts, options["depth"], **bounds)
