"""The graph as one HTML file that needs no network, in which users zoom, drag, search, filter and read."""

import base64
import hashlib
import html
import json
from importlib import resources
from typing import Any

from dowse.archives.graph_pictures.picture import DrawnDocument, Picture
from dowse.archives.graph_pictures.svg import SOURCE_COLOURS, SOURCE_NAMES, node_radius


def as_html(picture: Picture) -> str:
    """Return the page. Its content security policy allows only its own script and style, and no loading."""
    style, script = _read_asset("graph_page.css"), _read_asset("graph_page.js")
    policy = (
        f"default-src 'none'; script-src '{_csp_hash(script)}'; style-src '{_csp_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": html.escape(policy),
        "title": html.escape(picture.title),
        "style": style,
        "script": script,
        "data": script_data(page_data(picture)),
    }
    page = _read_asset("graph_page.html")
    pieces = page.split("@@")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def script_data(data: dict[str, Any]) -> str:
    """Return data as JSON for a script element of a page."""
    # Inside a script element only the end tag and comments have a meaning; without < there is neither.
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", " ")
    return text.encode("utf-8", "replace").decode()


def page_data(picture: Picture) -> dict[str, Any]:
    """Return what the script of the page draws."""
    numbers = {drawn.document.id: number for number, drawn in enumerate(picture.documents)}
    return {
        "title": picture.title,
        "note": picture.truncation,
        "colours": SOURCE_COLOURS,
        "names": SOURCE_NAMES,
        "nodes": [_node_data(drawn, len(picture.documents)) for drawn in picture.documents],
        "edges": [[numbers[edge.source], numbers[edge.target], edge.confidence] for edge in picture.edges],
    }


def _node_data(drawn: DrawnDocument, nodes: int) -> dict[str, Any]:
    document = drawn.document
    return {
        "id": document.id,
        "title": document.title,
        "path": document.path,
        "source": document.source,
        "type": document.type,
        "date": document.date or "",
        "question": document.question,
        "url": document.url if document.url.startswith(("http://", "https://")) else "",
        "file": drawn.file_url,
        "text": drawn.text,
        "whole": drawn.has_whole_text,
        "start": drawn.is_start,
        "x": drawn.position[0],
        "y": drawn.position[1],
        "r": node_radius(drawn.cited_by, nodes),
    }


def _read_asset(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
