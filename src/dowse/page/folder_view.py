"""The view of a folder: its folders and files, and its README."""

import contextlib
from dataclasses import dataclass, field
from urllib.parse import unquote, urlencode

from starlette.responses import Response

from dowse.errors import ItemNotFound
from dowse.federation.federation_types import SearchSource
from dowse.federation.result_ids import id_of
from dowse.federation.source_list import NoClient, SourceList
from dowse.indexes.index_status import format_size
from dowse.indexes.root_overview import folder_files, root_overview
from dowse.page.home_view import languages_view
from dowse.page.markup import Html, html
from dowse.page.page_frame import message_page
from dowse.page.page_search import read_address
from dowse.page.plain_words import plural, time_of
from dowse.page.reading_view import TITLE_CHARACTERS, PageTexts, breadcrumbs, open_item, render_document
from dowse.page.served_roots import find_item, root_name
from dowse.visible_text import one_line

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


@dataclass(slots=True)
class FolderMembers:
    """The members of a folder."""

    folders: dict[str, Member] = field(default_factory=dict)
    files: list[Member] = field(default_factory=list)

    @property
    def members(self) -> list[Member]:
        """All members: folders first, each kind by name."""
        return [
            *sorted(self.folders.values(), key=lambda one: one.name.lower()),
            *sorted(self.files, key=lambda one: one.name.lower()),
        ]

    @property
    def count(self) -> int:
        """The files in it and below it."""
        return len(self.files) + sum(one.count for one in self.folders.values())

    def add(self, member: Member) -> None:
        """Add a file, whose name is its path below this folder."""
        name, slash, _ = member.name.partition("/")
        if not slash:
            self.files.append(member)
            return
        below = self.folders.setdefault(name, Member(name, ""))
        below.count += 1
        below.size += member.size
        below.mtime_ns = max(below.mtime_ns, member.mtime_ns)


async def read_folder(sources: SourceList, source: SearchSource, path: str) -> FolderMembers:
    """Return the members of a folder, whose path ends in a slash or is empty; ItemNotFound if there is none."""
    found = FolderMembers()
    root = sources.root(source.name)
    listed = await root.served.ask_fresh(lambda index, _: folder_files(index, path), root.main_view) if root else []
    for one in listed:
        found.add(Member(one.path[len(path) :], one.path, one.title, one.language, one.size, one.mtime_ns))
    if not listed:  # a source without files, or an index that has none yet
        for item in await source.list_items():
            if item.path.startswith(path):
                found.add(Member(item.path[len(path) :], item.locator, item.title))
    if not found.members and path:
        raise ItemNotFound("there is no such folder, or nothing in it may be read")
    return found


async def folder_view(sources: SourceList, source: SearchSource, path: str, texts: PageTexts) -> Html:
    """Return a folder with its README."""
    found = await read_folder(sources, source, path)
    members = found.members
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
        head=html(_HEAD, crumbs=breadcrumbs(source.name, path), count=plural(found.count, "file"), history=history, path=path or "."),
        table=html(_TABLE, rows=[_row(source.name, path, one) for one in members[:LISTED_ITEMS]])
        if members else html('<p class="about">Nothing is here yet.</p>'),
        more=html('<p class="note">{more}</p>', more=more) if len(members) > LISTED_ITEMS else None,
        readme=await _readme(sources, source, found, texts),
        about=await _about(sources, source, path),
    )  # fmt: skip


def _row(source: str, path: str, member: Member) -> Html:
    is_folder = bool(member.count)
    address = f"{id_of(source, path + member.name)}/" if is_folder else id_of(source, member.locator)
    about = (
        plural(member.count, "file")
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


async def _readme(sources: SourceList, source: SearchSource, found: FolderMembers, texts: PageTexts) -> Html | None:
    by_name = {member.name.lower(): member for member in reversed(found.files)}
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
        for one in found.members[:TREE_ITEMS]
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
