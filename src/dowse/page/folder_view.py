"""The first view, with what is here, and the view of a folder: its folders and files, and its README."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlencode

from starlette.responses import Response

from dowse.errors import ItemNotFound
from dowse.federation.federation_types import SearchSource, SourceStatus, id_of
from dowse.federation.source_list import NoClient, SourceList
from dowse.indexes.index_status import format_size
from dowse.indexes.root_overview import RootOverview, folder_files, root_overview
from dowse.page.item_links import find_item, read_address, root_name
from dowse.page.markup import Html, counted, html, time_of, time_view
from dowse.page.page_frame import message_page
from dowse.page.page_texts import PageTexts
from dowse.page.reading_view import TITLE_CHARACTERS, breadcrumbs, open_item, render_document
from dowse.page.search_view import source_options
from dowse.page.status_view import STATE_NAMES, progress_bar, progress_text
from dowse.visible_text import one_line, pluralize

SHOWN_LANGUAGES, SHOWN_FILES = 5, 5
GROWING_ADVICE = "You can search and read already: files that are not indexed yet are searched as they are."
_ROOT = """<li class="root"><h2><a href="{address}" data-name="{name}">{name}</a>{kind}</h2>
<p class="about">{bar}{facts}</p>{problem}{languages}{newest}</li>
"""
_KINDS = {"documents": "documents", "site": "site", "archive": "", "index": "named index", "dependencies": "packages"}
_EMPTY = """<li class="root"><p>Nothing is served yet. Name a folder: <code>dowse open DIR</code></p></li>"""


async def find_overviews(sources: SourceList, statuses: Sequence[SourceStatus]) -> dict[str, RootOverview]:
    """Return what the index of each root has, by the name of its source."""
    indexed = {status.name for status in statuses if status.counts}
    return {
        root.name: await root.served.ask(root_overview, root.main_view)
        for root in sources.roots()
        if root.name in indexed
    }


def home_view(statuses: Sequence[SourceStatus], overviews: Mapping[str, RootOverview]) -> Html:
    """Return the list of all roots, which stands where results will be."""
    is_live = any(status.state == "indexing" for status in statuses)
    return html(
        '<section class="overview"{live}><h1>What is here</h1><ul class="plain roots">{items}</ul>{advice}'
        '<section id="searches" hidden><h2>Recent searches</h2><ul class="plain"></ul></section>'
        '<p class="about keys"><kbd>/</kbd> search <kbd>t</kbd> go to a file or symbol <kbd>↑</kbd> <kbd>↓</kbd> choose '
        "<kbd>Enter</kbd> open <kbd>Esc</kbd> back to the box</p><template>{options}</template></section>",
        live=Html(" data-live") if is_live else None,
        advice=html('<p class="note">{text}</p>', text=GROWING_ADVICE) if is_live else None,
        options=source_options(dict.fromkeys(root_name(status.name) for status in statuses)),
        items=[_root_view(status, overviews.get(status.name, RootOverview())) for status in statuses] or Html(_EMPTY),
    )  # fmt: skip


def _root_view(status: SourceStatus, overview: RootOverview) -> Html:
    is_growing = status.state == "indexing"
    facts: list[str | Html | None] = []
    if is_growing:
        facts.append(progress_text(status.growth))
    else:
        facts.append(counted({name: count for name, count in status.counts.items() if name != "chunks"}))
        facts.append(format_size(overview.size_bytes) if overview.size_bytes else "")
        facts.append(STATE_NAMES.get(status.state, status.state) if status.state not in ("", "ready") else "")
        updated = time_view(status.last_updated) if status.last_updated else None
        facts.append(html("indexed {updated}", updated=updated) if updated else None)
    kind = _KINDS.get(status.kind, "")
    return html(
        _ROOT,
        address=read_address(f"{status.name}/"),
        name=root_name(status.name),
        kind=html(' <span class="about">{kind}</span>', kind=kind) if kind else None,
        bar=html("{bar} ", bar=progress_bar(status.growth)) if is_growing else None,
        facts=[html('<span class="fact">{fact}</span>', fact=fact) for fact in facts if fact],
        problem=html('<p class="note">{text}</p>', text=status.problem) if status.problem else None,
        languages=languages_view(overview),
        newest=_newest(status.name, overview),
    )


def languages_view(overview: RootOverview) -> Html | None:
    """Return the languages of a folder with their shares."""
    size = max(1, overview.size_bytes)
    shares = [(one.language, round(100 * one.size / size)) for one in overview.languages if one.language != "text"]
    shown = [(name, share) for name, share in shares[:SHOWN_LANGUAGES] if share]
    if not shown:
        return None
    items = [html("<li>{name} <span>{share} %</span></li>", name=name, share=share) for name, share in shown]
    return html('<ul class="languages" aria-label="Languages">{items}</ul>', items=items)


def _newest(source: str, overview: RootOverview) -> Html | None:
    rows = [
        html('<li><a href="{address}"><bdi>{path}</bdi></a> <span class="about">{time}</span></li>',
             address=read_address(id_of(source, one.path)), path=one.path, time=time_of(one.mtime_ns))
        for one in overview.newest[:SHOWN_FILES]
    ]  # fmt: skip
    return html('<h3>Changed last</h3><ul class="plain newest">{rows}</ul>', rows=rows) if rows else None


LISTED_ITEMS = 5_000
TREE_ITEMS = 300
_READMES = ("readme.md", "readme.markdown", "index.md", "readme", "readme.txt", "readme.rst")
_HEAD = """<div class="head"><nav class="path mono" aria-label="Path">{crumbs}</nav>
<div class="tools"><span>{count}</span>{history}<button data-copy="{path}">Copy path</button></div></div>
"""
_TABLE = """<table class="folder"><thead><tr><th scope="col">Name</th><th scope="col">About</th>
<th scope="col" class="wide">Size</th><th scope="col" class="wide">Changed</th></tr></thead><tbody>{rows}</tbody></table>"""


@dataclass(slots=True)
class Member:
    """A file of a folder, or a folder with the files below it."""

    name: str
    locator: str
    title: str = ""
    language: str = ""
    size: int = 0
    mtime_ns: int = 0
    count: int = 0
    """The files below a folder; 0 for a file."""


async def read_folder(sources: SourceList, source: SearchSource, path: str) -> list[Member]:
    """Return the members of a folder, whose path ends in a slash or is empty: folders first, each kind by name.

    Raise ItemNotFound if there is no such folder.
    """
    root = sources.root(source.name)
    listed = await root.served.ask_fresh(lambda index, _: folder_files(index, path), root.main_view) if root else []
    found = [Member(one.path, one.path, one.title, one.language, one.size, one.mtime_ns) for one in listed]
    if not listed:  # a source without files, or an index that has none yet
        items = await source.list_items()
        found = [Member(item.path, item.locator, item.title) for item in items if item.path.startswith(path)]
    if not found and path:
        raise ItemNotFound("there is no such folder, or nothing in it may be read")
    folders: dict[str, Member] = {}
    files = []
    for file in found:
        name, slash, _ = file.name[len(path) :].partition("/")
        if not slash:
            files.append(replace(file, name=name))
            continue
        below = folders.setdefault(name, Member(name, ""))
        below.count += 1
        below.size += file.size
        below.mtime_ns = max(below.mtime_ns, file.mtime_ns)
    return sorted([*folders.values(), *files], key=lambda one: (not one.count, one.name.lower()))


async def folder_view(sources: SourceList, source: SearchSource, path: str, texts: PageTexts) -> Html:
    """Return a folder with its README."""
    members = await read_folder(sources, source, path)
    more = f"The first {LISTED_ITEMS:,} of {len(members):,} are listed; search to find the others."
    history = None
    if source.kind == "project":
        given = urlencode(
            {"id": f"{id_of(source.name, path.rstrip('/'))}/" if path else f"{source.name}/"}, errors="replace"
        )
        history = html('<a href="/history?{given}">History</a>', given=given)
    return html(
        '{head}<div class="columns two"><div class="center">{table}{more}{readme}</div><aside class="side" '
        'aria-label="About this folder">{about}</aside></div>',
        head=html(_HEAD, crumbs=breadcrumbs(source.name, path), count=pluralize(sum(one.count or 1 for one in members), "file"), history=history, path=path or "."),
        table=html(_TABLE, rows=[_row(source.name, path, one) for one in members[:LISTED_ITEMS]])
        if members else html('<p class="about">Nothing is here yet.</p>'),
        more=html('<p class="note">{more}</p>', more=more) if len(members) > LISTED_ITEMS else None,
        readme=await _readme(sources, source, members, texts),
        about=await _about(sources, source, path),
    )  # fmt: skip


def _row(source: str, path: str, member: Member) -> Html:
    is_folder = bool(member.count)
    address = f"{id_of(source, path + member.name)}/" if is_folder else id_of(source, member.locator)
    about = (
        pluralize(member.count, "file")
        if is_folder
        else member.title
        if member.title not in (member.name, member.locator)
        else member.language
    )
    return html(
        '<tr><td><a href="{address}"{kind}><bdi>{name}</bdi></a></td><td class="about">{about}</td>'
        '<td class="about wide">{size}</td><td class="about wide">{time}</td></tr>',
        address=read_address(address), name=one_line(member.name, TITLE_CHARACTERS) + ("/" if is_folder else ""),
        kind=Html(' class="is-folder"') if is_folder else None, about=one_line(about, TITLE_CHARACTERS),
        size=format_size(member.size) if member.size else None,
        time=time_of(member.mtime_ns) if member.mtime_ns else None,
    )  # fmt: skip


async def _readme(
    sources: SourceList, source: SearchSource, members: Sequence[Member], texts: PageTexts
) -> Html | None:
    by_name = {member.name.lower(): member for member in reversed(members) if not member.count}
    member = next((by_name[name] for name in _READMES if name in by_name), None)
    if member is None:
        return None
    with contextlib.suppress(ItemNotFound):  # it was just removed
        opened = await open_item(sources, id_of(source.name, member.locator))
        rendered = await render_document(opened, texts) if opened.is_markdown else None
        body = rendered[0] if rendered else html('<div class="prose">{text}</div>', text=opened.item.text)
        return html(
            '<section class="readme" aria-label="{name}"><h2 class="mono">{name}</h2>{body}</section>',
            name=member.name,
            body=body,
        )
    return None


async def _about(sources: SourceList, source: SearchSource, path: str) -> Html | None:
    """Return the languages of a whole root."""
    root = sources.root(source.name)
    if root is None or path:
        return None
    shown = languages_view(await root.served.ask(root_overview, root.main_view))
    return html("<h2>Languages</h2>{shown}", shown=shown) if shown else None


async def tree_view(sources: SourceList, item_id: str) -> Html:
    """Return the files beside a file, for the script."""
    source, locator = await find_item(sources, item_id)
    if sources.root(source.name) is None:
        return Html()
    path = locator[: locator.rfind("/") + 1]
    found = await read_folder(sources, source, path)
    rows = [
        html('<li><a href="{address}"{current}><bdi>{name}</bdi></a></li>',
             address=read_address(f"{id_of(source.name, path + one.name)}/" if one.count else id_of(source.name, one.locator)),
             name=one.name + ("/" if one.count else ""),
             current=Html(' aria-current="page"') if one.locator == locator else None)
        for one in found[:TREE_ITEMS]
    ]  # fmt: skip
    up = (
        html(
            '<li><a href="{address}" aria-label="The folder above">../</a></li>',
            address=read_address(f"{id_of(source.name, path.rstrip('/'))}/"),
        )
        if path
        else None
    )
    return html(
        "<h2>{folder}</h2><ul>{up}{rows}</ul>", folder=path.rstrip("/").rpartition("/")[2] or "Files", up=up, rows=rows
    )


def missing_view(item_id: str) -> Response:
    """Return the view of a file that is not there, with ways to what is."""
    names = item_id.split("/")
    links = html(
        '<ul class="plain tips"><li><a href="/find?{name}">Find files of this name</a></li>'
        '<li><a href="{root}">See what {label} has</a></li><li><a href="/">Search</a></li></ul>',
        name=urlencode({"q": unquote(names[-1])}, errors="replace"), root=read_address("/".join(names[:2]) + "/"),
        label=root_name("/".join(names[:2])),
    )  # fmt: skip
    said = "There is no such file here, or it may not be read: dowse why PATH says which rule leaves a file out."
    return message_page("Not found", said, 404, links)


async def folder_address(sources: SourceList, item_id: str) -> str | None:
    """Return the address of the folder that an id means without a slash at its end; None if it means none."""
    known, _ = await sources.find(NoClient())
    if any(source.name == item_id for source in known):
        return read_address(f"{item_id}/")
    with contextlib.suppress(ItemNotFound):
        source, locator = await find_item(sources, item_id)
        if sources.root(source.name) and locator:
            await read_folder(sources, source, f"{locator}/")
            return read_address(f"{item_id}/")
    return None
