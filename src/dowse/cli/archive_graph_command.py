"""`dowse archive citations|most-cited|broken`: queries about citations."""

from typing import Any

import click

from dowse.cli.archive_command import database_option, open_archives
from dowse.cli.archive_output import show_document
from dowse.cli.common_arguments import json_option
from dowse.cli.output import CommandReply, escape, pluralize, say, show

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


def _show_citation(citation: dict[str, Any], name: str) -> None:
    id_ = citation.get("targetId", "(not archived)") if name == "citing" else citation["sourceId"]
    title = citation.get("targetTitle", citation["targetUrl"]) if name == "citing" else citation["sourceTitle"]
    problem = f"  ({citation['problem']})" if citation.get("problem") else ""
    show("  ", escape(id_, fg="cyan"), "  ", escape(title, bold=True), problem)
    show("    ", escape(citation["context"], dim=True))


def _screen(reply: dict[str, Any]) -> dict[str, Any]:
    """Return a reply with secrets masked, and with content warnings."""
    from dowse.archives.reply_screening import screen_reply
    from dowse.indexes.masking_setting import masks_secrets

    return screen_reply(reply, masks=masks_secrets())


def _say_more(shown_count: int, total: int, noun: str) -> None:
    if not total:
        say(f"No {noun}.")
    elif shown_count < total:
        say(f"{shown_count:,} of {pluralize(total, noun)}; --limit shows more.")
