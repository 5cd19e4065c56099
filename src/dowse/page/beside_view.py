"""The parts that stand beside a text: the files of its folder, its outline, related files, links, and the uses of a name in it;
and files and symbols by their names."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from dowse.archives.archive_database import ArchiveDatabase
from dowse.errors import DowseError, ItemNotFound, NotIndexed
from dowse.federation.federation_types import id_of
from dowse.federation.root_source import RootSource
from dowse.federation.source_list import SourceList
from dowse.indexes.name_lookup import FoundName, find_names
from dowse.mcp.tools import Call
from dowse.page.folder_view import read_folder
from dowse.page.history_view import PageCall, ProjectQuestions, commits_view, glob_of
from dowse.page.item_links import find_item, item_address, quoted_name, read_address, root_name
from dowse.page.markup import Html, about, html, late, link, tag
from dowse.page.page_search import PageQuery
from dowse.page.page_texts import PageTexts
from dowse.page.reading_view import TITLE_CHARACTERS, open_item
from dowse.surfaces.documents.document_links import NO_ANCHOR, DocumentLink, incoming_links, outgoing_links
from dowse.types import View
from dowse.visible_text import one_line, pluralize

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


def _document_link(root: RootSource, path: str, text: str, anchor: str = "") -> Html:
    address = read_address(root.item_id(path, View.DOCUMENTS))
    return link(f"{address}#md-{anchor}" if anchor else address, one_line(text, TITLE_CHARACTERS))


def _outgoing(root: RootSource, locator: str, one: DocumentLink) -> Html:
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


MAX_NAME_CHARACTERS = 200
LINE_CHARACTERS = 160
LISTED_USES, LISTED_NAMES, SYMBOL_COMMITS = 200, 30, 5
_SYMBOL = """<div class="symbol-head"><h2 class="mono" tabindex="-1">{name}</h2><button class="close" hidden>Close</button></div>
{message}{definitions}{uses}{history}
"""


async def symbol_view(questions: ProjectQuestions, item_id: str, name: str) -> Html:
    """Return what is known about a name that a file has."""
    source, path = await find_item(questions.sources, item_id)
    project = questions.project(source.name)
    name = name.strip()[:MAX_NAME_CHARACTERS]
    if not name:
        raise ItemNotFound("no name is given")
    arguments = {"name": name, "kind": None, "path": None, "limit": LISTED_USES, "offset": 0}
    found = await questions.surface.find_references(PageCall(project, arguments))
    definitions = sorted(found["definitions"], key=lambda one: one["path"] != path)
    message, history = found.get("message", ""), None
    if message or not (definitions or found["references"]):
        everywhere = PageQuery(f'"{name}"' if " " in name else name, "exact").address()
        message = tag("p", message, " ", link(everywhere, "Find every line with this text"), class_="note")
    if definitions:
        given = {"in": source.name, "name": name, "path": definitions[0]["path"]}
        history = late("/symbol-history?" + "&".join(f"{key}={quoted_name(value)}" for key, value in given.items()))
    return html(
        _SYMBOL, name=name, message=message, history=history,
        definitions=_definitions(questions, definitions), uses=_uses(questions, found),
    )  # fmt: skip


def _code_line(text: str) -> Html:
    return tag("code", one_line(text.strip(), LINE_CHARACTERS))


def _definitions(questions: ProjectQuestions, places: Iterable[dict[str, Any]]) -> list[Html]:
    rows = []
    for one in places:
        address, place = questions.address(one["path"], one["line"]), f"{one['path']}:{one['line']}"
        kind = f"{one['kind']} in {one['within']}" if one.get("within") else one["kind"]
        rows.append(tag("li", link(address, place, class_="mono"), " ", about(kind), _code_line(one["text"])))
    title = "Definition" if len(rows) == 1 else "Definitions"
    return [tag("h3", title), tag("ul", rows, class_="places")] if rows else []


def _uses(questions: ProjectQuestions, found: dict[str, Any]) -> list[Html]:
    total = found["totalReferences"]
    if not total:
        is_known = bool(found["definitions"])
        return [tag("h3", "Uses"), tag("p", "No uses are known.", class_="about")] if is_known else []
    rows = []
    for file in found["references"]:
        place = link(questions.address(file["path"], file["uses"][0]["line"]), file["path"])
        uses = [_use(questions, file["path"], use) for use in file["uses"]]
        rows.append(tag("li", tag("p", place, class_="mono file"), tag("ul", uses)))
    files, more = pluralize(found.get("totalFiles", len(rows)), "file"), found.get("notListed", 0)
    return [
        tag("h3", f"{pluralize(total, 'use')} in {files}"),
        tag("ul", rows, class_="places"),
        tag("p", f"{pluralize(more, 'more use')} are not listed." if more else "", class_="note"),
    ]


def _use(questions: ProjectQuestions, path: str, use: dict[str, Any]) -> Html:
    within = ("in ", tag("b", use["within"])) if use.get("within") else use["kind"]
    return tag(
        "li",
        link(questions.address(path, use["line"]), use["line"]),
        " ",
        tag("span", within, class_="by"),
        " ",
        about(use.get("confidence")),
        _code_line(use["text"]),
    )


async def symbol_history(questions: ProjectQuestions, source: str, name: str, shown_path: str) -> Html:
    """Return the last commits about a symbol of a file; nothing where there is no history."""
    project = questions.project(source)
    place = questions.place(shown_path)
    try:
        found = await questions.history(name, project, glob_of(place[1]) if place else "", SYMBOL_COMMITS)
    except DowseError:
        return Html()
    if not found["results"]:
        return Html()
    return html("<h3>History</h3>{commits}", commits=commits_view(questions, found["results"], project, is_brief=True))


_FIND = """<h1>Go to a file or symbol</h1>
<form class="inline" action="/find" role="search" aria-label="Find by name">
<label class="hidden" for="name">Name</label>
<input id="name" name="q" type="search" value="{q}" placeholder="A part of a name" autocomplete="off" autofocus maxlength="200">
<button>Find</button></form>{names}
"""
_EXAMPLES = Html("Type a part of a name: <code>shipcost</code>, <code>src/app</code>, <code>OrderForm</code>.")


def find_page(text: str, names: Html) -> Html:
    """Return the whole view with files and symbols, for a browser without the script."""
    return html(_FIND, q=text, names=names)


async def find_by_name(sources: SourceList, text: str) -> Html:
    """Return the files and symbols whose names match a text, best first, as a list of links."""
    text = text.strip()[:MAX_NAME_CHARACTERS]
    if not text:
        return tag("p", _EXAMPLES, class_="about")
    await sources.find(Call())
    roots = sources.roots()

    asked = (root.ask(lambda index: find_names(index, text, LISTED_NAMES)) for root in roots)
    found: list[Sequence[FoundName]] = await asyncio.gather(*asked)
    named = [(root.name, one) for root, names in zip(roots, found, strict=True) for one in names]
    named.sort(key=lambda pair: -pair[1].quality)
    if not named:
        words = link(f"/?q={quoted_name(text)}", "Search for the words")
        return tag("p", "Nothing has a name like this. ", words, class_="about")
    rows = [_named(name, one, names_root=len(roots) > 1) for name, one in named[:LISTED_NAMES]]
    return tag("ul", rows, class_="plain names")


def _named(source: str, found: FoundName, *, names_root: bool) -> Html:
    address, place = read_address(id_of(source, found.path)), found.path.rpartition("/")[0]
    if found.kind:
        address += f"&symbol={quoted_name(found.name)}#L{found.line}"
        place = f"{found.path}:{found.line}"
    where = tag("bdi", f"{root_name(source)}: {place}" if names_root else place)
    return tag(
        "li",
        link(
            address,
            tag("b", found.name),
            " ",
            about(found.kind or "file"),
            " ",
            tag("span", where, class_="about place"),
        ),
    )
