"""Reader of AsciiDoc, which becomes Markdown; nothing is included from other files."""

import re

from dowse.reading.asciidoc.blocks import AsciiDocBlocks
from dowse.reading.decoding import decode
from dowse.reading.front_matter import FrontMatter, read_front_matter
from dowse.reading.markdown import read_converted
from dowse.types import Reading


def read_asciidoc(data: bytes, path: str) -> Reading:
    """Read AsciiDoc: sections, lists, tables, code and links as Markdown, and metadata from its attributes."""
    decoded = decode(data)
    matter = read_front_matter(decoded.text)  # some site generators allow it before the document
    source = re.sub(r"\r\n?", "\n", decoded.text[matter.end :])
    blocks = AsciiDocBlocks([line.rstrip() for line in source.split("\n")])
    text = "\n\n".join(blocks.convert())
    return read_converted(text + "\n" if text else "", path, decoded.encoding, _read_metadata(blocks, matter))


def _read_metadata(blocks: AsciiDocBlocks, matter: FrontMatter) -> FrontMatter:
    """Return the metadata of a document: from front matter, else from attributes."""
    keywords = (word.strip() for word in blocks.attributes.get("keywords").split(","))
    return FrontMatter(
        matter.title or blocks.attributes.get("doctitle"),
        matter.description or blocks.attributes.get("description"),
        matter.tags or tuple(dict.fromkeys(filter(None, keywords))),
    )
