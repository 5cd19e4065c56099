"""Layout of a graph: the position of each document in a picture."""

import math
from collections import defaultdict
from collections.abc import Sequence

Point = tuple[float, float]
Edge = tuple[int, int]

ROUNDS, MANY_NODES, FEW_ROUNDS = 300, 500, 90
"""Rounds of the spring layout, fewer for many nodes. A round takes quadratic time; 90 rounds of 2,000 nodes take 3 s."""
SPRING_LENGTH, FIRST_STEP = 2.2, 0.1
"""Length of a spring for one document, and the longest move in the first round, where the picture has the width 1."""
SPREAD = (0.7548776662466927, 0.5698402909980532)
"""Multiples of these two numbers, without their integer part, are evenly spread over a square (the sequence R2)."""
GAP_SHARE = 0.12
"""Gap between unconnected groups, as a share of the size of a group."""


def lay_out(ids: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, Point]:
    """Return a position for each document, in a square from 0 to 1.

    Each group of documents connected by citations gets a spring layout of its own. The groups are placed side
    by side, ordered by size; documents without citations stand in rows below.
    """
    if not ids:
        return {}
    numbers = {id_: number for number, id_ in enumerate(ids)}
    groups = _connected_groups(len(ids), [(numbers[source], numbers[target]) for source, target in edges])
    blocks = [_spring_layout(members, inner) for members, inner in groups if len(members) > 1]
    alone = [members[0] for members, _ in groups if len(members) == 1]
    if alone:
        width = max(1, math.ceil(math.sqrt(len(alone) * 4)))
        blocks.append({member: (at % width * 0.7, at // width * 0.7) for at, member in enumerate(alone)})
    return _scale_to_unit_square({ids[number]: position for number, position in _pack_blocks(blocks).items()})


def _connected_groups(count: int, edges: list[Edge]) -> list[tuple[list[int], set[Edge]]]:
    """Return the members of each connected group and the edges between them, the largest group first."""
    first = list(range(count))
    """A node of the same group that has a lower number, or the node itself."""

    def find_first(node: int) -> int:
        while first[node] != node:
            first[node] = node = first[first[node]]
        return node

    for source, target in edges:
        low, high = sorted((find_first(source), find_first(target)))
        first[high] = low
    members, inner = defaultdict[int, list[int]](list), defaultdict[int, set[Edge]](set)
    for node in range(count):
        members[find_first(node)].append(node)
    for source, target in edges:
        if source != target:
            inner[find_first(source)].add((min(source, target), max(source, target)))
    return [(members[at], inner[at]) for at in sorted(members, key=lambda at: (-len(members[at]), at))]


def _spring_layout(members: list[int], edges: set[Edge]) -> dict[int, Point]:
    """Return the layout of a group by Fruchterman and Reingold, in a square whose side grows with the root of its size.

    Documents repel each other, and citations pull together; the steps get shorter with each round. The operations are
    those that IEEE 754 defines exactly, without BLAS, so that a graph gives the same picture on every machine.
    """
    import numpy as np  # only pictures need it here

    count = len(members)
    rounds, precision = (ROUNDS, np.float64) if count <= MANY_NODES else (FEW_ROUNDS, np.float32)
    numbers = {member: number for number, member in enumerate(members)}
    ends = np.array([(numbers[source], numbers[target]) for source, target in sorted(edges)]).T
    positions = (np.arange(count) * np.array(SPREAD)[:, None] % 1).astype(precision)
    length = SPRING_LENGTH / math.sqrt(count)
    for step in np.linspace(FIRST_STEP, 0, rounds, endpoint=False, dtype=precision):
        spans = positions[:, None] - positions[:, :, None]
        distances = np.maximum(spans[0] * spans[0] + spans[1] * spans[1], 1e-6)
        np.fill_diagonal(distances, np.inf)
        forces = (spans * (length**3 / (distances * np.sqrt(distances)))).sum(1)
        spans = positions[:, ends[0]] - positions[:, ends[1]]
        pulls = spans * np.sqrt(spans[0] * spans[0] + spans[1] * spans[1]) / length
        np.subtract.at(forces.T, ends[0], pulls.T)
        np.add.at(forces.T, ends[1], pulls.T)
        norms = np.sqrt(forces[0] * forces[0] + forces[1] * forces[1])
        positions = positions + forces * np.minimum(step / np.maximum(norms, 1e-9), 1)
    positions -= positions.min(1)[:, None]
    positions *= math.sqrt(count) / (positions.max() or 1.0)
    return {member: (float(x), float(y)) for member, x, y in zip(members, *positions, strict=True)}


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
