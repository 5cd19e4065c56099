"""`dowse archive graph|export`: pictures of what cites what, and files for other programs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.archive_command import database_option, inferred_option, opened
from dowse.cli.common_arguments import json_option, named_path
from dowse.cli.output import CommandReply, say
from dowse.errors import Failed
from dowse.platform import write_atomically

if TYPE_CHECKING:
    from dowse.archives.archive_database import ArchiveDatabase
    from dowse.archives.archive_types import CitationGraph, StoredArchiveDocument

MOST_NODES = 2000
"""What a page in a browser still moves without a jerk."""
EDGES_A_NODE = 10


@click.command()
@click.argument("about", metavar="[QUERY|ID]", required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "svg", "json", "graphml", "dot", "mermaid"]),
    default="html",
    show_default=True,
    help="What to make.",
)
@click.option("-o", "--output", metavar="FILE", help="Where to write it; - is stdout.")
@click.option("--depth", type=click.IntRange(1, 3), default=1, show_default=True, help="Steps from what is found.")
@click.option("--limit", type=click.IntRange(1, 50), default=10, show_default=True, help="Documents found to begin at.")
@click.option("--most", type=click.IntRange(1, 20_000), default=MOST_NODES, show_default=True, help="Documents drawn.")
@inferred_option
@database_option
@json_option
def graph(about: str | None, form: str, output: str | None, database: str | None, **how: Any) -> int | CommandReply:
    """Draw what cites what: around a document, around what a QUERY finds, or everything.

    html opens in any browser and needs no network; svg prints on a page. Without -o, a file
    archive-graph.html or .svg is written, and the other formats go to stdout. Exit code 1 when there
    is nothing to draw.
    """  # fmt: skip
    with opened(database) as archives:
        found = _graph(archives, about, how)
        if not found.nodes:
            say("There is nothing to draw." if about is None else f"Nothing found for: {about}")
            return CommandReply({"nodes": 0, "edges": 0}, 1) if how["as_json"] else 1
        made = _made(archives, found, form, about or "What cites what")
    if found.cut:
        say(f"dowse: {found.cut} --most draws more.")
    is_picture = form in ("html", "svg")
    where = output or (f"archive-graph.{form}" if is_picture or how["as_json"] else "-")
    return _written(made, where, {"nodes": len(found.nodes), "edges": len(found.edges)}, as_json=how["as_json"])


@click.command()
@click.argument("about", metavar="[QUERY|ID]", required=False)
@click.option("--format", "form", type=click.Choice(["bibtex", "csl", "json"]), default="bibtex", show_default=True, help="bibtex and csl have the hits, json has everything.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", default="-", help="Where to write it; stdout without.")
@click.option("--limit", type=click.IntRange(1, 50), default=10, show_default=True, help="Documents found.")
@database_option
@json_option
def export(
    about: str | None, form: str, output: str, database: str | None, *, limit: int, as_json: bool
) -> int | CommandReply:
    """Write the documents that a QUERY finds, one by its ID, or all, for other programs. Exit code 1 when none."""
    from dowse.archives import exports

    if form == "json" and about is not None:
        raise click.UsageError("json has everything; leave the query out. dowse archive search --json has the hits.")
    with opened(database) as archives:
        documents = _documents(archives, about, limit)
        if form == "json":
            made = "".join(exports.everything(archives))
        else:
            made = exports.as_bibtex(documents) if form == "bibtex" else exports.as_csl(documents)
    if not documents:
        say("There is no document." if about is None else f"Nothing found for: {about}")
        return CommandReply({"documents": 0}, 1) if as_json else 1
    where = f"archive.{'bib' if form == 'bibtex' else 'json'}" if as_json and output == "-" else output
    return _written(made, where, {"documents": len(documents)}, as_json=as_json)


def _graph(archives: "ArchiveDatabase", about: str | None, how: dict[str, Any]) -> "CitationGraph":
    from dowse.archives.citation_graph import graph_from, whole_graph

    bounds: dict[str, Any] = {
        "inferred": how["inferred"], "most_nodes": how["most"], "most_edges": how["most"] * EDGES_A_NODE,
    }  # fmt: skip
    if about is None:
        return whole_graph(archives, **bounds)
    starts = [document.number for document in _documents(archives, about, how["limit"])]
    return graph_from(archives, starts, how["depth"], **bounds)


def _documents(archives: "ArchiveDatabase", about: str | None, limit: int) -> "list[StoredArchiveDocument]":
    """The document that is named, else those that a search finds, else all."""
    if about is None:
        return list(archives.documents().values())
    if named := archives.find(about.strip()):
        return [named]
    from dowse.archives.archive_search import search

    return [hit.document for hit in search(archives, about, limit)]


def _made(archives: "ArchiveDatabase", found: "CitationGraph", form: str, title: str) -> str:
    from dowse.archives.graph_pictures import graph_formats

    if form == "json":
        return graph_formats.as_json(found)
    if form == "graphml":
        return graph_formats.as_graphml(found)
    if form == "dot":
        return graph_formats.as_dot(found)
    if form == "mermaid":
        return graph_formats.as_mermaid(found)
    from dowse.archives.graph_pictures.graph_page import as_page
    from dowse.archives.graph_pictures.picture import drawn_picture
    from dowse.archives.graph_pictures.svg import as_svg

    picture = drawn_picture(archives, found, title, with_text=form == "html")
    return as_page(picture) if form == "html" else as_svg(picture)


def _written(made: str, where: str, facts: dict[str, Any], *, as_json: bool) -> int | CommandReply:
    data = made.encode("utf-8", "replace")
    if where == "-":
        if as_json:
            raise click.UsageError("--json tells about a file: name one with -o.")
        sys.stdout.buffer.write(data)
        return 0
    file = named_path(where)
    try:
        write_atomically(file, data)
        Path(file).chmod(0o644)
    except OSError as error:
        raise Failed(f"{file} cannot be written: {error.strerror or error}.") from error
    say(f"dowse: wrote {file}")
    return CommandReply({**facts, "output": str(file), "bytes": len(data)}) if as_json else 0
