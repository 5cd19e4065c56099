"""`dowse docs`: serve a folder of documents to an assistant, or list, search and read it on the command line."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dowse.cli.common_arguments import (
    FOLDER,
    count_option,
    folder_argument,
    json_option,
    parse_query,
    prints_json,
    value_option,
)
from dowse.cli.output import CommandReply, escape, using
from dowse.cli.result_output import correction_notes, coverage_notes, filters_note, format_flags
from dowse.cli.serve_command import run_server
from dowse.cli.server_options import Offer, budget_option, http_options, tools_option
from dowse.errors import NoSuchDocument, UsageError
from dowse.mcp.tools import Level
from dowse.types import View
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.indexes.index import ProjectIndex

Answer = TypeVar("Answer")

SERVE_COMMAND = "[DIR]"


class _DocsGroup(click.Group):
    """A group whose first argument is a folder to serve, unless it is the name of a subcommand."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = [SERVE_COMMAND, *args]
        return super().parse_args(ctx, args)


@click.group(cls=_DocsGroup, options_metavar="", subcommand_metavar="[DIR] [OPTIONS] | COMMAND [ARGS]...")
def docs() -> None:
    """Serve, list, search or read a folder of documents.

    Without a command, serve DIR to an assistant. The options for that: dowse docs . --help.
    DIR defaults to the working directory. Write ./list for a folder called list. The commands
    list, search and read take --json.
    """


@docs.command(SERVE_COMMAND, hidden=False)
@click.argument("folder", metavar="", required=False, type=FOLDER)
@tools_option
@budget_option
@http_options
def serve_documents(folder: Path | None, *, level: Level, budget: int, **web: Any) -> None:
    """Serve DIR as docs:// resources with the tool search_documents."""
    run_server(Offer(("documents",), level, budget, roots=(_find_root(folder),)), web)


@docs.command("list")
@folder_argument
@json_option
def list_command(folder: Path | None) -> CommandReply:
    """List the documents in DIR with their titles."""
    from dowse.indexes.document_search import list_documents
    from dowse.surfaces.documents.doc_uris import document_mime_type, make_uri

    project = _open_index(folder)
    found = _ask(project, lambda project, _pending: list_documents(project))
    listed = [
        {
            "uri": make_uri(document.path),
            "path": document.path,
            "title": document.title,
            "description": document.description,
            "tags": list(document.tags),
            "mimeType": document_mime_type(document.path),
        }
        for document in found
    ]
    lines = [(escape(document.path, bold=True), "  ", document.title) for document in found]
    note = pluralize(len(found), "document") if found else f"No documents in {project.root}. See: dowse why PATH"
    return CommandReply({"documents": listed, "totalDocuments": len(found)}, lines, [note], 0 if found else 1)


@docs.command("search")
@click.argument("query")
@folder_argument
@value_option("--in", ("title", "content", "both"), "both", "Where to search.", names=["place"])
@click.option(
    "--type", "types", metavar="EXT", multiple=True, help="Only files with this extension, such as md. May be repeated."
)
@count_option("--limit", 1000, 10, "Maximum number of documents.")
@click.option("--wait", is_flag=True, help="Finish indexing before the search.")
@json_option
def search_command(
    query: str, folder: Path | None, *, place: Any, types: tuple[str, ...], limit: int, wait: bool
) -> CommandReply:
    """Search the titles and contents of the documents in DIR.

    QUERY is words or a question: +word is required, -word is excluded, "some words" is a phrase.

    Documents that are not indexed yet are searched by words alone while indexing continues in
    the background. The output says how many.

    Exit code 1: nothing was found.
    """
    from dowse.indexes.document_search import DocumentQuery, DocumentResults, find_documents
    from dowse.indexes.query_vectors import InProcessEncoder
    from dowse.searching.query_terms import parse_search_query
    from dowse.surfaces.documents.doc_uris import make_uri, parse_extensions
    from dowse.surfaces.documents.document_replies import at_least, document_result, documents_reply

    parsed = parse_search_query(parse_query(query))
    document_query = DocumentQuery(parsed, place, limit, parse_extensions(list(types)))

    def ask(project: "ProjectIndex", pending: int) -> DocumentResults:
        encoder = InProcessEncoder(project.settings)
        return find_documents(project, document_query, pending, encoder, is_behind=bool(pending))

    started = time.perf_counter()
    answer = _ask(_open_index(folder), ask, waits=wait)
    found = answer.matches
    results = [document_result(make_uri(match.document.path), match, found.terms) for match in found.found]
    without = found.total_without_filters
    reply = documents_reply(results, found.total, [answer.coverage], sys.maxsize, started, without_filters=without)
    lines = list[str | tuple[str, ...]]()
    for match, result in zip(found.found, results, strict=True):
        line = f":{result['startLine']}" if "startLine" in result else ""
        path, relevance = (
            escape(f"{match.document.path}{line}", bold=True),
            escape(f"{result['relevance']:.2f}", dim=True),
        )
        flags = format_flags(result.get("flags", ()), result.get("flaggedLines", ()))
        lines.append((path, f"  {result['title']}  ", relevance, *flags))
        if result["excerpt"]:
            lines.append(f"    {result['excerpt']}")
    notes = correction_notes(found.corrected)
    more = f", {len(results)} shown" if found.total > len(results) else ""
    if results and not found.total:
        more = f" with these words, {len(results)} near in meaning"
    least = at_least(found.total, [answer.coverage])
    notes.append(f"{least}{pluralize(found.total, 'document')}{more}" if results else "nothing found")
    if without:
        notes.append(filters_note(without, "document"))
    return CommandReply(reply.content, lines, [*notes, *coverage_notes(answer.coverage)], 0 if results else 1)


@docs.command("read")
@click.argument("document", metavar="DOCUMENT")
@folder_argument
@click.option("--section", metavar="ANCHOR", help="Print only this section, as DOCUMENT#ANCHOR does.")
@json_option
def read_command(document: str, folder: Path | None, *, section: str | None) -> CommandReply:
    """Print DOCUMENT as an assistant receives it.

    DOCUMENT is a path in DIR or a docs:// URI.
    """
    from dowse.indexes.document_search import read_now, text_of
    from dowse.surfaces.documents.doc_uris import SCHEME, make_uri, parse_uri
    from dowse.text.line_numbers import split_lines

    project = _open_index(folder)
    path, anchor = parse_uri(document) if document.startswith(SCHEME) else (document.removeprefix("./"), "")
    found = read_now(project, path)
    if found is None and not document.startswith(SCHEME) and "#" in path:
        path, _, anchor = path.rpartition("#")
        found = read_now(project, path)
    if found is None:
        raise NoSuchDocument(f"There is no document {document} in {project.root}. See: dowse docs list {project.root}")
    anchor = section or anchor
    text = text_of(found, anchor)
    if text is None:
        raise NoSuchDocument(f"{path} has no section {anchor}.")
    if prints_json():
        from dowse.surfaces.documents.document_replies import document_reply

        return CommandReply(document_reply(found, make_uri(path), anchor, (None, None), sys.maxsize))
    if sys.stdout.isatty():
        return CommandReply({}, [escape(line.rstrip("\r\n"), keeps_tabs=True) for line in split_lines(text)])
    click.echo(text.encode(), nl=False)  # a file or a program gets it unchanged
    return CommandReply({})


def _open_index(folder: Path | None) -> "ProjectIndex":
    """Return the index of a folder's documents."""
    from dowse.indexes.index import ProjectIndex

    return ProjectIndex(_find_root(folder), View.DOCUMENTS)


def _ask(project: "ProjectIndex", question: Callable[["ProjectIndex", int], Answer], *, waits: bool = True) -> Answer:
    """Bring an index up to date if the question waits for it or if that is quick, ask the question, and close the index.

    The question is given the number of files that are left.
    """
    from dowse.indexes.damage_recovery import answer_or_rebuild
    from dowse.indexes.project_search import update_if_quick

    def answer() -> Answer:
        pending = update_if_quick(project, waits=waits, progress=progress)
        if pending and project.refusal:
            project.warnings.append(f"{pluralize(pending, 'changed file')} left out. {project.refusal}")
        return question(project, pending)

    with using(project, project.root.name, *([project] if waits else ())) as progress:
        return answer_or_rebuild(project, answer)


def _find_root(folder: Path | None) -> Path:
    """Return the folder, by default the working directory unless that is a home or a whole disk."""
    from dowse.indexes.project_lookup import is_too_wide

    if folder is None and is_too_wide(Path.cwd()):
        raise UsageError("The working directory is a home folder or a whole disk. To use it, name it: dowse docs .")
    return folder or Path.cwd()
