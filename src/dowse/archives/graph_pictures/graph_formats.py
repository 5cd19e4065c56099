"""The graph for other programs: JSON, GraphML, DOT and Mermaid."""

import json
import re
from xml.sax.saxutils import escape, quoteattr

from dowse.archives.archive_replies import document_reply
from dowse.archives.archive_types import CitationGraph, StoredArchiveDocument

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE_KEYS = ("label", "path", "source", "type", "date", "url", "role")


def as_json(graph: CitationGraph) -> str:
    """The graph with all that is known of its documents."""
    value = {
        "nodes": [
            {**document_reply(node.document), "label": node.document.title, "role": node.type} for node in graph.nodes
        ],
        "edges": [{"from": edge.source, "to": edge.target, "confidence": edge.confidence} for edge in graph.edges],
    }
    return json.dumps(value | ({"truncated": graph.cut} if graph.cut else {}), ensure_ascii=False, indent=1) + "\n"


def as_graphml(graph: CitationGraph) -> str:
    """GraphML, as Gephi, yEd and Cytoscape read it."""
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
        facts = _facts(node.document) | {"role": node.type}
        lines += [f'      <data key="{key}">{escape(xml_text(facts[key]))}</data>' for key in _NODE_KEYS if facts[key]]
        lines.append("    </node>")
    for number, edge in enumerate(graph.edges):
        ends = f"source={quoteattr(edge.source)} target={quoteattr(edge.target)}"
        lines.append(f'    <edge id="e{number}" {ends}><data key="confidence">{edge.confidence}</data></edge>')
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def as_dot(graph: CitationGraph) -> str:
    """DOT, as Graphviz reads it."""
    lines = ["digraph citations {", '  node [shape=box, style=rounded, fontname="Helvetica"];']
    for node in graph.nodes:
        tooltip = _dot(f"{node.document.path} {node.document.date or ''}".strip())
        lines.append(f"  {_dot(node.document.id)} [label={_dot(node.document.title)}, tooltip={tooltip}];")
    for edge in graph.edges:
        style = "" if edge.confidence >= 1 else f" [style=dashed, weight={edge.confidence}]"
        lines.append(f"  {_dot(edge.source)} -> {_dot(edge.target)}{style};")
    return "\n".join([*lines, "}", ""])


def as_mermaid(graph: CitationGraph) -> str:
    """Mermaid, as GitHub and many editors show it in Markdown."""
    names = {node.document.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    lines = ["graph LR"]
    lines += [f'  {names[node.document.id]}["{_mermaid(node.document.title)}"]' for node in graph.nodes]
    lines += [
        f"  {names[edge.source]} {'-->' if edge.confidence >= 1 else '-.->'} {names[edge.target]}"
        for edge in graph.edges
    ]
    return "\n".join([*lines, ""])


def xml_text(text: str) -> str:
    """A text without what XML cannot hold."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _facts(document: StoredArchiveDocument) -> dict[str, str]:
    return {
        "label": document.title,
        "path": document.path,
        "source": document.source,
        "type": document.type,
        "date": document.date or "",
        "url": document.url,
    }


def _dot(text: str) -> str:
    line = " ".join(xml_text(text).split())
    return '"{}"'.format(line.replace("\\", "\\\\").replace('"', '\\"'))


def _mermaid(text: str) -> str:
    """A label: what means something to Mermaid or to HTML is written as its number."""
    line = " ".join(xml_text(text).split()) or " "
    return re.sub(r"[^\w .,:()/–-]", lambda sign: f"#{ord(sign[0])};", line)
