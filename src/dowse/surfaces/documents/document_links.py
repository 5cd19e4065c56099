"""The links of a folder's documents, as the tool `find_links` replies; all functions run on the index's thread."""

from dowse.indexes.document_search import read_now
from dowse.indexes.index import ProjectIndex
from dowse.mcp.reply_budget import Reply
from dowse.parsing.document_parsing import ParsedOutline, outline
from dowse.reading.link_resolution import Broken, External, Internal, OtherFile, Resolved, resolve_link
from dowse.reading.link_targets import LinkTargets
from dowse.surfaces.documents.document_folders import DocumentFolder
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS
from dowse.types import Link
from dowse.visible_text import one_line

TARGET_CHARACTERS = 2000
"""A longer address is cut; it carries a picture or a program."""
NO_ANCHOR = "the document has no such section"


def outgoing_links(folder: DocumentFolder, index: ProjectIndex, path: str) -> list[Reply]:
    """Return the links of a document, in order; a missing section of the target is a problem."""
    pages = folder.current_links(index).pages
    stored = index.store.document(path)
    found = [
        (link, resolve_link(link.target, path, pages))
        for link in (index.store.catalog.links(stored.id) if stored else [])
    ]
    outlines = _outline_targets(
        index, [target for _, target in found if isinstance(target, Internal) and target.anchor]
    )
    links = []
    for link, target in found:
        reply = _link_reply(folder, path, link, target)
        if isinstance(target, Internal) and target.anchor and outlines[target.path].section(target.anchor) is None:
            reply["problem"] = NO_ANCHOR
        links.append(reply)
    return links


def incoming_links(folder: DocumentFolder, index: ProjectIndex, path: str) -> list[Reply]:
    """Return the links that lead to a document."""
    graph = folder.current_links(index)
    return _link_replies(folder, index, graph.links_to(path), graph.pages)


def broken_links(folder: DocumentFolder, index: ProjectIndex) -> list[Reply]:
    """Return the links of the folder that lead to nothing."""
    graph = folder.current_links(index)
    links = _link_replies(folder, index, graph.links_to(None), graph.pages)
    return [link for link in links if link["kind"] == "broken"]


def _link_replies(
    folder: DocumentFolder, index: ProjectIndex, sources: list[tuple[int, int]], pages: LinkTargets
) -> list[Reply]:
    """Return links by the ids of their documents and their positions there, ordered by path and line."""
    documents = index.store.documents_by_id({document_id for document_id, _ in sources})
    links = {document_id: index.store.catalog.links(document_id) for document_id in documents}
    found = [
        (documents[document_id].path, links[document_id][position])
        for document_id, position in sources
        if document_id in documents
    ]
    found.sort(key=lambda pair: (pair[0], pair[1].line))
    return [_link_reply(folder, path, link, resolve_link(link.target, path, pages)) for path, link in found]


def _link_reply(folder: DocumentFolder, path: str, link: Link, target: Resolved) -> Reply:
    reply: Reply = {
        "from": folder.uri(path),
        "line": link.line,
        "text": one_line(link.text, TITLE_CHARACTERS),
        "target": one_line(link.target, TARGET_CHARACTERS),
    }
    match target:
        case Internal(document, anchor):
            return {**reply, "kind": "document", "to": folder.uri(document, anchor)}
        case External(url):
            return {**reply, "kind": "web", "to": one_line(url, TARGET_CHARACTERS)}
        case OtherFile():
            return {**reply, "kind": "file"}
        case Broken(fault, _):
            return {**reply, "kind": "broken", "problem": str(fault)}
        case _:
            return {**reply, "kind": "other"}


def _outline_targets(index: ProjectIndex, targets: list[Internal]) -> dict[str, ParsedOutline]:
    """Return the outlines of the documents that links lead to, with the sections that the links name."""
    anchors: dict[str, list[str]] = {}
    for target in targets:
        anchors.setdefault(target.path, []).append(target.anchor)
    documents = {path: read_now(index, path) for path in anchors}
    return {
        path: outline(document.reading.text, anchors[path], document.language) if document else ParsedOutline()
        for path, document in documents.items()
    }
