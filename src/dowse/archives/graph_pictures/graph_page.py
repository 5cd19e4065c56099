"""The graph as one HTML file that needs no network, in which users zoom, drag, search, filter and read."""

import base64
import hashlib
import html
import json
import math
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_types import CitationGraph, StoredArchiveDocument
from dowse.archives.graph_pictures.layout import lay_out

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
        document = node.document
        text, body_start = texts.get(document.number, ("", 0))
        body = text[body_start:].strip()
        nodes.append({
            "id": document.id,
            "title": document.title,
            "path": document.path,
            "source": document.source,
            "type": document.type,
            "date": document.date or "",
            "question": document.question,
            "url": document.url if document.url.startswith(("http://", "https://")) else "",
            "file": _file_url(database, document),
            "text": body[:MAX_TEXT_CHARACTERS],
            "whole": len(body) <= MAX_TEXT_CHARACTERS,
            "start": has_starts and node.distance == 0,
            "x": places[document.id][0],
            "y": places[document.id][1],
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
