"""Printing of archived documents and their citations for people."""

import html
import re
from collections.abc import Mapping
from typing import Any

from dowse.cli.output import SafeText, escape, pluralize, show
from dowse.cli.result_output import format_flags

MAX_SHOWN_CITATIONS = 10
"""Citations of a hit that are printed in each direction; --json prints all."""

_MARK = re.compile(r"<mark>(.*?)</mark>", re.DOTALL)

Reply = dict[str, Any]


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
