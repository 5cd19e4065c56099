"""A picture of a graph: the position of each document, and the facts that the picture shows of it."""

from dataclasses import dataclass
from pathlib import Path

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_types import CitationGraph, Edge, StoredArchiveDocument
from dowse.archives.graph_pictures.layout import Point, lay_out

MAX_TEXT_CHARACTERS = 3000
"""Characters of the text of a document in a page, which links to the file for the rest: 2,000 documents make 6 MB."""


@dataclass(frozen=True, slots=True)
class DrawnDocument:
    """A document in a picture."""

    document: StoredArchiveDocument
    position: Point
    cited_by: int
    cites: int
    is_start: bool
    """Whether the document is one that the graph starts from."""
    text: str = ""
    has_whole_text: bool = True
    file_url: str = ""
    """The URL of the file on this machine."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Documents at their positions, and the citations between them."""

    title: str
    documents: tuple[DrawnDocument, ...]
    edges: tuple[Edge, ...]
    truncation: str = ""


def draw_picture(database: ArchiveDatabase, graph: CitationGraph, title: str, *, with_text: bool) -> Picture:
    """Lay out a graph as a picture. `with_text` adds the texts, for pictures in which users read documents."""
    ids = [node.document.id for node in graph.nodes]
    positions = lay_out(ids, [(edge.source, edge.target) for edge in graph.edges])
    cited_by, cites = dict.fromkeys(ids, 0), dict.fromkeys(ids, 0)
    for edge in graph.edges:
        cites[edge.source] += 1
        cited_by[edge.target] += 1
    texts = database.texts(node.document.number for node in graph.nodes) if with_text else {}
    has_starts = any(node.distance for node in graph.nodes)
    drawn = []
    for node in graph.nodes:
        document = node.document
        text, body_start = texts.get(document.number, ("", 0))
        drawn.append(
            DrawnDocument(
                document,
                positions[document.id],
                cited_by[document.id],
                cites[document.id],
                has_starts and node.distance == 0,
                text[body_start:].strip()[:MAX_TEXT_CHARACTERS],
                len(text[body_start:].strip()) <= MAX_TEXT_CHARACTERS,
                _file_url(database, document),
            )
        )
    return Picture(title, tuple(drawn), graph.edges, graph.truncation)


def _file_url(database: ArchiveDatabase, document: StoredArchiveDocument) -> str:
    folder = database.fact(f"folder:{document.archive}")
    try:
        return Path(folder or "", document.archive_path).as_uri() if folder else ""
    except ValueError:  # the folder was recorded on another system
        return ""
