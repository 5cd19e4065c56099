"""Exports for other programs: documents as BibTeX, and the graph of citations as GraphML."""

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from dowse.archives.archive_replies import document_reply
from dowse.archives.archive_types import CitationGraph, StoredArchiveDocument

_TEX_ESCAPES = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE_KEYS = ("label", "path", "source", "type", "date", "url", "role")


def as_graphml(graph: CitationGraph) -> str:
    """Return the graph as GraphML, as Gephi, yEd and Cytoscape read it."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">',
        *(f'  <key id="{key}" for="node" attr.name="{key}" attr.type="string"/>' for key in _NODE_KEYS),
        '  <key id="confidence" for="edge" attr.name="confidence" attr.type="double"/>',
        '  <graph id="citations" edgedefault="directed">',
    ]
    for node in graph.nodes:
        lines.append(f"    <node id={quoteattr(node.document.id)}>")
        values = document_reply(node.document) | {"label": node.document.title, "role": node.type}
        for key in filter(values.get, _NODE_KEYS):
            text = _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", values[key])
            lines.append(f'      <data key="{key}">{escape(text)}</data>')
        lines.append("    </node>")
    for number, edge in enumerate(graph.edges):
        ends = f"source={quoteattr(edge.source)} target={quoteattr(edge.target)}"
        lines.append(f'    <edge id="e{number}" {ends}><data key="confidence">{edge.confidence}</data></edge>')
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def as_bibtex(documents: Iterable[StoredArchiveDocument]) -> str:
    """Return BibTeX with an entry for each document, whose key is the id of the document."""
    return "\n".join(map(_bibtex_entry, documents))


def _bibtex_entry(document: StoredArchiveDocument) -> str:
    fields = {
        "title": f"{{{_escape_tex(document.title)}}}",
        # Braces would end the field.
        "url": _CONTROL.sub("", document.url).replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C"),
        "note": _escape_tex(document.path),
    }
    year, *rest = (document.date or "").split("-")
    fields |= {"year": year, "month": rest[0].lstrip("0") if rest else "", "date": document.date or ""}
    fields |= {"urldate": document.date or ""} if document.url else {}
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@{'online' if document.url else 'misc'}{{{document.id},\n" + ",\n".join(lines) + "\n}\n"


def _escape_tex(text: str) -> str:
    return "".join(_TEX_ESCAPES.get(character, character) for character in _CONTROL.sub(" ", text))
