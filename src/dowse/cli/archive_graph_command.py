"""`dowse archive citations|most-cited|broken|graph|export`: queries about citations, and their graph for other programs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.archive_output import database_option, open_archives, search_documents, show_document
from dowse.cli.common_arguments import json_option, parse_path
from dowse.cli.output import CommandReply, escape, pluralize, say, show
from dowse.errors import Failed
from dowse.platform import write_atomically

if TYPE_CHECKING:
    from dowse.archives.archive_database import ArchiveDatabase
    from dowse.archives.archive_types import CitationGraph, StoredArchiveDocument

MAX_NODES = 2000
"""The number of documents up to which a page moves smoothly in a browser."""
MAX_EDGES_PER_NODE = 10

limit_option = click.option(
    "--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="Maximum number of results."
)


@click.command()
@click.argument("document")
@click.option("--only", type=click.Choice(["citing", "cited"]), help="Show only what it cites, or only what cites it.")
@limit_option
@database_option
@json_option
def citations(
    document: str, only: str | None, database: str | None, *, limit: int, as_json: bool
) -> int | CommandReply:
    """Show what DOCUMENT cites, and what cites it.

    DOCUMENT is an id, path, URL or title. Exit code 1 if there are no citations.
    """
    from dowse.archives.archive_replies import citations_reply

    with open_archives(database) as archives:
        reply = citations_reply(archives, archives.document(document), direction=only or "both", depth=1, limit=limit)
    reply = _screen(reply)
    exit_code = 0 if reply.get("citing") or reply.get("cited") else 1
    if as_json:
        return CommandReply(reply, exit_code)
    show_document(reply["document"])
    for name, words in (("citing", "cites"), ("cited", "is cited by")):
        if name in reply:
            show()
            show(f"{words} ({reply[f'total{name.capitalize()}']:,}):")
            for citation in reply[name]:
                _show_citation(citation, name)
    return exit_code


@click.command("most-cited")
@limit_option
@database_option
@json_option
def most_cited(database: str | None, *, limit: int, as_json: bool) -> int | CommandReply:
    """List the most cited documents and pages, archived or not."""
    from dowse.archives.archive_replies import most_cited_reply

    with open_archives(database) as archives:
        reply = most_cited_reply(archives, limit)
    if as_json:
        return CommandReply(reply)
    for document in reply["documents"]:
        show_document(document, f"  cited by {pluralize(document['citedBy'], 'document')}")
    if reply["outside"]:
        show()
        show("not archived:")
    for page in reply["outside"]:
        show(f"  {page['citedBy']:>5,}  ", page["url"])
    return 0


@click.command()
@limit_option
@database_option
@json_option
def broken(database: str | None, *, limit: int, as_json: bool) -> int | CommandReply:
    """List broken links between documents. Exit code 1 if there are any."""
    from dowse.archives.archive_replies import broken_reply

    with open_archives(database) as archives:
        reply = broken_reply(archives, limit)
    reply = _screen(reply)
    exit_code = 1 if reply["total"] else 0
    if as_json:
        return CommandReply(reply, exit_code)
    for link in reply["links"]:
        line = f":{link['line']}: " if link["line"] else ": "
        problem = escape(f"({link['problem']})", dim=True)
        show(escape(link["sourcePath"], bold=True), line, link["targetUrl"], "  ", problem)
    _say_more(len(reply["links"]), reply["total"], "broken link")
    return exit_code


@click.command()
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


@click.command()
@click.argument("about", metavar="[QUERY|ID]", required=False)
@click.option("-o", "--output", metavar="FILE", default="-", help="Output file. Default: stdout.")
@click.option(
    "--limit", type=click.IntRange(1, 50), default=10, show_default=True, help="Maximum number of documents found."
)
@database_option
@json_option
def export(about: str | None, output: str, database: str | None, *, limit: int, as_json: bool) -> int | CommandReply:
    """Export documents as BibTeX: the results of a QUERY, one by its ID, or all. Exit code 1 if there are none."""
    from dowse.archives.exports import as_bibtex

    with open_archives(database) as archives:
        documents = _find_documents(archives, about, limit)
        text = as_bibtex(documents)
    if not documents:
        say("There are no documents." if about is None else f"Nothing found for: {about}")
        return CommandReply({"documents": 0}, 1) if as_json else 1
    destination = "archive.bib" if as_json and output == "-" else output
    return _write_output(text, destination, {"documents": len(documents)}, as_json=as_json)


def _show_citation(citation: dict[str, Any], name: str) -> None:
    id_ = citation.get("targetId", "(not archived)") if name == "citing" else citation["sourceId"]
    title = citation.get("targetTitle", citation["targetUrl"]) if name == "citing" else citation["sourceTitle"]
    problem = f"  ({citation['problem']})" if citation.get("problem") else ""
    show("  ", escape(id_, fg="cyan"), "  ", escape(title, bold=True), problem)
    show("    ", escape(citation["context"], dim=True))


def _screen(reply: dict[str, Any]) -> dict[str, Any]:
    """Return a reply with secrets masked, and with content warnings."""
    from dowse.archives.archive_replies import screen_reply
    from dowse.indexes.masking_setting import masks_secrets

    return screen_reply(reply, masks=masks_secrets())


def _say_more(shown_count: int, total: int, noun: str) -> None:
    if not total:
        say(f"No {noun}.")
    elif shown_count < total:
        say(f"{shown_count:,} of {pluralize(total, noun)}; --limit shows more.")


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
    found = search_documents(archives, about, limit)
    numbers = archives.numbers(hit.document.id for hit in found)
    documents = archives.documents(numbers.values())
    return [documents[numbers[hit.document.id]] for hit in found if hit.document.id in numbers]


def _render(archives: "ArchiveDatabase", found: "CitationGraph", format_: str, title: str) -> str:
    if format_ == "graphml":
        from dowse.archives.exports import as_graphml

        return as_graphml(found)
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
