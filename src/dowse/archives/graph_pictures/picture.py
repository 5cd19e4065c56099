"""A graph with all that a picture of it shows: where each document stands, and what is known of it."""

from dataclasses import dataclass
from pathlib import Path

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_types import CitationGraph, Edge, StoredArchiveDocument
from dowse.archives.graph_pictures.layout import Point, laid_out

TEXT_CHARACTERS = 3000
"""Of a document's text a page has so much, with a link to the rest: 2,000 documents make 6 MB."""


@dataclass(frozen=True, slots=True)
class DrawnDocument:
    """A document in a picture."""

    document: StoredArchiveDocument
    place: Point
    cited_by: int
    cites: int
    is_start: bool
    """What was asked for, and not what was reached from it."""
    text: str = ""
    is_whole: bool = True
    file: str = ""
    """The address of the file on this machine."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Documents at their places, and the citations between them."""

    title: str
    drawn: tuple[DrawnDocument, ...]
    edges: tuple[Edge, ...]
    cut: str = ""


def drawn_picture(database: ArchiveDatabase, graph: CitationGraph, title: str, *, with_text: bool) -> Picture:
    """Lay a graph out; `with_text` for pictures that documents can be read in."""
    ids = [node.document.id for node in graph.nodes]
    places = laid_out(ids, [(edge.source, edge.target) for edge in graph.edges])
    cited_by, cites = dict.fromkeys(ids, 0), dict.fromkeys(ids, 0)
    for edge in graph.edges:
        cites[edge.source] += 1
        cited_by[edge.target] += 1
    texts = database.texts(node.document.number for node in graph.nodes) if with_text else {}
    has_starts = any(node.distance for node in graph.nodes)
    drawn = []
    for node in graph.nodes:
        document = node.document
        text, body = texts.get(document.number, ("", 0))
        drawn.append(
            DrawnDocument(
                document,
                places[document.id],
                cited_by[document.id],
                cites[document.id],
                has_starts and node.distance == 0,
                text[body:].strip()[:TEXT_CHARACTERS],
                len(text[body:].strip()) <= TEXT_CHARACTERS,
                _file(database, document),
            )
        )
    return Picture(title, tuple(drawn), graph.edges, graph.cut)


def _file(database: ArchiveDatabase, document: StoredArchiveDocument) -> str:
    folder = database.fact(f"folder:{document.archive}")
    try:
        return Path(folder or "", document.below).as_uri() if folder else ""
    except ValueError:  # a folder that was noted on another system
        return ""
