"""The parts that stand beside a text: the files of its folder, its outline, the files around it, and the links into it and out of it."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from dowse.archives.archive_database import ArchiveDatabase
from dowse.errors import DowseError, ItemNotFound, NotIndexed
from dowse.federation.federation_types import ServedRoot, id_of
from dowse.federation.source_list import SourceList
from dowse.page.folder_view import read_folder
from dowse.page.history_view import PageCall, ProjectQuestions
from dowse.page.item_links import find_item, item_address, read_address
from dowse.page.markup import Html, about, html, link, tag
from dowse.page.page_texts import PageTexts
from dowse.page.reading_view import TITLE_CHARACTERS, open_item
from dowse.surfaces.documents.document_links import NO_ANCHOR, DocumentLink, incoming_links, outgoing_links
from dowse.types import View
from dowse.visible_text import one_line

TREE_ITEMS, LISTED_FILES, MAX_LINKS = 300, 12, 200
_RELATED = {"imports": "Imports", "importedBy": "Imported by", "tests": "Tests", "changesWith": "Changes with"}
_LINE = re.compile(r"#L\d+(-L?\d+)?$")


async def tree_view(sources: SourceList, item_id: str) -> Html:
    """Return the files beside a file."""
    source, locator = await find_item(sources, item_id)
    if sources.root(source.name) is None:
        return Html()
    path = locator[: locator.rfind("/") + 1]
    up = read_address(f"{id_of(source.name, path.rstrip('/'))}/") if path else ""
    rows = [tag("li", link(up, "../", aria_label="The folder above"))] if up else []
    for one in (await read_folder(sources, source, path))[:TREE_ITEMS]:
        name, current = one.name + ("/" if one.count else ""), "page" if one.locator == locator else None
        rows.append(tag("li", link(one.address(source.name, path), tag("bdi", name), aria_current=current)))
    return html("{heading}{list}", heading=tag("h2", path.split("/")[-2] if path else "Files"), list=tag("ul", rows))


_PARTS = frozenset({"field", "variable", "constant"})
"""Kinds that the outline leaves out inside of another definition: a class has more of them than anybody reads."""
MAX_DEPTH = 4
_SIGNS = {"function": "ƒ", "method": "ƒ", "macro": "ƒ", "heading": "§", "constant": "=", "variable": "=", "field": "="}
"""The sign before a definition; a type has a T."""


class OutlineEntry(NamedTuple):
    """A definition with its lines, and how many others it is inside of."""

    name: str
    kind: str
    line: int
    end_line: int
    depth: int


async def outline_view(sources: SourceList, texts: PageTexts, item_id: str) -> Html:
    """Return the definitions of a text as links to their lines; the script adds a way to the uses of the one in focus."""
    opened = await open_item(sources, item_id)
    entries = nest(await texts.symbols(opened.item.text, opened.language))
    rows = [
        tag(
            "li",
            link(f"#L{one.line}", one.name, data_sign=_SIGNS.get(one.kind, "T")),
            class_=f"l{one.depth + 1}",
            data_line=one.line,
            data_end=one.end_line,
        )
        for one in entries
    ]
    return html('<h2>Outline</h2><ul class="outline">{rows}</ul>', rows=rows) if rows else Html()


def nest(symbols: Sequence[tuple[str, str, int, int]]) -> list[OutlineEntry]:
    """Return definitions in the order of their lines, each with its depth, without the parts of others."""
    entries: list[OutlineEntry] = []
    around: list[OutlineEntry] = []
    for name, kind, line, end in sorted(symbols, key=lambda one: (one[2], -one[3])):
        while around and around[-1].end_line < line:
            around.pop()
        if around and kind in _PARTS:
            continue
        entry = OutlineEntry(name, kind, line, max(line, end), min(len(around), MAX_DEPTH))
        entries.append(entry)
        if kind not in _PARTS:
            around.append(entry)
    return entries


async def related_view(questions: ProjectQuestions, item_id: str) -> Html:
    """Return the files around a file; nothing where none are known."""
    source, path = await find_item(questions.sources, item_id)
    try:
        project = questions.project(source.name)
        shown = questions.surface.service.shown_path(project, path)
        found = await questions.surface.related_files(PageCall(project, {"path": shown, "limit": LISTED_FILES}))
    except DowseError:  # it is not indexed, or no project
        return Html()
    groups = [
        (tag("h3", title), tag("ul", [_related(questions, one) for one in found[name]]))
        for name, title in _RELATED.items()
        if found.get(name)
    ]
    return html("<h2>Related files</h2>{groups}", groups=groups) if groups else Html()


def _related(questions: ProjectQuestions, file: dict[str, Any]) -> Html:
    folder, slash, name = file["path"].rpartition("/")
    title = f"{file['path']}: {file['reason']}"
    return tag("li", link(questions.address(file["path"]), tag("bdi", name), title=title), " ", about(folder + slash))


async def links_view(sources: SourceList, item_id: str) -> Html:
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
        incoming=_links("Linked from", (_document_link(root, one.path, one.path) for one in incoming)),
        outgoing=_links("Links to", (_outgoing(root, locator, one) for one in outgoing)),
    )


def _document_link(root: ServedRoot, path: str, text: str, anchor: str = "") -> Html:
    address = read_address(root.item_id(path, View.DOCUMENTS))
    return link(f"{address}#md-{anchor}" if anchor else address, one_line(text, TITLE_CHARACTERS))


def _outgoing(root: ServedRoot, locator: str, one: DocumentLink) -> Html:
    text = one_line(one.text, TITLE_CHARACTERS) or one_line(one.target, TITLE_CHARACTERS)
    if one.kind == "file" and (address := item_address(root.name, locator, one.target)):
        return link(address, text)
    is_line = one.problem == NO_ANCHOR and _LINE.search(one.target)
    return html(
        "{link} {problem}",
        link=_document_link(root, one.to, text, one.anchor) if one.kind == "document" else _web_link(one.to, text),
        problem=tag("span", "" if is_line else one.problem, class_="warning"),
    )


def _web_link(address: str, text: str) -> Html:
    if not address.startswith(("http://", "https://")):
        return html("{text}", text=text)
    return link(address, text, rel="noopener noreferrer", target="_blank")


def _citations(database: ArchiveDatabase, document_id: str) -> Html:
    document = database.find_document(document_id)
    if document is None:
        return Html()
    number = document.number
    outgoing, incoming = database.citations("source", [number])[number], database.citations("target", [number])[number]
    titles = {one.id: one.title or one.path for one in database.documents().values()} if outgoing or incoming else {}

    def shown(target: str | None, url: str) -> Html:
        if target in titles:
            return link(read_address(id_of("archive", target)), one_line(titles[target], TITLE_CHARACTERS))
        return _web_link(url, one_line(url, TITLE_CHARACTERS))

    return html(
        "{incoming}{outgoing}",
        incoming=_links("Cited by", (shown(one.source_id, "") for one in incoming)),
        outgoing=_links("Cites", (shown(one.target_id, one.target_url) for one in outgoing)),
    )


def _links(heading: str, items: Iterable[Html]) -> Html | None:
    found = list(dict.fromkeys(items))
    rows = [tag("li", item) for item in found[:MAX_LINKS]]
    return (
        html("{heading}{rows}", heading=tag("h2", f"{heading} ({len(found)})"), rows=tag("ul", rows)) if rows else None
    )
