"""The symbols of a file: its outline; where one is defined, who uses it, and the commits that changed it; and the files around the file."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from dowse.errors import DowseError, ItemNotFound
from dowse.federation.federation_types import source_name
from dowse.federation.source_list import SourceList
from dowse.page.history_view import PageCall, ProjectQuestions, commits_view, glob_of, quoted_name
from dowse.page.item_links import find_item
from dowse.page.markup import Html, html
from dowse.page.page_search import PageQuery
from dowse.page.page_texts import PageTexts
from dowse.visible_text import one_line, pluralize

MAX_NAME_CHARACTERS = 200
LINE_CHARACTERS = 160
LISTED_USES, LISTED_FILES, SYMBOL_COMMITS = 200, 12, 5
_SYMBOL = """<div class="symbol-head"><h2 class="mono" tabindex="-1">{name}</h2><button class="close" hidden>Close</button></div>
{message}{definitions}{uses}{history}
"""
_RELATED = {
    "imports": "Imports",
    "importedBy": "Imported by",
    "tests": "Tests",
    "changesWith": "Changes with",
}


async def symbol_view(questions: ProjectQuestions, sources: SourceList, item_id: str, name: str) -> Html:
    """Return what is known about a name that a file has."""
    source, path = await find_item(sources, item_id)
    project = questions.project(source.name)
    name = name.strip()[:MAX_NAME_CHARACTERS]
    if not name:
        raise ItemNotFound("no name is given")
    arguments = {"name": name, "kind": None, "path": None, "limit": LISTED_USES, "offset": 0}
    found = await questions.surface.find_references(PageCall(project, arguments))
    definitions = sorted(found["definitions"], key=lambda one: one["path"] != path)
    known = bool(definitions or found["references"])
    everywhere = PageQuery(f'"{name}"' if " " in name else name, "exact").address()
    message = found.get("message", "")
    history = None
    if definitions:
        address = f"/symbol-history?in={quoted_name(source_name('project', project.name))}&name={quoted_name(name)}&path={quoted_name(definitions[0]['path'])}"
        history = html('<div data-part="{address}" hidden></div>', address=address)
    return html(
        _SYMBOL, name=name,
        message=html('<p class="note">{message} <a href="{address}">Find every line with this text</a></p>', message=message, address=everywhere)
        if message or not known else None,
        definitions=_definitions(questions, definitions), uses=_uses(questions, found), history=history,
    )  # fmt: skip


def _definitions(questions: ProjectQuestions, places: Iterable[dict[str, Any]]) -> Html | None:
    rows = [
        html(
            '<li><a href="{address}" class="mono">{path}:{line}</a> <span class="about">{kind}</span><code>{text}</code></li>',
            address=questions.address(one["path"], one["line"]), path=one["path"], line=one["line"],
            kind=f"{one['kind']}{' in ' + one['within'] if one.get('within') else ''}", text=one_line(one["text"].strip(), LINE_CHARACTERS),
        )
        for one in places
    ]  # fmt: skip
    title = "Definition" if len(rows) == 1 else "Definitions"
    return html('<h3>{title}</h3><ul class="places">{rows}</ul>', title=title, rows=rows) if rows else None


def _uses(questions: ProjectQuestions, found: dict[str, Any]) -> Html | None:
    total = found["totalReferences"]
    if not total:
        return html('<h3>Uses</h3><p class="about">No uses are known.</p>') if found["definitions"] else None
    files = [
        html(
            '<li><p class="mono file"><a href="{address}">{path}</a></p><ul>{uses}</ul></li>',
            address=questions.address(file["path"], file["uses"][0]["line"]), path=file["path"],
            uses=[_use(questions, file["path"], use) for use in file["uses"]],
        )
        for file in found["references"]
    ]  # fmt: skip
    more = found.get("notListed", 0)
    return html(
        '<h3>{count} in {files}</h3><ul class="places">{rows}</ul>{more}',
        count=pluralize(total, "use"), files=pluralize(found.get("totalFiles", len(files)), "file"), rows=files,
        more=html('<p class="note">{more}</p>', more=f"{pluralize(more, 'more use')} are not listed.") if more else None,
    )  # fmt: skip


def _use(questions: ProjectQuestions, path: str, use: dict[str, Any]) -> Html:
    doubt = use.get("confidence", "")
    within = use.get("within", "")
    return html(
        '<li><a href="{address}">{line}</a> <span class="by">{within}</span>{doubt}<code>{text}</code></li>',
        address=questions.address(path, use["line"]), line=use["line"],
        within=html("in <b>{within}</b>", within=within) if within else use["kind"],
        doubt=html(' <span class="about">{doubt}</span>', doubt=doubt) if doubt else None,
        text=one_line(use["text"].strip(), LINE_CHARACTERS),
    )  # fmt: skip


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


async def related_view(questions: ProjectQuestions, sources: SourceList, item_id: str) -> Html:
    """Return the files around a file; nothing where none are known."""
    source, path = await find_item(sources, item_id)
    try:
        project = questions.project(source.name)
        shown = questions.surface.service.shown_path(project, path)
        found = await questions.surface.related_files(PageCall(project, {"path": shown, "limit": LISTED_FILES}))
    except DowseError:  # it is not indexed, or no project
        return Html()
    groups = [
        html("<h3>{title}</h3><ul>{rows}</ul>", title=title, rows=[_related(questions, one) for one in found[name]])
        for name, title in _RELATED.items()
        if found.get(name)
    ]
    return html("<h2>Related files</h2>{groups}", groups=groups) if groups else Html()


def _related(questions: ProjectQuestions, file: dict[str, Any]) -> Html:
    folder, slash, name = file["path"].rpartition("/")
    return html(
        '<li><a href="{address}" title="{path}: {reason}"><bdi>{name}</bdi></a> <span class="about">{folder}</span></li>',
        address=questions.address(file["path"]), path=file["path"], reason=file["reason"], name=name, folder=folder + slash,
    )  # fmt: skip


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


async def outline_view(texts: PageTexts, text: str, language: str) -> Html:
    """Return the definitions of a text as links to their lines; the script adds a way to the uses of the one in focus."""
    items = [
        html(
            '<li class="l{level}" data-line="{line}" data-end="{end}"><a href="#L{line}" data-sign="{sign}">{name}</a></li>',
            level=one.depth + 1, line=one.line, end=one.end_line, name=one.name, sign=_SIGNS.get(one.kind, "T"),
        )
        for one in nest(await texts.symbols(text, language))
    ]  # fmt: skip
    return html('<h2>Outline</h2><ul class="outline">{items}</ul>', items=items) if items else Html()


def nest(symbols: Sequence[tuple[str, str, int, int]]) -> list[OutlineEntry]:
    """Return definitions in the order of their lines, each with its depth, without the parts of others."""
    entries: list[OutlineEntry] = []
    around: list[OutlineEntry] = []
    for name, kind, line, end in sorted(symbols, key=lambda one: (one[2], -one[3])):
        while around and around[-1].end_line < line:
            around.pop()
        entry = OutlineEntry(name, kind, line, max(line, end), min(len(around), MAX_DEPTH))
        if around and kind in _PARTS:
            continue
        entries.append(entry)
        if kind not in _PARTS:
            around.append(entry)
    return entries
