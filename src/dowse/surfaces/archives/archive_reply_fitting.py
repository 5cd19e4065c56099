"""Fitting the reply of an archive search into its budget; the reply says what was left out and how to get it."""

from collections.abc import Callable
from typing import Any

Reply = dict[str, Any]
Size = Callable[[Reply], int]

_CITATION_LIMITS = (20, 10, 5, 2, 1, 0)
_NODE_LIMITS = (150, 75, 40, 20, 0)


def fit_search_reply(reply: Reply, budget: int, size: Size) -> Reply:
    """Return a reply within a budget: with fewer citations, then a smaller graph, then fewer snippets and results."""
    if size(reply) <= budget:
        return reply
    for max_citations, max_nodes in zip(_CITATION_LIMITS, (*_NODE_LIMITS, 0), strict=True):
        reply = _shrink(reply, max_citations, max_nodes)
        shorter = _with_note(reply, "Some citations are left out; find_citations lists all of one document.")
        if size(shorter) <= budget:
            return shorter
    return _with_fewer_results(reply, budget, size)


def _with_fewer_results(reply: Reply, budget: int, size: Size) -> Reply:
    """Return a reply without citations and with as many results as fit, at least one."""
    total = len(reply["results"])
    results = [{**result, "highlights": result["highlights"][:1]} for result in reply["results"]]
    if "citationGraph" in reply:
        reply = {**reply, "citationGraph": {"nodes": [], "edges": [], "truncated": "Left out: too long."}}
    for shown in range(total, 0, -1):
        note = f"{shown} of {total} results are shown, without citations. Ask for a smaller limit."
        fewer = _with_note({**reply, "results": results[:shown]}, note)
        fewer["metadata"]["totalResults"] = shown
        if size(fewer) <= budget:
            break
    return fewer


def _shrink(reply: Reply, max_citations: int, max_nodes: int) -> Reply:
    results = [_with_fewer_citations(result, max_citations) for result in reply["results"]]
    smaller = {**reply, "results": results}
    if graph := reply.get("citationGraph"):
        nodes = graph["nodes"][:max_nodes]
        kept = {node["id"] for node in nodes}
        edges = [edge for edge in graph["edges"] if edge["from"] in kept and edge["to"] in kept]
        if len(nodes) < len(graph["nodes"]):
            graph = {
                "nodes": _retype_nodes(nodes, edges),
                "edges": edges,
                "truncated": "The graph is cut to fit the reply.",
            }
        smaller["citationGraph"] = graph
    return smaller


def _retype_nodes(nodes: list[Reply], edges: list[Reply]) -> list[Reply]:
    """Return the nodes with the types that follow from the remaining edges."""
    citing, cited = {edge["from"] for edge in edges}, {edge["to"] for edge in edges}

    def kind(id_: str) -> str:
        return "both" if id_ in citing and id_ in cited else "target" if id_ in cited else "source"

    return [{**node, "type": kind(node["id"])} for node in nodes]


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
