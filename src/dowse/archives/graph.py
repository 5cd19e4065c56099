"""The graph of citations: what is reached from some documents, and the shortest chain between two."""

from collections.abc import Iterable, Sequence
from typing import Literal

from dowse.archives.database import EXPLICIT, ArchiveDatabase
from dowse.archives.types import Edge, Graph, Node

MOST_NODES = 300
MOST_EDGES = 1500
"""What one graph shows; a reply with more is read by nobody, a picture with more shows nothing."""
MOST_STEPS = 12
"""The longest chain that is looked for."""

_OUT = "SELECT source, target, MAX(confidence) FROM citations WHERE is_citation AND target IS NOT NULL{} AND source IN"
_IN = "SELECT source, target, MAX(confidence) FROM citations WHERE is_citation AND target IS NOT NULL{} AND target IN"
_GROUPED = " GROUP BY source, target"

Pair = tuple[int, int]


def graph_from(
    database: ArchiveDatabase,
    starts: Sequence[int],
    depth: int,
    *,
    inferred: bool = False,
    most_nodes: int = MOST_NODES,
    most_edges: int = MOST_EDGES,
) -> Graph:
    """The documents that are reached from some in so many steps, in both directions, and the citations followed.

    Where there are too many, those that were reached first are kept: nearer ones, then those with more
    citations to what is there already.
    """
    with database.snapshot():
        distances = dict.fromkeys(dict.fromkeys(starts[:most_nodes]), 0)
        edges, left_out = dict[Pair, float](), max(0, len(set(starts)) - len(distances))
        frontier = list(distances)
        for distance in range(1, depth + 1):
            found = edges_at(database, frontier, inferred=inferred)
            near = _reached(found, distances)
            room = most_nodes - len(distances)
            left_out += max(0, len(near) - room)
            frontier = near[:room]
            distances |= dict.fromkeys(frontier, distance)
            edges |= {pair: found[pair] for pair in found if pair[0] in distances and pair[1] in distances}
        return _made(database, distances, edges, left_out, most_edges)


def whole_graph(
    database: ArchiveDatabase, *, inferred: bool = False, most_nodes: int = MOST_NODES, most_edges: int = MOST_EDGES
) -> Graph:
    """The documents with the most citations, in and out, and all citations between them."""
    explicit = "" if inferred else EXPLICIT
    with database.snapshot():
        rows = database.rows(
            f"SELECT source, target, MAX(confidence) FROM citations WHERE is_citation AND target IS NOT NULL{explicit}{_GROUPED}"  # noqa: S608 - constants
        )
        degrees = dict[int, int]()
        for source, target, _ in rows:
            degrees[source] = degrees.get(source, 0) + 1
            degrees[target] = degrees.get(target, 0) + 1
        chosen = sorted(degrees, key=lambda number: (-degrees[number], number))
        distances = dict.fromkeys(chosen[:most_nodes], 0)
        edges = {(s, t): confidence for s, t, confidence in rows if s in distances and t in distances}
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
    explicit, came_from, frontier = "" if inferred else EXPLICIT, {source: source}, [source]
    with database.snapshot():
        for _ in range(MOST_STEPS):
            steps = [(one, other) for one, other, _ in _rows(database, _OUT.format(explicit), frontier)]
            if direction == "either":
                steps += [(one, other) for other, one, _ in _rows(database, _IN.format(explicit), frontier)]
            following = list[int]()
            for one, other in sorted(steps):
                if other not in came_from:
                    came_from[other] = one
                    following.append(other)
            if target in came_from:
                return _chain(came_from, target)
            if not following:
                return None
            frontier = following
    return None


def edges_at(database: ArchiveDatabase, numbers: Iterable[int], *, inferred: bool = False) -> dict[Pair, float]:
    """All citations out of and into some documents, each pair once with its best confidence."""
    wanted, explicit = list(numbers), "" if inferred else EXPLICIT
    found = dict[Pair, float]()
    for query in (_OUT, _IN):
        for source, target, confidence in _rows(database, query.format(explicit), wanted):
            found[source, target] = max(confidence, found.get((source, target), 0.0))
    return found


def _rows(database: ArchiveDatabase, query: str, numbers: list[int]) -> Iterable[tuple[int, int, float]]:
    """The rows of a query that ends in IN, grouped, a bounded number at a time."""
    for start in range(0, len(numbers), 500):
        some = numbers[start : start + 500]
        yield from database.rows(f"{query} ({', '.join('?' * len(some))}){_GROUPED}", some)


def _reached(found: dict[Pair, float], known: dict[int, int]) -> list[int]:
    """Documents that are new, those with the most citations first."""
    counts = dict[int, int]()
    for pair in found:
        for number in pair:
            if number not in known:
                counts[number] = counts.get(number, 0) + 1
    return sorted(counts, key=lambda number: (-counts[number], number))


def _made(
    database: ArchiveDatabase, distances: dict[int, int], edges: dict[Pair, float], left_out: int, most_edges: int
) -> Graph:
    documents = database.documents(distances)
    kept = sorted(edges, key=lambda pair: (max(distances[pair[0]], distances[pair[1]]), -edges[pair], pair))[
        :most_edges
    ]
    citing, cited = {pair[0] for pair in kept}, {pair[1] for pair in kept}
    nodes = [
        Node(documents[number], _type(number in citing, number in cited), distance)
        for number, distance in distances.items()
        if number in documents
    ]
    return Graph(
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
    return (
        f"The graph shows {nodes:,} documents; {' and '.join(parts)} are left out. Ask with a smaller depth or limit."
    )


def _chain(came_from: dict[int, int], target: int) -> list[int]:
    chain = [target]
    while came_from[chain[-1]] != chain[-1]:
        chain.append(came_from[chain[-1]])
    return chain[::-1]
