"""The graph as one HTML file that needs no network, in which users zoom, drag, search, filter and read."""

import base64
import hashlib
import html
import json
import math
from collections import Counter
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_types import CitationGraph, StoredArchiveDocument

MAX_TEXT_CHARACTERS = 3000
"""Characters of the text of a document in a page, which links to the file for the rest: 2,000 documents make 6 MB."""
SOURCE_COLOURS = {"research": "#1f5fa8", "url-content": "#b3541e"}
SOURCE_NAMES = {"research": "research", "url-content": "captured page"}


def as_html(data: dict[str, Any]) -> str:
    """Return the page. Its content security policy allows only its own script and style, and no loading."""
    style, script = _read_asset("graph_page.css"), _read_asset("graph_page.js")
    policy = (
        f"default-src 'none'; script-src '{_csp_hash(script)}'; style-src '{_csp_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": html.escape(policy),
        "title": html.escape(data["title"]),
        "style": style,
        "script": script,
        "data": script_data(data),
    }
    page = _read_asset("graph_page.html")
    pieces = page.split("@@")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def script_data(data: dict[str, Any]) -> str:
    """Return data as JSON for a script element of a page."""
    # Inside a script element only the end tag and comments have a meaning; without < there is neither.
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", " ")
    return text.encode("utf-8", "replace").decode()


def page_data(database: ArchiveDatabase, graph: CitationGraph, title: str) -> dict[str, Any]:
    """Return what the script of the page draws."""
    numbers = {node.document.id: number for number, node in enumerate(graph.nodes)}
    places = lay_out(list(numbers), [(edge.source, edge.target) for edge in graph.edges])
    cited_by = Counter(edge.target for edge in graph.edges)
    texts = database.texts(node.document.number for node in graph.nodes)
    has_starts = any(node.distance for node in graph.nodes)
    nodes = []
    for node in graph.nodes:
        document, (x, y) = node.document, places[node.document.id]
        text, body_start = texts.get(document.number, ("", 0))
        body = text[body_start:].strip()
        nodes.append({
            **{name: getattr(document, name) for name in ("id", "title", "path", "source", "type", "question")},
            "date": document.date or "",
            "url": document.url if document.url.startswith(("http://", "https://")) else "",
            "file": _file_url(database, document),
            "text": body[:MAX_TEXT_CHARACTERS],
            "whole": len(body) <= MAX_TEXT_CHARACTERS,
            "start": has_starts and node.distance == 0,
            "x": x,
            "y": y,
            "r": node_radius(cited_by[document.id], len(graph.nodes)),
        })  # fmt: skip
    return {
        "title": title,
        "note": graph.truncation,
        "colours": SOURCE_COLOURS,
        "names": SOURCE_NAMES,
        "nodes": nodes,
        "edges": [[numbers[edge.source], numbers[edge.target], edge.confidence] for edge in graph.edges],
    }


def node_radius(cited_by: int, nodes: int) -> float:
    """Return the radius of a document, which grows with its citations and is smaller in large graphs."""
    scale = 1.0 if nodes <= 200 else 0.7 if nodes <= 800 else 0.5
    return round(scale * (4 + 2.2 * math.sqrt(cited_by)), 2)


def _file_url(database: ArchiveDatabase, document: StoredArchiveDocument) -> str:
    folder = database.fact(f"folder:{document.archive}")
    try:
        return Path(folder or "", document.archive_path).as_uri() if folder else ""
    except ValueError:  # the folder was recorded on another system
        return ""


def _read_asset(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


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
