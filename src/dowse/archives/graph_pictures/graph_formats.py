"""The graph in the formats of other programs: JSON and GraphML."""

import json
import re
from xml.sax.saxutils import escape, quoteattr

from dowse.archives.archive_replies import document_reply
from dowse.archives.archive_types import CitationGraph, StoredArchiveDocument

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE_KEYS = ("label", "path", "source", "type", "date", "url", "role")


def as_json(graph: CitationGraph) -> str:
    """Return the graph as JSON, with all fields of its documents."""
    value = {
        "nodes": [
            {**document_reply(node.document), "label": node.document.title, "role": node.type} for node in graph.nodes
        ],
        "edges": [{"from": edge.source, "to": edge.target, "confidence": edge.confidence} for edge in graph.edges],
    }
    return (
        json.dumps(value | ({"truncated": graph.truncation} if graph.truncation else {}), ensure_ascii=False, indent=1)
        + "\n"
    )


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
        values = _node_values(node.document) | {"role": node.type}
        lines += [
            f'      <data key="{key}">{escape(_xml_text(values[key]))}</data>' for key in _NODE_KEYS if values[key]
        ]
        lines.append("    </node>")
    for number, edge in enumerate(graph.edges):
        ends = f"source={quoteattr(edge.source)} target={quoteattr(edge.target)}"
        lines.append(f'    <edge id="e{number}" {ends}><data key="confidence">{edge.confidence}</data></edge>')
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def _xml_text(text: str) -> str:
    """Replace the characters that XML does not allow."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _node_values(document: StoredArchiveDocument) -> dict[str, str]:
    return {
        "label": document.title,
        "path": document.path,
        "source": document.source,
        "type": document.type,
        "date": document.date or "",
        "url": document.url,
    }
