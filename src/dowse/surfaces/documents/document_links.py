"""The links of a folder's documents, as the tool `find_links` replies; all functions run on the index's thread."""

from dowse.indexes.document_search import read_now
from dowse.indexes.index import ProjectIndex
from dowse.mcp.reply_budget import Reply
from dowse.reading.link_resolution import Broken, External, Internal, Resolved, resolve_link
from dowse.reading.link_targets import LinkTargets
from dowse.reading.outlines import Outline
from dowse.surfaces.documents.document_folder import DocumentFolder
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
    outlines: dict[str, Outline | None] = {}
    links = []
    for link in index.store.links(stored.id) if stored else []:
        target = resolve_link(link.target, path, pages)
        reply = _link_reply(folder, path, link, target)
        if isinstance(target, Internal) and target.anchor and not _has_anchor(index, target, outlines):
            reply["problem"] = NO_ANCHOR
        links.append(reply)
    return links


def incoming_links(folder: DocumentFolder, index: ProjectIndex, path: str) -> list[Reply]:
    """Return the links that lead to a document."""
    graph = folder.current_links(index)
    return _link_replies(folder, index, graph.links_to(path), graph.pages)


def broken_links(folder: DocumentFolder, index: ProjectIndex) -> list[Reply]:
    """Return the links of the folder that lead to no document."""
    graph = folder.current_links(index)
    return _link_replies(folder, index, graph.links_to(None), graph.pages)


def _link_replies(
    folder: DocumentFolder, index: ProjectIndex, sources: list[tuple[int, int]], pages: LinkTargets
) -> list[Reply]:
    """Return links by the ids of their documents and their positions there, ordered by path and line."""
    documents = index.store.documents_by_id({document_id for document_id, _ in sources})
    links = {document_id: index.store.links(document_id) for document_id in documents}
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
        case Broken(fault, _):
            return {**reply, "kind": "broken", "problem": str(fault)}
        case _:
            return {**reply, "kind": "other"}


def _has_anchor(index: ProjectIndex, target: Internal, outlines: dict[str, Outline | None]) -> bool:
    """Return whether a document has the section that a link names; outlines are kept for further links."""
    if target.path not in outlines:
        document = read_now(index, target.path)
        outlines[target.path] = Outline(document.reading.text) if document else None
    outline = outlines[target.path]
    return outline is not None and outline.section(target.anchor) is not None
