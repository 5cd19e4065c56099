"""Layout of a graph: the position of each document in a picture."""

import math
from collections.abc import Sequence

Point = tuple[float, float]

ROUNDS, MANY_NODES, FEW_ROUNDS = 300, 500, 90
"""Rounds of the layout, fewer for many nodes. A round takes quadratic time; 90 rounds of 2,000 nodes take 3 s."""
SPRING_LENGTH, FIRST_STEP = 2.2, 0.1
"""Length of a spring for one document, and the longest move in the first round, where the picture has the width 1."""
GRAVITY = 6.0
"""The pull to the middle for one document, which keeps unconnected groups beside each other."""
SPREAD = (0.7548776662466927, 0.5698402909980532)
"""Multiples of these two numbers, without their integer part, are evenly spread over a square (the sequence R2)."""


def lay_out(ids: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, Point]:
    """Return a position for each document, in a square from 0 to 1, by Fruchterman and Reingold.

    Documents repel each other, citations pull together, and all are pulled to the middle; the steps get shorter with
    each round. The operations are those that IEEE 754 defines exactly, without BLAS, so that a graph gives the same
    picture on every machine.
    """
    if not ids:
        return {}
    import numpy as np  # only pictures need it here

    count = len(ids)
    rounds, precision = (ROUNDS, np.float64) if count <= MANY_NODES else (FEW_ROUNDS, np.float32)
    numbers = {id_: number for number, id_ in enumerate(ids)}
    joined = sorted({(*sorted((numbers[one], numbers[other])),) for one, other in edges if one != other})
    ends = np.array(joined, dtype=np.intp).reshape(-1, 2).T
    positions = (np.arange(count) * np.array(SPREAD)[:, None] % 1).astype(precision)
    length, gravity = SPRING_LENGTH / math.sqrt(count), GRAVITY / math.sqrt(count)
    for step in np.linspace(FIRST_STEP, 0, rounds, endpoint=False, dtype=precision):
        spans = positions[:, None] - positions[:, :, None]
        distances = np.maximum(spans[0] * spans[0] + spans[1] * spans[1], 1e-6)
        np.fill_diagonal(distances, np.inf)
        forces = -(spans * (length**3 / (distances * np.sqrt(distances)))).sum(2) - gravity * (positions - 0.5)
        spans = positions[:, ends[0]] - positions[:, ends[1]]
        pulls = spans * np.sqrt(spans[0] * spans[0] + spans[1] * spans[1]) / length
        np.subtract.at(forces.T, ends[0], pulls.T)
        np.add.at(forces.T, ends[1], pulls.T)
        norms = np.sqrt(forces[0] * forces[0] + forces[1] * forces[1])
        positions = positions + forces * np.minimum(step / np.maximum(norms, 1e-9), 1)
    low, high = positions.min(1), positions.max(1)
    places = 0.5 + (positions - ((low + high) / 2)[:, None]) / (max(high - low) or 1.0)
    return {id_: (round(float(x), 5), round(float(y), 5)) for id_, x, y in zip(ids, *places, strict=True)}
