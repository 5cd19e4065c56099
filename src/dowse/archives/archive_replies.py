"""JSON replies about the archives, whose names and shapes the specification sets; and exports as BibTeX and GraphML."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, Literal
from xml.sax.saxutils import escape, quoteattr

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_types import ArchiveHit, Citation, CitationGraph, StoredArchiveDocument
from dowse.archives.citation_graph import broken_links, graph_from, most_cited, most_cited_unarchived
from dowse.screening.masking import screen_text, warning_fields

MAX_CITATIONS = 50
"""Citations of a hit in each direction in the reply of a search; `find_citations` returns all."""

Reply = dict[str, Any]


def search_reply(database: ArchiveDatabase | None, hits: Sequence[ArchiveHit], arguments: Reply) -> Reply:
    """Return the reply of `searchLocalArchives`; without a database, or for what it lacks, there are no citations."""
    results: list[Reply] = [
        {
            "document": document_reply(hit.document, hit.score),
            "highlights": [{key: value for key, value in asdict(one).items() if value} for one in hit.highlights],
        }
        for hit in hits
    ]
    reply: Reply = {"results": results}
    if arguments["includeCitations"] and hits and database:
        known = database.numbers(hit.document.id for hit in hits)
        numbers = list(known.values())
        citing = database.citations("source", numbers)
        cited = database.citations("target", numbers)
        for hit, result in zip(hits, results, strict=True):
            number = known.get(hit.document.id, 0)
            result["citations"] = _hit_citations(citing.get(number, []), cited.get(number, []))
        starts = [known[hit.document.id] for hit in hits if hit.document.id in known]
        reply["citationGraph"] = graph_reply(graph_from(database, starts, arguments["citationDepth"]))
    return {**reply, "metadata": {"totalResults": len(results), **arguments}}


def document_reply(document: StoredArchiveDocument, score: float | None = None) -> Reply:
    """Return a document as JSON. Keys beyond the specification come last, and only where they have a value."""
    reply: Reply = {
        "id": document.id,
        "title": document.title,
        "path": document.path,
        "source": document.source,
        "date": document.date,
    }
    if score is not None:
        reply["score"] = score
    reply["type"] = document.type
    return reply | {key: value for key, value in (("question", document.question), ("url", document.url)) if value}


def citation_reply(citation: Citation) -> Reply:
    """Return a citation as JSON. It has no `targetId` where it leads outside the archives, or is broken."""
    reply: Reply = {"sourceId": citation.source_id}
    if citation.target_id is not None:
        reply["targetId"] = citation.target_id
    reply |= {"targetUrl": citation.target_url, "context": citation.context, "confidence": citation.confidence}
    return reply


def graph_reply(graph: CitationGraph) -> Reply:
    """Return a graph as JSON; `truncated` states what is left out."""
    reply: Reply = {
        "nodes": [{"id": node.document.id, "label": node.document.title, "type": node.type} for node in graph.nodes],
        "edges": [{"from": edge.source, "to": edge.target, "confidence": edge.confidence} for edge in graph.edges],
    }
    return reply | ({"truncated": f"{graph.truncation} Ask with a smaller depth or limit."} if graph.truncation else {})


def citations_reply(
    database: ArchiveDatabase, document: StoredArchiveDocument, *, direction: str, depth: int, limit: int
) -> Reply:
    """Return the citations in and of one document."""
    reply: Reply = {"document": document_reply(document)}
    ends: dict[str, Literal["source", "target"]] = {"citing": "source", "cited": "target"}
    for name, end in ends.items():
        if direction in (name, "both"):
            found = database.citations(end, [document.number])[document.number]
            shown = found[:limit]
            titles = _titles_and_paths(database, shown)
            reply[name] = [_citation_with_titles(citation, titles) for citation in shown]
            reply[f"total{name.capitalize()}"] = len(found)
    if depth > 1:
        reply["citationGraph"] = graph_reply(graph_from(database, [document.number], depth))
    return reply


def most_cited_reply(database: ArchiveDatabase, limit: int) -> Reply:
    """Return the most cited documents of the archives, and the most cited pages outside of them."""
    return {
        "documents": [
            document_reply(document) | {"citedBy": documents, "citations": citations}
            for document, documents, citations in most_cited(database, limit)
        ],
        "outside": [
            {"url": url, "citedBy": documents, "citations": citations}
            for url, documents, citations in most_cited_unarchived(database, limit)
        ],
    }


def broken_reply(database: ArchiveDatabase, limit: int) -> Reply:
    """Return the broken links."""
    found, total = broken_links(database, limit)
    titles = _titles_and_paths(database, found)
    return {
        "links": [
            citation_reply(citation)
            | {
                "line": citation.line,
                "problem": citation.fault,
                "sourceTitle": titles[citation.source_id][0],
                "sourcePath": titles[citation.source_id][1],
            }
            for citation in found
        ],
        "total": total,
    }


def _hit_citations(citing: Sequence[Citation], cited: Sequence[Citation]) -> Reply:
    reply: Reply = {
        "citing": [citation_reply(citation) for citation in citing[:MAX_CITATIONS]],
        "cited": [citation_reply(citation) for citation in cited[:MAX_CITATIONS]],
    }
    if max(len(citing), len(cited)) > MAX_CITATIONS:
        reply |= {"totalCiting": len(citing), "totalCited": len(cited)}
    return reply


def _citation_with_titles(citation: Citation, titles: dict[str, tuple[str, str]]) -> Reply:
    reply = citation_reply(citation) | {"kind": citation.kind, "line": citation.line}
    reply["sourceTitle"] = titles[citation.source_id][0]
    if citation.target_id is not None:
        reply["targetTitle"] = titles[citation.target_id][0]
    return reply | ({"problem": citation.fault} if citation.fault else {})


def _titles_and_paths(database: ArchiveDatabase, citations: Sequence[Citation]) -> dict[str, tuple[str, str]]:
    ids = {id_ for citation in citations for id_ in (citation.source_id, citation.target_id) if id_}
    found = database.documents(database.numbers(ids).values())
    return {one.id: (one.title, one.path) for one in found.values()}


_TEXT_KEYS = ("title", "question", "context", "label", "sourceTitle", "targetTitle", "url", "targetUrl")
"""Keys whose values are text of archived files. Snippets are masked where they are made."""


def screen_reply(reply: Reply, *, masks: bool = True) -> Reply:
    """Return a reply with secrets masked; every object in it lists what is masked, and its content warnings."""
    result, found = dict[str, Any](), []
    for key, value in reply.items():
        if key in _TEXT_KEYS and isinstance(value, str):
            safe = screen_text(value, masks=masks)
            found.append((safe, 1))
            result[key] = safe.text
        elif isinstance(value, list):
            result[key] = [screen_reply(one, masks=masks) if isinstance(one, dict) else one for one in value]
        else:
            result[key] = screen_reply(value, masks=masks) if isinstance(value, dict) else value
    warnings = warning_fields(found)
    warnings.pop("flaggedLines", None)  # titles and contexts are shown on one line
    return result | {key: sorted({*result.get(key, ()), *value}) for key, value in warnings.items()}


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
