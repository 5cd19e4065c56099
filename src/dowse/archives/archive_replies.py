"""JSON replies about the archives, shared by the tools and the command line; the specification sets names and shapes."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

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
    rows = list(database.rows_in("SELECT number FROM documents WHERE id IN", ids))
    return {found.id: (found.title, found.path) for found in database.documents(row[0] for row in rows).values()}


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
