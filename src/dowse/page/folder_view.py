"""The first view, with what is here, and the view of a folder: its folders and files, and its README."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from dowse.errors import ItemNotFound
from dowse.federation.federation_types import SearchSource, SourceStatus, id_of
from dowse.federation.source_list import SourceList
from dowse.indexes.index_status import format_size
from dowse.indexes.root_overview import RootOverview, folder_files, root_overview
from dowse.mcp.tools import Call
from dowse.page.item_links import find_item, read_address, root_name
from dowse.page.markup import Html, about, counted, facts, html, link, tag, time_of, time_view
from dowse.page.page_texts import PageTexts
from dowse.page.reading_view import TITLE_CHARACTERS, head_view, open_item, render_document
from dowse.page.search_view import source_options
from dowse.page.status_view import STATE_NAMES, progress_bar, progress_text
from dowse.visible_text import one_line, pluralize

SHOWN_LANGUAGES, SHOWN_FILES = 5, 5
GROWING_ADVICE = "You can search and read already: files that are not indexed yet are searched as they are."
_HOME = """<section class="overview"{live}><h1>What is here</h1><ul class="plain roots">{items}</ul>{advice}
<section id="searches" hidden><h2>Recent searches</h2><ul class="plain"></ul></section>
<p class="about keys"><kbd>/</kbd> search <kbd>t</kbd> go to a file or symbol <kbd>↑</kbd> <kbd>↓</kbd> choose
<kbd>Enter</kbd> open <kbd>Esc</kbd> back to the box</p><template>{options}</template></section>
"""
_KINDS = {"documents": "documents", "site": "site", "archive": "", "index": "named index", "dependencies": "packages"}
_EMPTY = """<li class="root"><p>Nothing is served yet. Name a folder: <code>dowse open DIR</code></p></li>"""


async def find_overviews(sources: SourceList, statuses: Sequence[SourceStatus]) -> dict[str, RootOverview]:
    """Return what the index of each root has, by the name of its source."""
    indexed = {status.name for status in statuses if status.counts}
    return {root.name: await root.ask(root_overview) for root in sources.roots() if root.name in indexed}


def home_view(statuses: Sequence[SourceStatus], overviews: Mapping[str, RootOverview]) -> Html:
    """Return the list of all roots, which stands where results will be."""
    is_live = any(status.state == "indexing" for status in statuses)
    items = [_root_view(status, overviews.get(status.name, RootOverview())) for status in statuses]
    return html(
        _HOME,
        live=Html(" data-live") if is_live else None,
        items=items or Html(_EMPTY),
        advice=tag("p", GROWING_ADVICE, class_="note") if is_live else None,
        options=source_options(dict.fromkeys(root_name(status.name) for status in statuses)),
    )


def _root_view(status: SourceStatus, overview: RootOverview) -> Html:
    name = root_name(status.name)
    return tag(
        "li",
        tag("h2", link(read_address(f"{status.name}/"), name, data_name=name), " ", about(_KINDS.get(status.kind))),
        tag("p", _root_facts(status, overview), class_="about"),
        tag("p", status.problem, class_="note"),
        tag("ul", _languages(overview), class_="languages", aria_label="Languages"),
        _newest(status.name, overview),
        class_="root",
    )


def _root_facts(status: SourceStatus, overview: RootOverview) -> list[Html]:
    if status.state == "indexing":
        return [progress_bar(status.growth), *facts([progress_text(status.growth)])]
    updated = time_view(status.last_updated or "")
    return facts(
        [
            counted(status.counts),
            format_size(overview.size_bytes) if overview.size_bytes else "",
            STATE_NAMES.get(status.state, status.state) if status.state != "ready" else "",
            ("indexed ", updated) if updated else None,
        ]
    )


def _languages(overview: RootOverview) -> list[Html]:
    """Return the languages of a folder with their shares."""
    size = max(1, overview.size_bytes)
    shares = [(one.language, round(100 * one.size / size)) for one in overview.languages if one.language != "text"]
    shown = [(name, share) for name, share in shares[:SHOWN_LANGUAGES] if share]
    return [tag("li", name, " ", tag("span", f"{share} %")) for name, share in shown]


def _newest(source: str, overview: RootOverview) -> list[Html]:
    rows = [
        tag("li", link(read_address(id_of(source, one.path)), tag("bdi", one.path)), " ", about(time_of(one.mtime_ns)))
        for one in overview.newest[:SHOWN_FILES]
    ]
    return [tag("h3", "Changed last"), tag("ul", rows, class_="plain newest")] if rows else []


LISTED_ITEMS = 5_000
_READMES = ("readme.md", "readme.markdown", "index.md", "readme", "readme.txt", "readme.rst")
_TABLE = """<table class="folder"><thead><tr><th scope="col">Name</th><th scope="col">About</th>
<th scope="col" class="wide">Size</th><th scope="col" class="wide">Changed</th></tr></thead><tbody>{rows}</tbody></table>"""
_ROW = """<tr><td><a href="{address}"{kind}><bdi>{name}</bdi></a></td><td class="about">{about}</td>
<td class="about wide">{size}</td><td class="about wide">{time}</td></tr>"""


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

    def address(self, source: str, folder: str) -> str:
        """Return the address at which it is read."""
        return read_address(f"{id_of(source, folder + self.name)}/" if self.count else id_of(source, self.locator))


async def read_folder(sources: SourceList, source: SearchSource, path: str) -> list[Member]:
    """Return the members of a folder, whose path ends in a slash or is empty: folders first, each kind by name.

    Raise ItemNotFound if there is no such folder.
    """
    root = sources.root(source.name)
    listed = await root.ask(lambda index: folder_files(index, path)) if root else []
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
    rows = [_row(source.name, path, one) for one in members[:LISTED_ITEMS]]
    more = f"The first {LISTED_ITEMS:,} of {len(members):,} are listed; search to find the others."
    item_id = f"{id_of(source.name, path.rstrip('/'))}/" if path else f"{source.name}/"
    tools = [tag("span", pluralize(sum(one.count or 1 for one in members), "file"))]
    if source.kind == "project":
        tools.append(link(f"/history?{urlencode({'id': item_id}, errors='replace')}", "History"))
    tools.append(tag("button", "Copy path", data_copy=path or "."))
    return html(
        "{head}{table}{more}{readme}",
        head=head_view(source.name, path, tools),
        table=html(_TABLE, rows=rows) if rows else tag("p", "Nothing is here yet.", class_="about"),
        more=tag("p", more, class_="note") if len(members) > LISTED_ITEMS else None,
        readme=await _readme(source.name, sources, members, texts),
    )


def _row(source: str, path: str, member: Member) -> Html:
    told = member.title if member.title not in (member.name, member.locator) else member.language
    return html(
        _ROW,
        address=member.address(source, path),
        kind=Html(' class="is-folder"') if member.count else None,
        name=one_line(member.name, TITLE_CHARACTERS) + ("/" if member.count else ""),
        about=pluralize(member.count, "file") if member.count else one_line(told, TITLE_CHARACTERS),
        size=format_size(member.size) if member.size else None,
        time=time_of(member.mtime_ns) if member.mtime_ns else None,
    )


async def _readme(source: str, sources: SourceList, members: Sequence[Member], texts: PageTexts) -> Html | None:
    by_name = {member.name.lower(): member for member in reversed(members) if not member.count}
    member = next((by_name[name] for name in _READMES if name in by_name), None)
    if member is None:
        return None
    with contextlib.suppress(ItemNotFound):  # it was just removed
        opened = await open_item(sources, id_of(source, member.locator))
        rendered = await render_document(opened, texts) if opened.is_markdown else None
        body = rendered[0] if rendered else tag("div", opened.item.text, class_="prose")
        return tag("section", tag("h2", member.name, class_="mono"), body, class_="readme", aria_label=member.name)
    return None


async def folder_address(sources: SourceList, item_id: str) -> str | None:
    """Return the address of the folder that an id means without a slash at its end; None if it means none."""
    known, _ = await sources.find(Call())
    if any(source.name == item_id for source in known):
        return read_address(f"{item_id}/")
    with contextlib.suppress(ItemNotFound):
        source, locator = await find_item(sources, item_id)
        if sources.root(source.name) and locator:
            await read_folder(sources, source, f"{locator}/")
            return read_address(f"{item_id}/")
    return None
