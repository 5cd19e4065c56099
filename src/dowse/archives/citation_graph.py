"""The graph of citations: the neighbourhood of documents, the whole graph, the most cited documents and broken links."""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from heapq import nsmallest
from itertools import chain
from typing import Literal

from dowse.archives.archive_database import SELECT_CITATIONS, ArchiveDatabase, citation_from_row
from dowse.archives.archive_types import Citation, CitationGraph, Edge, Node, StoredArchiveDocument
from dowse.archives.archive_update import NOT_A_DOCUMENT
from dowse.sqlite_database import SqlRow

MAX_NODES = 150
MAX_EDGES = 500
"""Limits of the graph in a reply, whose budget would not hold more. Pictures have limits of their own."""
_EDGES = "SELECT source, target, confidence FROM citations WHERE is_citation AND target IS NOT NULL"

Pair = tuple[int, int]


def graph_from(
    database: ArchiveDatabase,
    starts: Sequence[int],
    depth: int,
    *,
    max_nodes: int = MAX_NODES,
    max_edges: int = MAX_EDGES,
) -> CitationGraph:
    """Return the documents within `depth` citations of the start documents, in both directions.

    Where there are too many, nearer documents are kept first, then those with more citations to and from
    documents already in the graph.
    """
    with database.snapshot():
        distances = dict.fromkeys(dict.fromkeys(starts[:max_nodes]), 0)
        edges, left_out = dict[Pair, float](), max(0, len(set(starts)) - len(distances))
        frontier = list(distances)
        for distance in range(1, depth + 1):
            found = _edges_of(database, frontier)
            frontier, omitted = _choose_neighbours(found, distances, max_nodes - len(distances))
            left_out += omitted
            distances |= dict.fromkeys(frontier, distance)
            edges |= _edges_between(distances, found)
        return _build_graph(database, distances, edges, left_out, max_edges)


def whole_graph(database: ArchiveDatabase, *, max_nodes: int = MAX_NODES, max_edges: int = MAX_EDGES) -> CitationGraph:
    """Return the documents with the most citations, in and out, and all citations between them."""
    with database.snapshot():
        known = _join_edges(database.rows(_EDGES))
        counts = Counter(number for pair in known for number in pair)
        chosen = sorted(counts, key=lambda number: (-counts[number], number))
        distances = dict.fromkeys(chosen[:max_nodes], 0)
        left_out = max(0, len(chosen) - max_nodes)
        return _build_graph(database, distances, _edges_between(distances, known), left_out, max_edges)


def _edges_of(database: ArchiveDatabase, documents: Sequence[int]) -> dict[Pair, float]:
    """Return the citations of some documents, in both directions."""
    outgoing, incoming = (database.rows_in(f"{_EDGES} AND {end} IN", documents) for end in ("source", "target"))
    return _join_edges(chain(outgoing, incoming))


def _join_edges(rows: Iterable[SqlRow]) -> dict[Pair, float]:
    """Return each pair of documents once, with its highest confidence."""
    joined = dict[Pair, float]()
    for source, target, confidence in rows:
        joined[source, target] = max(confidence, joined.get((source, target), 0.0))
    return joined


def _edges_between(documents: Container[int], edges: dict[Pair, float]) -> dict[Pair, float]:
    return {pair: value for pair, value in edges.items() if pair[0] in documents and pair[1] in documents}


def _choose_neighbours(found: Iterable[Pair], known: dict[int, int], limit: int) -> tuple[list[int], int]:
    """Return the new documents with the most citations, at most `limit`, and the number of documents left out."""
    counts = Counter(number for pair in found for number in pair if number not in known)
    chosen = nsmallest(limit, counts.items(), key=lambda item: (-item[1], item[0]))
    return [number for number, _ in chosen], len(counts) - len(chosen)


def _build_graph(
    database: ArchiveDatabase, distances: dict[int, int], edges: dict[Pair, float], left_out: int, max_edges: int
) -> CitationGraph:
    documents = database.documents(distances)

    def order(pair: Pair) -> tuple[int, float, Pair]:
        return max(distances[pair[0]], distances[pair[1]]), -edges[pair], pair

    kept = nsmallest(max_edges, edges, key=order)
    citing, cited = {pair[0] for pair in kept}, {pair[1] for pair in kept}

    def node(number: int) -> Node:
        type_: Literal["source", "target", "both"] = "both" if number in citing else "target"
        return Node(documents[number], type_ if number in cited else "source", distances[number])

    nodes = [node(number) for number in distances if number in documents]
    return CitationGraph(
        tuple(nodes),
        tuple(Edge(documents[source].id, documents[target].id, edges[source, target]) for source, target in kept),
        _truncation_note(len(nodes), left_out, len(edges) - len(kept)),
    )


def _truncation_note(nodes: int, left_out: int, edges: int) -> str:
    parts = [f"{left_out:,} more documents"] if left_out else []
    parts += [f"{edges:,} more citations"] if edges else []
    return f"The graph shows {nodes:,} documents; {' and '.join(parts)} are left out." if parts else ""


def most_cited(database: ArchiveDatabase, limit: int) -> list[tuple[StoredArchiveDocument, int, int]]:
    """Return the documents that most others cite, each with the number of these, and of their citations."""
    rows = database.rows(
        "SELECT target, COUNT(DISTINCT source), COUNT(*) FROM citations WHERE is_citation AND target IS NOT NULL"
        " GROUP BY target ORDER BY 2 DESC, 3 DESC, target LIMIT ?",
        (limit,),
    )
    documents = database.documents(row[0] for row in rows)
    return [(documents[target], sources, citations) for target, sources, citations in rows]


def most_cited_unarchived(database: ArchiveDatabase, limit: int) -> list[SqlRow]:
    """Return the addresses that most documents cite and that are not archived yet, with the same numbers."""
    return database.rows(
        "SELECT MIN(url), COUNT(DISTINCT source), COUNT(*) FROM citations "
        "WHERE is_citation AND target IS NULL AND key != '' GROUP BY key ORDER BY 2 DESC, 3 DESC, 1 LIMIT ?",
        (limit,),
    )


def broken_links(database: ArchiveDatabase, limit: int) -> tuple[list[Citation], int]:
    """Return the links to missing files and pages of the archives, by document, and their total number."""
    count = "SELECT COUNT(*) FROM citations WHERE is_citation AND fault != '' AND fault != ?"
    ((total,),) = database.rows(count, (NOT_A_DOCUMENT,))
    query = f"{SELECT_CITATIONS} fault != '' AND fault != ? ORDER BY citations.source, ordinal LIMIT ?"
    return [citation_from_row(row) for row in database.rows(query, (NOT_A_DOCUMENT, limit))], total
