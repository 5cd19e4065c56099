"""The graph as an SVG that prints well: one page, white, with the names of what is cited most."""

import math
from xml.sax.saxutils import escape

from dowse.archives.graph_pictures.graph_formats import xml_text
from dowse.archives.graph_pictures.picture import DrawnDocument, Picture

WIDTH, HEIGHT = 1684, 1191
"""A4 across, at 144 dots an inch."""
MARGIN = 60
HEAD = 60
FONT = 13
LABEL_CHARACTERS = 42
MOST_LABELS = 120
"""Names that are tried; those that would stand on another are left out, and shown when pointed at."""
COLOURS = {"research": "#1f5fa8", "url-content": "#b3541e"}
NAMES = {"research": "research", "url-content": "captured page"}

Box = tuple[float, float, float, float]


def as_svg(picture: Picture) -> str:
    """The picture."""
    places = {one.document.id: _place(one) for one in picture.drawn}
    sizes = {one.document.id: radius(one.cited_by, len(picture.drawn)) for one in picture.drawn}
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="297mm" height="210mm" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="{FONT}" role="img">',
        f"<title>{_text(picture.title)}</title>",
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#8a8f98"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        *_head(picture),
        '<g stroke="#8a8f98" stroke-width="0.8" stroke-opacity="0.55" fill="none">',
        *(
            _edge(places[e.source], places[e.target], sizes[e.target], e.confidence)
            for e in picture.edges
            if e.source != e.target
        ),
        "</g>",
        *(_node(one, places[one.document.id], sizes[one.document.id]) for one in picture.drawn),
        *_labels(picture, places, sizes),
        "</svg>",
        "",
    ]
    return "\n".join(lines)


def radius(cited_by: int, nodes: int) -> float:
    """How large a document is drawn: by how many cite it, and smaller where there are many."""
    scale = 1.0 if nodes <= 200 else 0.7 if nodes <= 800 else 0.5
    return round(scale * (4 + 2.2 * math.sqrt(cited_by)), 2)


def _place(one: DrawnDocument) -> tuple[float, float]:
    across, tall = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN - HEAD
    return round(MARGIN + one.place[0] * across, 1), round(MARGIN + HEAD + one.place[1] * tall, 1)


def _head(picture: Picture) -> list[str]:
    count = f"{len(picture.drawn):,} documents, {len(picture.edges):,} citations"
    lines = [
        f'<text x="{MARGIN}" y="{MARGIN}" font-size="24" font-weight="bold">{_text(_short(picture.title, 90))}</text>'
    ]
    lines.append(
        f'<text x="{MARGIN}" y="{MARGIN + 22}" fill="#555">{count}{". " + _text(picture.cut) if picture.cut else ""}</text>'
    )
    for number, (source, name) in enumerate(NAMES.items()):
        x = WIDTH - MARGIN - 260 + number * 130
        lines.append(f'<circle cx="{x}" cy="{MARGIN - 5}" r="6" fill="{COLOURS[source]}"/>')
        lines.append(f'<text x="{x + 12}" y="{MARGIN}">{name}</text>')
    return lines


def _edge(start: tuple[float, float], end: tuple[float, float], size: float, confidence: float) -> str:
    length = math.dist(start, end) or 1.0
    share = max(0.0, (length - size - 1) / length)
    x, y = start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
    dashes = "" if confidence >= 1 else ' stroke-dasharray="4 3"'
    return f'<path d="M{start[0]} {start[1]}L{x:.1f} {y:.1f}" marker-end="url(#arrow)"{dashes}/>'


def _node(one: DrawnDocument, place: tuple[float, float], size: float) -> str:
    document = one.document
    about = f"{document.title}\n{document.path}\n{document.date or ''}".strip()
    edge = ' stroke="#111" stroke-width="2"' if one.is_start else ' stroke="#fff" stroke-width="0.8"'
    return (
        f'<circle cx="{place[0]}" cy="{place[1]}" r="{size}" fill="{COLOURS[document.source]}"{edge}>'
        f"<title>{_text(about)}</title></circle>"
    )


def _labels(picture: Picture, places: dict[str, tuple[float, float]], sizes: dict[str, float]) -> list[str]:
    """The names of the most important documents, as many as fit without touching each other."""
    ordered = sorted(picture.drawn, key=lambda one: (not one.is_start, -one.cited_by, -one.cites, one.document.id))
    taken = [_around(places[one.document.id], sizes[one.document.id]) for one in ordered[:40]]
    lines = list[str]()
    for one in ordered[:MOST_LABELS]:
        name = _short(one.document.title, LABEL_CHARACTERS)
        (x, y), size = places[one.document.id], sizes[one.document.id]
        width = len(name) * FONT * 0.55
        for left in (x + size + 3, x - size - 3 - width):
            box = (left, y - FONT * 0.6, left + width, y + FONT * 0.6)
            is_inside = box[0] >= 5 and box[2] <= WIDTH - 5
            if is_inside and not any(_touch(box, other) for other in taken):
                taken.append(box)
                lines.append(
                    f'<text x="{left:.1f}" y="{y + FONT * 0.35:.1f}" paint-order="stroke" stroke="#fff" '
                    f'stroke-width="3" stroke-linejoin="round">{_text(name)}</text>'
                )
                break
    return lines


def _around(place: tuple[float, float], size: float) -> Box:
    return place[0] - size, place[1] - size, place[0] + size, place[1] + size


def _touch(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _text(text: str) -> str:
    return escape(xml_text(text))
