"""Where the documents of a graph stand in a picture, by a library made for graphs."""

import math
from collections.abc import Sequence
from typing import Any

from dowse.errors import Failed

Point = tuple[float, float]

SEED = 8
"""The same graph gives the same picture."""
ROUNDS, MANY_NODES, FEW_ROUNDS = 300, 500, 90
"""How often all forces are reckoned; each round is quadratic, and 2,000 nodes take 3 s in 90 of them."""
GAP = 0.12
"""Between groups that no citation joins, as a share of a group's size."""


def laid_out(ids: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, Point]:
    """A place for each document, in a square from 0 to 1.

    Groups of documents that citations join are laid out by springs, each by itself, and put beside each
    other by size; those without any citation stand in rows below.
    """
    if not ids:
        return {}
    rustworkx = _library()
    graph = rustworkx.PyGraph(multigraph=False)
    numbers = dict(zip(ids, graph.add_nodes_from(list(ids)), strict=True))
    graph.add_edges_from_no_data([(numbers[one], numbers[other]) for one, other in edges if one != other])
    groups = sorted(rustworkx.connected_components(graph), key=lambda group: (-len(group), min(group)))
    blocks = [_sprung(rustworkx, graph, group) for group in groups if len(group) > 1]
    alone = [min(group) for group in groups if len(group) == 1]
    if alone:
        blocks.append(_rows(alone))
    return _fitted({ids[number]: place for number, place in _packed(blocks).items()})


def _sprung(rustworkx: Any, graph: Any, group: set[int]) -> dict[int, Point]:
    """A group laid out by springs, in a square whose side grows with the root of its size."""
    members = sorted(group)
    part = graph.subgraph(members)
    rounds = ROUNDS if len(members) <= MANY_NODES else FEW_ROUNDS
    places = rustworkx.spring_layout(part, num_iter=rounds, seed=SEED, k=2.2 / math.sqrt(len(members)))
    side = math.sqrt(len(members))
    low_x, low_y = (min(place[axis] for place in places.values()) for axis in (0, 1))
    span = max(max(place[axis] for place in places.values()) - low for axis, low in ((0, low_x), (1, low_y))) or 1.0
    return {
        members[number]: ((place[0] - low_x) / span * side, (place[1] - low_y) / span * side)
        for number, place in places.items()
    }


def _rows(members: list[int]) -> dict[int, Point]:
    width = max(1, math.ceil(math.sqrt(len(members) * 4)))
    return {member: (at % width * 0.7, at // width * 0.7) for at, member in enumerate(members)}


def _packed(blocks: list[dict[int, Point]]) -> dict[int, Point]:
    """Blocks beside each other in rows about as wide as the largest block or the root of all."""
    sizes = [
        (max(place[0] for place in block.values()) or 0.5, max(place[1] for place in block.values()) or 0.5)
        for block in blocks
    ]
    gap = max(0.5, *(GAP * side for size in sizes for side in size))
    widest, area = max(size[0] for size in sizes), sum(width * tall for width, tall in sizes)
    row_width = max(widest, 1.3 * math.sqrt(area))
    places, x, y, height = dict[int, Point](), 0.0, 0.0, 0.0
    for block, (width, tall) in zip(blocks, sizes, strict=True):
        if x and x + width > row_width:
            x, y, height = 0.0, y + height + gap, 0.0
        places |= {member: (x + place[0], y + place[1]) for member, place in block.items()}
        x, height = x + width + gap, max(height, tall)
    return places


def _fitted(places: dict[str, Point]) -> dict[str, Point]:
    low = [min(place[axis] for place in places.values()) for axis in (0, 1)]
    high = [max(place[axis] for place in places.values()) for axis in (0, 1)]
    span = max(high[0] - low[0], high[1] - low[1]) or 1.0
    middle = [(low[axis] + high[axis]) / 2 for axis in (0, 1)]
    return {
        id_: (round(0.5 + (x - middle[0]) / span, 5), round(0.5 + (y - middle[1]) / span, 5))
        for id_, (x, y) in places.items()
    }


def _library() -> Any:
    try:
        import rustworkx  # 20 ms, for pictures alone
    except ImportError as error:
        raise Failed(
            "A picture is laid out by rustworkx, which is not installed. Run: pip install rustworkx; "
            "or choose --format json, graphml, dot or mermaid."
        ) from error
    return rustworkx
