"""`dowse archive graph|export`: pictures of the graph of citations, and files for other programs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.archive_command import database_option, open_archives
from dowse.cli.common_arguments import json_option, parse_path
from dowse.cli.output import CommandReply, say
from dowse.errors import Failed
from dowse.platform import write_atomically

if TYPE_CHECKING:
    from dowse.archives.archive_database import ArchiveDatabase
    from dowse.archives.archive_types import CitationGraph, StoredArchiveDocument

MAX_NODES = 2000
"""The number of documents up to which a page moves smoothly in a browser."""
MAX_EDGES_PER_NODE = 10


@click.command()
@click.argument("about", metavar="[QUERY|ID]", required=False)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["html", "json", "graphml"]),
    default="html",
    show_default=True,
    help="Output format.",
)
@click.option("-o", "--output", metavar="FILE", help="Output file; - is stdout.")
@click.option(
    "--depth",
    type=click.IntRange(1, 3),
    default=1,
    show_default=True,
    help="How many levels of citations to follow.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, 50),
    default=10,
    show_default=True,
    help="Maximum number of documents found to start from.",
)
@click.option(
    "--most",
    type=click.IntRange(1, 20_000),
    default=MAX_NODES,
    show_default=True,
    help="Maximum number of documents to draw.",
)
@database_option
@json_option
def graph(
    about: str | None, format_: str, output: str | None, database: str | None, **options: Any
) -> int | CommandReply:
    """Draw the graph of citations: around a document, around the results of a QUERY, or the whole graph.

    html opens in any browser and needs no network. Without -o, it is written to archive-graph.html, and the
    other formats to stdout. Exit code 1 if there is nothing to draw.
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


@click.command()
@click.argument("about", metavar="[QUERY|ID]", required=False)
@click.option("--format", "format_", type=click.Choice(["bibtex", "json"]), default="bibtex", show_default=True, help="bibtex exports the documents found, json exports everything.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", default="-", help="Output file. Default: stdout.")
@click.option(
    "--limit", type=click.IntRange(1, 50), default=10, show_default=True, help="Maximum number of documents found."
)
@database_option
@json_option
def export(
    about: str | None, format_: str, output: str, database: str | None, *, limit: int, as_json: bool
) -> int | CommandReply:
    """Export documents: the results of a QUERY, one by its ID, or all. Exit code 1 if there are none."""
    from dowse.archives import exports

    if format_ == "json" and about is not None:
        raise click.UsageError(
            "--format json exports everything and takes no query. For the results of a query, use dowse archive search --json."
        )
    with open_archives(database) as archives:
        documents = _find_documents(archives, about, limit)
        text = exports.as_bibtex(documents) if format_ == "bibtex" else "".join(exports.export_all(archives))
    if not documents:
        say("There are no documents." if about is None else f"Nothing found for: {about}")
        return CommandReply({"documents": 0}, 1) if as_json else 1
    destination = f"archive.{'bib' if format_ == 'bibtex' else 'json'}" if as_json and output == "-" else output
    return _write_output(text, destination, {"documents": len(documents)}, as_json=as_json)


def _find_graph(archives: "ArchiveDatabase", about: str | None, options: dict[str, Any]) -> "CitationGraph":
    from dowse.archives.citation_graph import graph_from, whole_graph

    bounds: dict[str, Any] = {
        "max_nodes": options["most"], "max_edges": options["most"] * MAX_EDGES_PER_NODE,
    }  # fmt: skip
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
    from dowse.archives.archive_search import search_archives

    return [hit.document for hit in search_archives(archives, about, limit)]


def _render(archives: "ArchiveDatabase", found: "CitationGraph", format_: str, title: str) -> str:
    from dowse.archives.graph_pictures import graph_formats

    if format_ == "json":
        return graph_formats.as_json(found)
    if format_ == "graphml":
        return graph_formats.as_graphml(found)
    from dowse.archives.graph_pictures.graph_page import as_html, page_data

    return as_html(page_data(archives, found, title, with_text=True))


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
