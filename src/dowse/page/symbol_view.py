"""Symbols: where one is defined, who uses it, and the commits that changed it; and files and symbols by their names."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from dowse.errors import DowseError, ItemNotFound
from dowse.federation.federation_types import id_of
from dowse.federation.source_list import NoClient, SourceList
from dowse.indexes.name_lookup import FoundName, find_names
from dowse.page.history_view import PageCall, ProjectQuestions, commits_view, glob_of
from dowse.page.item_links import find_item, quoted_name, read_address, root_name
from dowse.page.markup import Html, about, html, late, link, tag
from dowse.page.page_search import PageQuery
from dowse.visible_text import one_line, pluralize

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
    await sources.find(NoClient())
    roots = sources.roots()
    asked = (root.served.ask(lambda index: find_names(index, text, LISTED_NAMES), root.main_view) for root in roots)
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
