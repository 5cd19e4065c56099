"""The graph of citations: what is reached from some documents, and the shortest chain between two."""

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import Any, Literal

from dowse.archives.archive_database import EXPLICIT, ArchiveDatabase
from dowse.archives.archive_types import CitationGraph, Edge, Node

MOST_NODES = 150
MOST_EDGES = 500
"""What the graph of a reply shows: more would not fit into its budget. Pictures have bounds of their own."""
_EDGES = (
    "SELECT source, target, MAX(confidence) FROM citations "
    "WHERE is_citation AND target IS NOT NULL{} GROUP BY source, target"
)

Pair = tuple[int, int]


def graph_from(
    database: ArchiveDatabase,
    starts: Sequence[int],
    depth: int,
    *,
    inferred: bool = False,
    most_nodes: int = MOST_NODES,
    most_edges: int = MOST_EDGES,
) -> CitationGraph:
    """The documents that are reached from some in so many steps, in both directions, and the citations followed.

    Where there are too many, those that were reached first are kept: nearer ones, then those with more
    citations to what is there already.
    """
    with database.snapshot():
        distances = dict.fromkeys(dict.fromkeys(starts[:most_nodes]), 0)
        known = edges_of(database, inferred=inferred)
        edges, left_out = dict[Pair, float](), max(0, len(set(starts)) - len(distances))
        frontier = list(distances)
        for distance in range(1, depth + 1):
            found = known.at(frontier)
            room = most_nodes - len(distances)
            frontier, missed = _reached(found, distances, room)
            left_out += missed
            distances |= dict.fromkeys(frontier, distance)
            edges |= {pair: known.confidence[pair] for pair in found if pair[0] in distances and pair[1] in distances}
        return _made(database, distances, edges, left_out, most_edges)


def whole_graph(
    database: ArchiveDatabase, *, inferred: bool = False, most_nodes: int = MOST_NODES, most_edges: int = MOST_EDGES
) -> CitationGraph:
    """The documents with the most citations, in and out, and all citations between them."""
    with database.snapshot():
        known = edges_of(database, inferred=inferred)
        degrees = dict[int, int]()
        for source, target in known.confidence:
            degrees[source] = degrees.get(source, 0) + 1
            degrees[target] = degrees.get(target, 0) + 1
        chosen = sorted(degrees, key=lambda number: (-degrees[number], number))
        distances = dict.fromkeys(chosen[:most_nodes], 0)
        edges = {
            pair: confidence
            for pair, confidence in known.confidence.items()
            if pair[0] in distances and pair[1] in distances
        }
        return _made(database, distances, edges, max(0, len(chosen) - most_nodes), most_edges)


def path_between(
    database: ArchiveDatabase,
    source: int,
    target: int,
    *,
    direction: Literal["citing", "either"] = "citing",
    inferred: bool = False,
) -> list[int] | None:
    """The shortest chain of citations from one document to another, as their numbers; None where there is none.

    `citing` follows citations from who cites to what is cited, `either` both ways. Of several chains
    of one length it is always the same one.
    """
    if source == target:
        return [source]
    known, came_from, frontier = edges_of(database, inferred=inferred), {source: source}, [source]
    while frontier:
        steps = [(one, other) for one in frontier for other in known.out.get(one, ())]
        if direction == "either":
            steps += [(one, other) for one in frontier for other in known.into.get(one, ())]
        frontier = []
        for one, other in sorted(steps):
            if other not in came_from:
                came_from[other] = one
                frontier.append(other)
        if target in came_from:
            return _chain(came_from, target)
    return None


class Edges:
    """All citations between documents, each pair once with its best confidence, held for walks."""

    def __init__(self, rows: Iterable[tuple[Any, ...]]) -> None:
        self.confidence = dict[Pair, float]()
        self.out = dict[int, list[int]]()
        self.into = dict[int, list[int]]()
        for source, target, confidence in rows:
            self.confidence[source, target] = confidence
            self.out.setdefault(source, []).append(target)
            self.into.setdefault(target, []).append(source)

    def at(self, numbers: Iterable[int]) -> set[Pair]:
        """The citations out of and into some documents."""
        found = set[Pair]()
        for number in numbers:
            found.update((number, target) for target in self.out.get(number, ()))
            found.update((source, number) for source in self.into.get(number, ()))
        return found


def edges_of(database: ArchiveDatabase, *, inferred: bool = False) -> Edges:
    """The edges of a database, read once for each state of it: 25,000 take 40 ms, a walk along them then none."""
    query = _EDGES.format("" if inferred else EXPLICIT)
    return database.derived(f"edges:{inferred}", lambda: Edges(database.rows(query)))


def _reached(found: set[Pair], known: dict[int, int], most: int) -> tuple[list[int], int]:
    """Documents that are new, those with the most citations first, and how many there are beyond the most."""
    counts = Counter[int]()
    for one, other in found:
        if one not in known:
            counts[one] += 1
        if other not in known:
            counts[other] += 1
    chosen = nsmallest(most, counts.items(), key=lambda item: (-item[1], item[0]))
    return [number for number, _ in chosen], len(counts) - len(chosen)


def _made(
    database: ArchiveDatabase, distances: dict[int, int], edges: dict[Pair, float], left_out: int, most_edges: int
) -> CitationGraph:
    documents = database.documents(distances)

    def order(pair: Pair) -> tuple[int, float, Pair]:
        return max(distances[pair[0]], distances[pair[1]]), -edges[pair], pair

    kept = nsmallest(most_edges, edges, key=order)
    citing, cited = {pair[0] for pair in kept}, {pair[1] for pair in kept}
    nodes = [
        Node(documents[number], _type(number in citing, number in cited), distance)
        for number, distance in distances.items()
        if number in documents
    ]
    return CitationGraph(
        tuple(nodes),
        tuple(Edge(documents[source].id, documents[target].id, edges[source, target]) for source, target in kept),
        _cut(len(nodes), left_out, len(edges) - len(kept)),
    )


def _type(is_citing: bool, is_cited: bool) -> Literal["source", "target", "both"]:
    return "both" if is_citing and is_cited else "target" if is_cited else "source"


def _cut(nodes: int, left_out: int, edges: int) -> str:
    parts = [f"{left_out:,} more documents"] if left_out else []
    parts += [f"{edges:,} more citations"] if edges else []
    if not parts:
        return ""
    return f"The graph shows {nodes:,} documents; {' and '.join(parts)} are left out."


def _chain(came_from: dict[int, int], target: int) -> list[int]:
    chain = [target]
    while came_from[chain[-1]] != chain[-1]:
        chain.append(came_from[chain[-1]])
    return chain[::-1]
