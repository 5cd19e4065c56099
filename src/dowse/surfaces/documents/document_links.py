"""The links between the documents of a folder, which follow their changes; all of it runs on the index's thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from dowse.indexes.document_search import read_now
from dowse.indexes.freshness.scan import Drift
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import REPAIRED_FILES
from dowse.mcp.replies import Reply, present
from dowse.parsing.document_parsing import ParsedOutline, outline
from dowse.reading.link_resolution import (
    Broken,
    External,
    Fault,
    Internal,
    OtherFile,
    Resolved,
    find_site_prefixes,
    resolve_link,
)
from dowse.reading.link_targets import LinkTarget, LinkTargets
from dowse.screening.masking import screen_text
from dowse.store.catalog_writer import MAX_LINKS
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS
from dowse.types import Link, View
from dowse.visible_text import one_line

if TYPE_CHECKING:
    from dowse.store.local import LocalStore

TARGET_CHARACTERS = 2000
"""A longer address is cut; it carries a picture or a program."""
TOP_FOLDERS = 2
"""A site's sources lie at the root of a folder or one or two folders below: `docs/`, `files/en-us/`."""
NO_ANCHOR = "the document has no such section"


@dataclass(frozen=True, slots=True)
class DocumentLink:
    """A link of a document, and where it leads."""

    path: str
    line: int
    text: str
    target: str
    """The target as it is written."""
    kind: Literal["document", "web", "file", "broken", "other"] = "other"
    to: str = ""
    """The path of the document, or the address on the web."""
    anchor: str = ""
    """The section of the document."""
    problem: str = ""


class LinkGraph:
    """The links of a folder that lead to its documents or to nothing. Use it on one thread."""

    def __init__(self, has_file: Callable[[str], bool]) -> None:
        self._has_file = has_file
        self.pages = LinkTargets(())
        self._state = ("", -1)
        self._sources: dict[str, list[tuple[int, int]]] = {}

    def update(self, store: "LocalStore") -> None:
        """Bring the graph up to date with the store. It takes 1.5 s for 15,000 documents with 76,000 links."""
        state = (store.catalog.id, store.catalog.sequence())
        if self._state != state:
            self._read(store)
            self._state = state

    def links_to(self, path: str) -> list[tuple[int, int]]:
        """Return the links to a document, or for "" to no document: the id of each document and the position in it."""
        return self._sources.get(path, [])

    def _read(self, store: "LocalStore") -> None:
        titles = {number: (path, title) for number, path, title in store.titles()}
        paths = {number: path for number, (path, _) in titles.items()}
        links = [link for link in store.catalog.link_targets() if link[0] in paths]
        pages = LinkTargets((LinkTarget(*of) for of in titles.values()), has_file=self._has_file)
        prefixes = find_site_prefixes(((paths[number], target) for number, _, target in links), pages)
        self.pages, self._sources = pages.with_prefixes(prefixes), {}
        known, from_top = set(paths.values()), dict[tuple[str, str], Resolved | None]()
        for number, at, target in links:
            match self._resolve(target, paths[number], from_top):
                case Internal(to):
                    self._sources.setdefault(to if to in known else "", []).append((number, at))
                case Broken() | OtherFile():  # which of the two it is may change at any time
                    self._sources.setdefault("", []).append((number, at))

    def _resolve(self, target: str, path: str, from_top: dict[tuple[str, str], Resolved | None]) -> Resolved:
        """Return the target of a link; links from the root of a site are resolved once for a whole folder."""
        if target.startswith("/") or "://" in target:
            # The root of a site is searched from the outermost folder in, so a target found here holds below as well.
            top = "".join(f"{folder}/" for folder in path.split("/")[:-1][:TOP_FOLDERS])
            if (target, top) not in from_top:
                known = resolve_link(target, top, self.pages)
                from_top[target, top] = known if isinstance(known, Internal | External) else None
            if found := from_top[target, top]:
                return found
        return resolve_link(target, path, self.pages)


def outgoing_links(graph: LinkGraph, index: ProjectIndex, path: str) -> list[DocumentLink]:
    """Return the links of a document, in order; a missing section of the target is a problem."""
    links = [_resolve(index, path, link, graph.pages) for link in _links_of(index, path)]
    outlines = _outline_targets(index, links)
    return [
        replace(link, problem=NO_ANCHOR)
        if link.anchor and outlines[link.to].section(link.anchor) is None
        else link
        for link in links
    ]  # fmt: skip


def incoming_links(graph: LinkGraph, index: ProjectIndex, path: str) -> list[DocumentLink]:
    """Return the links that lead to a document."""
    found = _links_at(index, graph.links_to(path), graph.pages)
    return [link for link in found if link.kind == "document" and link.to == path]


def broken_links(graph: LinkGraph, index: ProjectIndex) -> list[DocumentLink]:
    """Return the links of the folder that lead to nothing."""
    return [link for link in _links_at(index, graph.links_to(""), graph.pages) if link.kind == "broken"]


def _links_of(index: ProjectIndex, path: str) -> Sequence[Link]:
    """Return the links of a document, read from its file while some files differ from the index."""
    if index.has_pending:
        document = read_now(index, path)
        return document.reading.links[:MAX_LINKS] if document else ()
    stored = index.store.document(path)
    return index.store.catalog.links(stored.id) if stored else ()


def _links_at(index: ProjectIndex, sources: list[tuple[int, int]], pages: LinkTargets) -> list[DocumentLink]:
    """Return links by the ids of their documents and their positions there, ordered by path and line.

    While files differ from the index, all links of some of these are added, and those of the others left out.
    """
    documents = index.store.documents_by_id({document_id for document_id, _ in sources})
    drift = index.drift() if index.has_pending else Drift(index.view)
    differing = set(drift.paths)
    links = {number: index.store.catalog.links(number) for number in documents}
    found = [
        (documents[number].path, links[number][position])
        for number, position in sources
        if number in documents and documents[number].path not in differing
    ]
    changed = [entry.path for entry in (*drift.changed, *drift.new) if entry.views & View.DOCUMENTS]
    found += [(path, link) for path in changed[:REPAIRED_FILES] for link in _links_of(index, path)]
    found.sort(key=lambda pair: (pair[0], pair[1].line))
    return [_resolve(index, path, link, pages) for path, link in found]


def _resolve(index: ProjectIndex, path: str, link: Link, pages: LinkTargets) -> DocumentLink:
    masks = index.settings.mask_secrets
    text, target = (screen_text(one, masks=masks).text for one in (link.text, link.target))
    found = DocumentLink(path, link.line, text, target)
    match resolve_link(link.target, path, pages):
        case Internal(document, anchor) if index.shows(document):
            return replace(found, kind="document", to=document, anchor=anchor)
        case Internal():
            return replace(found, kind="broken", problem=str(Fault.MISSING))
        case External(url):
            return replace(found, kind="web", to=target if url == link.target else screen_text(url, masks=masks).text)
        case OtherFile():
            return replace(found, kind="file")
        case Broken(fault, _):
            return replace(found, kind="broken", problem=str(fault))
        case _:
            return found


def link_reply(link: DocumentLink, uri: Callable[[str, str], str]) -> Reply:
    """Return a link as the tool `find_links` replies."""
    return {
        "from": uri(link.path, ""),
        "line": link.line,
        "text": one_line(link.text, TITLE_CHARACTERS),
        "target": one_line(link.target, TARGET_CHARACTERS),
        "kind": link.kind,
        **present(
            to=uri(link.to, link.anchor) if link.kind == "document" else one_line(link.to, TARGET_CHARACTERS),
            problem=link.problem,
        ),
    }


def _outline_targets(index: ProjectIndex, links: list[DocumentLink]) -> dict[str, ParsedOutline]:
    """Return the outlines of the documents that links lead to, with the sections that the links name."""
    anchors: dict[str, list[str]] = {}
    for link in links:
        if link.anchor:
            anchors.setdefault(link.to, []).append(link.anchor)
    documents = {path: read_now(index, path) for path in anchors}
    return {
        path: outline(document.reading.text, anchors[path], document.language) if document else ParsedOutline()
        for path, document in documents.items()
    }
