"""What is found as JSON, the same for assistants and the command line: the specification's names and shapes."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_types import ArchiveHit, Citation, CitationGraph, Highlight, StoredArchiveDocument
from dowse.archives.citation_graph import graph_from, path_between
from dowse.archives.graph_queries import Duplicates, MostCited, UnarchivedPage

MOST_CITATIONS = 50
"""Of a document's citations so many are told in each direction with a search; `find_citations` tells all."""

Reply = dict[str, Any]


def search_reply(
    database: ArchiveDatabase,
    hits: Sequence[ArchiveHit],
    *,
    query: str,
    fuzzy: bool,
    include_citations: bool,
    citation_depth: int,
    limit: int,
    inferred: bool = False,
) -> Reply:
    """The reply of `searchLocalArchives`."""
    numbers = [hit.document.number for hit in hits]
    results = [_result(hit) for hit in hits]
    reply: Reply = {"results": results}
    if include_citations and hits:
        citing, cited = (each(numbers, inferred=inferred) for each in (database.citing_each, database.cited_each))
        for number, result in zip(numbers, results, strict=True):
            result["citations"] = _citations(citing[number], cited[number])
        reply["citationGraph"] = graph_reply(graph_from(database, numbers, citation_depth, inferred=inferred))
    reply["metadata"] = {
        "totalResults": len(results),
        "query": query,
        "fuzzy": fuzzy,
        "includeCitations": include_citations,
        "citationDepth": citation_depth,
        "limit": limit,
    }
    return reply


def document_reply(document: StoredArchiveDocument, score: float | None = None) -> Reply:
    """A document; what is not in the specification comes last, and only where there is something to say."""
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
    """A citation; one that leads out of the archives, or nowhere, has no `targetId`."""
    reply: Reply = {"sourceId": citation.source_id}
    if citation.target_id is not None:
        reply["targetId"] = citation.target_id
    reply |= {"targetUrl": citation.target_url, "context": citation.context, "confidence": citation.confidence}
    return reply


def graph_reply(graph: CitationGraph) -> Reply:
    """A graph; `truncated` says what was left out, where something was."""
    reply: Reply = {
        "nodes": [{"id": node.document.id, "label": node.document.title, "type": node.type} for node in graph.nodes],
        "edges": [{"from": edge.source, "to": edge.target, "confidence": edge.confidence} for edge in graph.edges],
    }
    return reply | ({"truncated": f"{graph.cut} Ask with a smaller depth or limit."} if graph.cut else {})


def citations_reply(
    database: ArchiveDatabase,
    document: StoredArchiveDocument,
    *,
    direction: str,
    depth: int,
    limit: int,
    inferred: bool,
) -> Reply:
    """What one document cites and is cited by."""
    reply: Reply = {"document": document_reply(document)}
    for name, found in (
        ("citing", database.citing(document.number, inferred=inferred) if direction != "cited" else None),
        ("cited", database.cited(document.number, inferred=inferred) if direction != "citing" else None),
    ):
        if found is not None:
            shown = found[:limit]
            titles = _titles(database, shown)
            reply[name] = [_told(one, titles) for one in shown]
            reply[f"total{name.capitalize()}"] = len(found)
    if depth > 1:
        reply["citationGraph"] = graph_reply(graph_from(database, [document.number], depth, inferred=inferred))
    return reply


def path_reply(
    database: ArchiveDatabase,
    source: StoredArchiveDocument,
    target: StoredArchiveDocument,
    *,
    direction: str,
    inferred: bool,
) -> Reply:
    """The shortest chain of citations between two documents."""
    chain = path_between(
        database,
        source.number,
        target.number,
        direction="either" if direction == "either" else "citing",
        inferred=inferred,
    )
    if chain is None:
        return {"found": False, "from": document_reply(source), "to": document_reply(target), "path": [], "steps": []}
    documents = database.documents(chain)
    steps = [_step(database, documents[one], documents[other], inferred=inferred) for one, other in pairwise(chain)]
    return {
        "found": True,
        "length": len(chain) - 1,
        "path": [document_reply(documents[number]) for number in chain],
        "steps": steps,
    }


def most_cited_reply(found: Sequence[MostCited], outside: Sequence[UnarchivedPage]) -> Reply:
    """What is cited most, in the archives and outside of them."""
    return {
        "documents": [
            document_reply(one.document) | {"citedBy": one.documents, "citations": one.citations} for one in found
        ],
        "outside": [{"url": one.url, "citedBy": one.documents, "citations": one.citations} for one in outside],
    }


def orphans_reply(found: Sequence[StoredArchiveDocument], total: int) -> Reply:
    """Documents without citations."""
    return {"documents": [document_reply(one) for one in found], "total": total}


def broken_reply(database: ArchiveDatabase, found: Sequence[Citation], total: int) -> Reply:
    """Links that lead nowhere."""
    titles = _titles(database, found)
    return {
        "links": [
            citation_reply(one)
            | {
                "line": one.line,
                "problem": one.fault,
                "sourceTitle": titles[one.source_id][0],
                "sourcePath": titles[one.source_id][1],
            }
            for one in found
        ],
        "total": total,
    }


def duplicates_reply(found: Sequence[Duplicates], total: int) -> Reply:
    """Pages that are kept more than once."""
    return {
        "groups": [{"why": one.why, "documents": [document_reply(each) for each in one.documents]} for one in found],
        "total": total,
    }


def _result(hit: ArchiveHit) -> Reply:
    return {
        "document": document_reply(hit.document, hit.score),
        "highlights": [_highlight(one) for one in hit.highlights],
    }


def _highlight(one: Highlight) -> Reply:
    reply: Reply = {"field": one.field, "snippets": list(one.snippets)}
    return reply | {key: list(value) for key, value in (("masked", one.masked), ("flags", one.flags)) if value}


def _citations(citing: Sequence[Citation], cited: Sequence[Citation]) -> Reply:
    reply: Reply = {
        "citing": [citation_reply(one) for one in citing[:MOST_CITATIONS]],
        "cited": [citation_reply(one) for one in cited[:MOST_CITATIONS]],
    }
    if max(len(citing), len(cited)) > MOST_CITATIONS:
        reply |= {"totalCiting": len(citing), "totalCited": len(cited)}
    return reply


def _step(
    database: ArchiveDatabase, one: StoredArchiveDocument, other: StoredArchiveDocument, *, inferred: bool
) -> Reply:
    """The first citation between two documents, in either direction."""
    for source, target in ((one, other), (other, one)):
        for citation in database.citing(source.number, inferred=inferred):
            if citation.target_id == target.id:
                return citation_reply(citation) | {"kind": citation.kind, "line": citation.line}
    return {}


def _told(citation: Citation, titles: dict[str, tuple[str, str]]) -> Reply:
    reply = citation_reply(citation) | {"kind": citation.kind, "line": citation.line}
    reply["sourceTitle"] = titles[citation.source_id][0]
    if citation.target_id is not None:
        reply["targetTitle"] = titles[citation.target_id][0]
    return reply | ({"problem": citation.fault} if citation.fault else {})


def _titles(database: ArchiveDatabase, citations: Sequence[Citation]) -> dict[str, tuple[str, str]]:
    ids = {id_ for one in citations for id_ in (one.source_id, one.target_id) if id_}
    rows = list(database.rows_in("SELECT number FROM documents WHERE id IN", ids))
    return {one.id: (one.title, one.path) for one in database.documents(row[0] for row in rows).values()}
