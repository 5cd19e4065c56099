"""A reply cut to a budget, so that it says what was left out and how to get it."""

from collections.abc import Callable
from typing import Any

Reply = dict[str, Any]
Size = Callable[[Reply], int]

_CITATION_LIMITS = (20, 10, 5, 2, 1, 0)
_NODE_LIMITS = (150, 75, 40, 20, 0)


def fit_search_reply(reply: Reply, budget: int, size: Size) -> Reply:
    """The reply of a search within a budget: fewer citations, a smaller graph, fewer snippets, fewer hits at last."""
    if size(reply) <= budget:
        return reply
    for most_citations, most_nodes in zip(_CITATION_LIMITS, (*_NODE_LIMITS, 0), strict=True):
        reply = _shrink(reply, most_citations, most_nodes)
        noted = _with_note(reply, "Some citations are left out; find_citations tells all of one document.")
        if size(noted) <= budget:
            return noted
    return _with_fewer_results(reply, budget, size)


def _with_fewer_results(reply: Reply, budget: int, size: Size) -> Reply:
    """A reply without citations, and with as many results as fit; the last one is never left out."""
    whole = len(reply["results"])
    results = [{**result, "highlights": result["highlights"][:1]} for result in reply["results"]]
    if "citationGraph" in reply:
        reply = {**reply, "citationGraph": {"nodes": [], "edges": [], "truncated": "Left out: too long."}}
    for shown in range(whole, 0, -1):
        note = f"{shown} of {whole} results are shown, without citations. Ask for a smaller limit."
        fewer = _with_note({**reply, "results": results[:shown]}, note)
        fewer["metadata"]["totalResults"] = shown
        if size(fewer) <= budget:
            break
    return fewer


def _shrink(reply: Reply, most_citations: int, most_nodes: int) -> Reply:
    results = [_with_fewer_citations(result, most_citations) for result in reply["results"]]
    smaller = {**reply, "results": results}
    if graph := reply.get("citationGraph"):
        nodes = graph["nodes"][:most_nodes]
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
    """Nodes with the types they have among fewer edges."""
    citing, cited = {edge["from"] for edge in edges}, {edge["to"] for edge in edges}

    def kind(id_: str) -> str:
        return "both" if id_ in citing and id_ in cited else "target" if id_ in cited else "source"

    return [{**node, "type": kind(node["id"])} for node in nodes]


def _with_fewer_citations(result: Reply, most: int) -> Reply:
    citations = result.get("citations")
    if not citations or max(len(citations["citing"]), len(citations["cited"])) <= most:
        return result
    totals = {
        "totalCiting": citations.get("totalCiting", len(citations["citing"])),
        "totalCited": citations.get("totalCited", len(citations["cited"])),
    }
    fewer = {"citing": citations["citing"][:most], "cited": citations["cited"][:most], **totals}
    return {**result, "citations": fewer}


def _with_note(reply: Reply, note: str) -> Reply:
    return {**reply, "metadata": {**reply["metadata"], "truncated": note}}
