"""Layout of a graph: the position of each document in a picture, computed by rustworkx."""

import math
from collections.abc import Sequence
from typing import Any

from dowse.errors import Failed

Point = tuple[float, float]

SEED = 8
"""A fixed seed, so that the same graph gives the same picture."""
ROUNDS, MANY_NODES, FEW_ROUNDS = 300, 500, 90
"""Rounds of the spring layout, fewer for many nodes. A round takes quadratic time; 90 rounds of 2,000 nodes take 3 s."""
GAP_SHARE = 0.12
"""Gap between unconnected groups, as a share of the size of a group."""


def lay_out(ids: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, Point]:
    """Return a position for each document, in a square from 0 to 1.

    Each group of documents connected by citations gets a spring layout of its own. The groups are placed side
    by side, ordered by size; documents without citations stand in rows below.
    """
    if not ids:
        return {}
    rustworkx = _import_rustworkx()
    graph = rustworkx.PyGraph(multigraph=False)
    numbers = dict(zip(ids, graph.add_nodes_from(list(ids)), strict=True))
    graph.add_edges_from_no_data([(numbers[source], numbers[target]) for source, target in edges if source != target])
    groups = sorted(rustworkx.connected_components(graph), key=lambda group: (-len(group), min(group)))
    blocks = [_spring_layout(rustworkx, graph, group) for group in groups if len(group) > 1]
    alone = [min(group) for group in groups if len(group) == 1]
    if alone:
        blocks.append(_row_layout(alone))
    return _scale_to_unit_square({ids[number]: position for number, position in _pack_blocks(blocks).items()})


def _spring_layout(rustworkx: Any, graph: Any, group: set[int]) -> dict[int, Point]:
    """Return a spring layout of a group, in a square whose side grows with the square root of its size."""
    members = sorted(group)
    subgraph = graph.subgraph(members)
    rounds = ROUNDS if len(members) <= MANY_NODES else FEW_ROUNDS
    positions = rustworkx.spring_layout(subgraph, num_iter=rounds, seed=SEED, k=2.2 / math.sqrt(len(members)))
    side = math.sqrt(len(members))
    low_x, low_y = (min(position[axis] for position in positions.values()) for axis in (0, 1))
    span = (
        max(max(position[axis] for position in positions.values()) - low for axis, low in ((0, low_x), (1, low_y)))
        or 1.0
    )
    return {
        members[number]: ((position[0] - low_x) / span * side, (position[1] - low_y) / span * side)
        for number, position in positions.items()
    }


def _row_layout(members: list[int]) -> dict[int, Point]:
    width = max(1, math.ceil(math.sqrt(len(members) * 4)))
    return {member: (at % width * 0.7, at // width * 0.7) for at, member in enumerate(members)}


def _pack_blocks(blocks: list[dict[int, Point]]) -> dict[int, Point]:
    """Place blocks side by side, in rows about as wide as the widest block or the square root of the whole area."""
    sizes = [
        (max(position[0] for position in block.values()) or 0.5, max(position[1] for position in block.values()) or 0.5)
        for block in blocks
    ]
    gap = max(0.5, *(GAP_SHARE * side for size in sizes for side in size))
    widest, area = max(size[0] for size in sizes), sum(width * height for width, height in sizes)
    row_width = max(widest, 1.3 * math.sqrt(area))
    positions, x, y, row_height = dict[int, Point](), 0.0, 0.0, 0.0
    for block, (width, height) in zip(blocks, sizes, strict=True):
        if x and x + width > row_width:
            x, y, row_height = 0.0, y + row_height + gap, 0.0
        positions |= {member: (x + position[0], y + position[1]) for member, position in block.items()}
        x, row_height = x + width + gap, max(row_height, height)
    return positions


def _scale_to_unit_square(positions: dict[str, Point]) -> dict[str, Point]:
    low = [min(position[axis] for position in positions.values()) for axis in (0, 1)]
    high = [max(position[axis] for position in positions.values()) for axis in (0, 1)]
    span = max(high[0] - low[0], high[1] - low[1]) or 1.0
    middle = [(low[axis] + high[axis]) / 2 for axis in (0, 1)]
    return {
        id_: (round(0.5 + (x - middle[0]) / span, 5), round(0.5 + (y - middle[1]) / span, 5))
        for id_, (x, y) in positions.items()
    }


def _import_rustworkx() -> Any:
    try:
        import rustworkx  # takes 20 ms, and only pictures need it
    except ImportError as error:
        raise Failed(
            "Pictures need rustworkx, which is not installed. Run: pip install rustworkx; "
            "or choose --format json, graphml, dot or mermaid."
        ) from error
    return rustworkx
