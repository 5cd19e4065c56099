"""The parsers of documents and code, as indexing calls them."""

from dowse.chunking import chunk
from dowse.reading import read_document
from dowse.reading.links import find_links
from dowse.reading.outlines import Outline

__all__ = ["chunk", "outline", "read_document"]


def outline(text: str) -> None:
    """Find the headings, sections and links of a text."""
    found = Outline(text)
    for heading in found.headings[:20]:
        found.section(heading.anchor)
    find_links(text)
