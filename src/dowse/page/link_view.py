"""The links of an item, in and out."""

import asyncio
import re
from collections.abc import Iterable

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_types import StoredArchiveDocument
from dowse.errors import ItemNotFound, NotIndexed
from dowse.federation.federation_types import ServedRoot, id_of
from dowse.federation.source_list import SourceList
from dowse.page.item_links import find_item, item_address, read_address
from dowse.page.markup import Html, html
from dowse.surfaces.documents.document_links import NO_ANCHOR, DocumentLink, incoming_links, outgoing_links
from dowse.types import View
from dowse.visible_text import one_line

MAX_LISTED = 200
TITLE_CHARACTERS = 150
_LINE = re.compile(r"#L\d+(-L?\d+)?$")


async def item_links(sources: SourceList, item_id: str) -> Html:
    """Return the links into a document and out of it; nothing for an item without links."""
    source, locator = await find_item(sources, item_id)
    if source.kind == "archive" and sources.archives:
        try:
            database = await sources.archives.database()
        except NotIndexed as error:
            raise ItemNotFound("the archives are not indexed yet") from error
        return await asyncio.to_thread(_citations, database, locator)
    root = sources.root(source.name)
    folder = root.folder if root else None
    if root is None or folder is None or not root.served.has_view(View.DOCUMENTS):
        return Html()
    outgoing, incoming = await folder.served.ask(
        lambda index: tuple(
            find(folder.current_links(index), index, locator) for find in (outgoing_links, incoming_links)
        ),
        View.DOCUMENTS,
    )
    return html(
        "{incoming}{outgoing}",
        incoming=_list("Linked from", (_link(root, one.path, one.path) for one in incoming)),
        outgoing=_list("Links to", (_outgoing(root, locator, one) for one in outgoing)),
    )


def _link(root: ServedRoot, path: str, text: str, anchor: str = "") -> Html:
    address = read_address(root.item_id(path, View.DOCUMENTS))
    return html('<a href="{address}">{text}</a>', address=f"{address}#md-{anchor}" if anchor else address,
                text=one_line(text, TITLE_CHARACTERS))  # fmt: skip


def _outgoing(root: ServedRoot, locator: str, link: DocumentLink) -> Html:
    text = one_line(link.text, TITLE_CHARACTERS) or one_line(link.target, TITLE_CHARACTERS)
    is_line = link.problem == NO_ANCHOR and _LINE.search(link.target)
    problem = None
    if link.problem and not is_line:
        problem = html(' <span class="warning">{problem}</span>', problem=link.problem)
    if link.kind == "document":
        return html("{link}{problem}", link=_link(root, link.to, text, link.anchor), problem=problem)
    if link.kind == "file" and (address := item_address(root.name, locator, link.target)):
        return html('<a href="{address}">{text}</a>', address=address, text=text)
    return html("{link}{problem}", link=_web_link(link.to, text), problem=problem)


def _web_link(address: str, text: str) -> Html:
    if not address.startswith(("http://", "https://")):
        return html("{text}", text=text)
    return html('<a href="{address}" rel="noopener noreferrer" target="_blank">{text}</a>', address=address, text=text)


def _citations(database: ArchiveDatabase, document_id: str) -> Html:
    document = database.find_document(document_id)
    if document is None:
        return Html()
    number = document.number
    outgoing, incoming = database.citations("source", [number])[number], database.citations("target", [number])[number]
    titles = {one.id: one for one in database.documents().values()} if outgoing or incoming else {}

    def shown(target: str | None, url: str) -> Html:
        return _archived(titles[target]) if target in titles else _web_link(url, one_line(url, TITLE_CHARACTERS))

    return html(
        "{incoming}{outgoing}",
        incoming=_list("Cited by", (shown(one.source_id, "") for one in incoming)),
        outgoing=_list("Cites", (shown(one.target_id, one.target_url) for one in outgoing)),
    )


def _archived(document: StoredArchiveDocument) -> Html:
    title = one_line(document.title or document.path, TITLE_CHARACTERS)
    return html('<a href="{address}">{title}</a>', address=read_address(id_of("archive", document.id)), title=title)


def _list(heading: str, items: Iterable[Html]) -> Html:
    found = list(dict.fromkeys(items))
    rows = [html("<li>{item}</li>", item=item) for item in found[:MAX_LISTED]]
    return (
        html("<h2>{heading} ({count})</h2><ul>{rows}</ul>", heading=heading, count=len(found), rows=rows)
        if rows
        else Html()
    )
