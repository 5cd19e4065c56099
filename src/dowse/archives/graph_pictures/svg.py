"""The graph as an SVG for printing: one white page, with the titles of the most cited documents."""

import math
from xml.sax.saxutils import escape

from dowse.archives.graph_pictures.graph_formats import xml_text
from dowse.archives.graph_pictures.picture import DrawnDocument, Picture

WIDTH, HEIGHT = 1684, 1191
"""A4 landscape at 144 dots per inch."""
MARGIN = 60
HEADER_HEIGHT = 60
FONT_SIZE = 13
MAX_LABEL_CHARACTERS = 42
MAX_LABELS = 120
"""Labels that are tried; those that would overlap another are left out. A tooltip shows the title of every document."""
SOURCE_COLOURS = {"research": "#1f5fa8", "url-content": "#b3541e"}
SOURCE_NAMES = {"research": "research", "url-content": "captured page"}

Box = tuple[float, float, float, float]


def as_svg(picture: Picture) -> str:
    """Return the picture as SVG."""
    positions = {drawn.document.id: _position(drawn) for drawn in picture.documents}
    sizes = {drawn.document.id: node_radius(drawn.cited_by, len(picture.documents)) for drawn in picture.documents}
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="297mm" height="210mm" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="{FONT_SIZE}" role="img">',
        f"<title>{_escape_text(picture.title)}</title>",
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#8a8f98"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        *_header(picture),
        '<g stroke="#8a8f98" stroke-width="0.8" stroke-opacity="0.55" fill="none">',
        *(
            _edge(positions[e.source], positions[e.target], sizes[e.target], e.confidence)
            for e in picture.edges
            if e.source != e.target
        ),
        "</g>",
        *(_node(drawn, positions[drawn.document.id], sizes[drawn.document.id]) for drawn in picture.documents),
        *_labels(picture, positions, sizes),
        "</svg>",
        "",
    ]
    return "\n".join(lines)


def node_radius(cited_by: int, nodes: int) -> float:
    """Return the radius of a document, which grows with its citations and is smaller in large graphs."""
    scale = 1.0 if nodes <= 200 else 0.7 if nodes <= 800 else 0.5
    return round(scale * (4 + 2.2 * math.sqrt(cited_by)), 2)


def _position(drawn: DrawnDocument) -> tuple[float, float]:
    width, height = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN - HEADER_HEIGHT
    return round(MARGIN + drawn.position[0] * width, 1), round(MARGIN + HEADER_HEIGHT + drawn.position[1] * height, 1)


def _header(picture: Picture) -> list[str]:
    count = f"{len(picture.documents):,} documents, {len(picture.edges):,} citations"
    lines = [
        f'<text x="{MARGIN}" y="{MARGIN}" font-size="24" font-weight="bold">{_escape_text(_abbreviate(picture.title, 90))}</text>'
    ]
    lines.append(
        f'<text x="{MARGIN}" y="{MARGIN + 22}" fill="#555">{count}{". " + _escape_text(picture.truncation) if picture.truncation else ""}</text>'
    )
    for number, (source, name) in enumerate(SOURCE_NAMES.items()):
        x = WIDTH - MARGIN - 260 + number * 130
        lines.append(f'<circle cx="{x}" cy="{MARGIN - 5}" r="6" fill="{SOURCE_COLOURS[source]}"/>')
        lines.append(f'<text x="{x + 12}" y="{MARGIN}">{name}</text>')
    return lines


def _edge(start: tuple[float, float], end: tuple[float, float], size: float, confidence: float) -> str:
    length = math.dist(start, end) or 1.0
    share = max(0.0, (length - size - 1) / length)
    x, y = start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
    dashes = "" if confidence >= 1 else ' stroke-dasharray="4 3"'
    return f'<path d="M{start[0]} {start[1]}L{x:.1f} {y:.1f}" marker-end="url(#arrow)"{dashes}/>'


def _node(drawn: DrawnDocument, position: tuple[float, float], size: float) -> str:
    document = drawn.document
    about = f"{document.title}\n{document.path}\n{document.date or ''}".strip()
    edge = ' stroke="#111" stroke-width="2"' if drawn.is_start else ' stroke="#fff" stroke-width="0.8"'
    return (
        f'<circle cx="{position[0]}" cy="{position[1]}" r="{size}" fill="{SOURCE_COLOURS[document.source]}"{edge}>'
        f"<title>{_escape_text(about)}</title></circle>"
    )


def _labels(picture: Picture, positions: dict[str, tuple[float, float]], sizes: dict[str, float]) -> list[str]:
    """Return the titles of the most important documents, as many as fit without overlap."""
    ordered = sorted(
        picture.documents, key=lambda drawn: (not drawn.is_start, -drawn.cited_by, -drawn.cites, drawn.document.id)
    )
    taken = [_node_box(positions[drawn.document.id], sizes[drawn.document.id]) for drawn in ordered[:40]]
    lines = list[str]()
    for drawn in ordered[:MAX_LABELS]:
        name = _abbreviate(drawn.document.title, MAX_LABEL_CHARACTERS)
        (x, y), size = positions[drawn.document.id], sizes[drawn.document.id]
        width = len(name) * FONT_SIZE * 0.55
        for left in (x + size + 3, x - size - 3 - width):
            box = (left, y - FONT_SIZE * 0.6, left + width, y + FONT_SIZE * 0.6)
            is_inside = box[0] >= 5 and box[2] <= WIDTH - 5
            if is_inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                lines.append(
                    f'<text x="{left:.1f}" y="{y + FONT_SIZE * 0.35:.1f}" paint-order="stroke" stroke="#fff" '
                    f'stroke-width="3" stroke-linejoin="round">{_escape_text(name)}</text>'
                )
                break
    return lines


def _node_box(position: tuple[float, float], size: float) -> Box:
    return position[0] - size, position[1] - size, position[0] + size, position[1] + size


def _overlap(box: Box, other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def _abbreviate(text: str, max_characters: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= max_characters else line[: max_characters - 1].rstrip() + "…"


def _escape_text(text: str) -> str:
    return escape(xml_text(text))
