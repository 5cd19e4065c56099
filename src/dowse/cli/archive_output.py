"""Documents of the archives and their citations as a person reads them."""

import html
import re
from collections.abc import Mapping
from typing import Any

from dowse.cli.output import SafeText, counted, show, shown
from dowse.cli.result_output import flagged

MOST_SHOWN = 10
"""Citations of a hit that are printed in each direction; --json has all."""

_MARK = re.compile(r"<mark>(.*?)</mark>", re.DOTALL)

Found = dict[str, Any]


def show_document(document: Found, *more: str) -> None:
    """A document on one line."""
    about = ", ".join(filter(None, (document["date"], document["source"], document["type"])))
    show(shown(document["title"], bold=True), *more, "  ", shown(f"({about})", dim=True))
    show("  ", shown(document["id"], fg="cyan"), "  ", document["path"])


def show_results(results: list[Found], titles: Mapping[str, str]) -> None:
    """Hits with what was found in them; citations by the titles of documents, where they are archived."""
    for number, result in enumerate(results):
        if number:
            show()
        document = result["document"]
        flags = [flag for part in (document, *result["highlights"]) for flag in part.get("flags", ())]
        show_document(document, "  ", shown(f"{document['score']:.2f}", dim=True), *flagged(flags))
        for highlight in result["highlights"]:
            if highlight["field"] != "title":
                for snippet in highlight["snippets"]:
                    show("  ", *_coloured(snippet))
        if citations := result.get("citations"):
            _show_citations(citations, titles)


def _show_citations(citations: Found, titles: Mapping[str, str]) -> None:
    for name, field in (("cites", "citing"), ("is cited by", "cited")):
        found = citations[field]
        if found:
            show(f"  {name}:")
        for one in found[:MOST_SHOWN]:
            other = one.get("targetId", "") if field == "citing" else one["sourceId"]
            leads = one["targetUrl"] if field == "citing" else one["context"]
            show("    ", shown(titles.get(other, "(not archived)"), fg="cyan"), "  ", leads)
        if len(found) > MOST_SHOWN:
            show(f"    and {counted(len(found) - MOST_SHOWN, 'more')[:-1]}")


def _coloured(snippet: str) -> list[SafeText]:
    pieces = list[SafeText]()
    for number, piece in enumerate(_MARK.split(snippet)):
        text = html.unescape(piece)
        pieces.append(shown(text, fg="red", bold=True) if number % 2 else shown(text))
    return pieces
