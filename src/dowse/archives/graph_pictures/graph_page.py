"""The graph as one HTML file that needs no network: zoomed, dragged, searched, filtered, and read."""

import base64
import hashlib
import html
import json
from importlib import resources
from typing import Any

from dowse.archives.graph_pictures.picture import DrawnDocument, Picture
from dowse.archives.graph_pictures.svg import COLOURS, NAMES, radius


def as_page(picture: Picture) -> str:
    """The page. Its script and style are the only ones it lets run, and it may load nothing."""
    style, script = _part("graph_page.css"), _part("graph_page.js")
    # Inside a script element only its end tag and comments mean anything; without < there are neither.
    data = json.dumps(_data(picture), ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", " ")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": html.escape(policy),
        "title": html.escape(picture.title),
        "style": style,
        "script": script,
        "data": data.encode("utf-8", "replace").decode(),
    }
    page = _part("graph_page.html")
    pieces = page.split("@@")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def _data(picture: Picture) -> dict[str, Any]:
    numbers = {one.document.id: number for number, one in enumerate(picture.drawn)}
    return {
        "title": picture.title,
        "note": picture.cut,
        "colours": COLOURS,
        "names": NAMES,
        "nodes": [_node(one, len(picture.drawn)) for one in picture.drawn],
        "edges": [[numbers[edge.source], numbers[edge.target], edge.confidence] for edge in picture.edges],
    }


def _node(one: DrawnDocument, nodes: int) -> dict[str, Any]:
    document = one.document
    return {
        "id": document.id,
        "title": document.title,
        "path": document.path,
        "source": document.source,
        "type": document.type,
        "date": document.date or "",
        "question": document.question,
        "url": document.url if document.url.startswith(("http://", "https://")) else "",
        "file": one.file,
        "text": one.text,
        "whole": one.is_whole,
        "start": one.is_start,
        "x": one.place[0],
        "y": one.place[1],
        "r": radius(one.cited_by, nodes),
    }


def _part(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
