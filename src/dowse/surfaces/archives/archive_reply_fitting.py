"""Fitting the reply of an archive search into its budget; the reply says what was left out and how to get it."""

from collections.abc import Callable
from typing import Any

Reply = dict[str, Any]
Size = Callable[[Reply], int]

_CITATION_LIMITS = (20, 10, 5, 2, 1, 0)


def fit_search_reply(reply: Reply, budget: int, size: Size) -> Reply:
    """Return a reply within a budget: without its graph and with fewer citations, then with fewer snippets and results."""
    if size(reply) <= budget:
        return reply
    if "citationGraph" in reply:
        reply = {**reply, "citationGraph": {"nodes": [], "edges": [], "truncated": "Left out: too long."}}
    for maximum in _CITATION_LIMITS:
        reply = {**reply, "results": [_with_fewer_citations(result, maximum) for result in reply["results"]]}
        shorter = _with_note(reply, "Citations or their graph are left out; find_citations lists all of one document.")
        if size(shorter) <= budget:
            return shorter
    return _with_fewer_results(reply, budget, size)


def _with_fewer_results(reply: Reply, budget: int, size: Size) -> Reply:
    """Return a reply without citations and with as many results as fit, at least one."""
    total = len(reply["results"])
    results = [{**result, "highlights": result["highlights"][:1]} for result in reply["results"]]
    for shown in range(total, 0, -1):
        note = f"{shown} of {total} results are shown, without citations. Ask for a smaller limit."
        fewer = _with_note({**reply, "results": results[:shown]}, note)
        fewer["metadata"]["totalResults"] = shown
        if size(fewer) <= budget:
            break
    return fewer


def _with_fewer_citations(result: Reply, maximum: int) -> Reply:
    citations = result.get("citations")
    if not citations or max(len(citations["citing"]), len(citations["cited"])) <= maximum:
        return result
    totals = {
        "totalCiting": citations.get("totalCiting", len(citations["citing"])),
        "totalCited": citations.get("totalCited", len(citations["cited"])),
    }
    fewer = {"citing": citations["citing"][:maximum], "cited": citations["cited"][:maximum], **totals}
    return {**result, "citations": fewer}


def _with_note(reply: Reply, note: str) -> Reply:
    return {**reply, "metadata": {**reply["metadata"], "truncated": note}}
