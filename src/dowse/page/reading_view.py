"""The view of one item: a file as it is now, a document as a reader sees it, a folder."""

import asyncio
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from dowse.errors import Failed, ItemNotFound
from dowse.federation.federated_search import find_source
from dowse.federation.federation_types import FetchedItem, ListedItem, SearchSource
from dowse.federation.result_ids import id_of
from dowse.federation.source_list import NoClient, SourceList
from dowse.line_numbers import split_lines
from dowse.markup_lines import MARKUP_LANGUAGES
from dowse.page.colouring import JOBS, CodeText, Colours, paint
from dowse.page.markdown_view import MAX_RENDERED_CHARACTERS, heading_list, render_markdown
from dowse.page.markup import Html, html
from dowse.page.page_search import read_address
from dowse.page.search_view import FLAG_NOTES
from dowse.parsing.parser_pool import shared_pool
from dowse.parsing.parser_process import ParserRequest
from dowse.reading.languages import detect_language
from dowse.screening.instructions import find_flags
from dowse.visible_text import one_line

BLOCK_LINES = 200
"""Lines that are coloured together; a screen shows about 50."""
FIRST_SECONDS, LATER_SECONDS = 0.25, 3.0
"""How long the colours of the first block are waited for, and those of others, which the script asks for."""
LISTED_ITEMS = 5_000
TITLE_CHARACTERS = 200
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_WEB = re.compile(r"https?://[^\s]+|mailto:[^\s]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OpenItem:
    """An item that is read, with its source and its place there."""

    id: str
    source: SearchSource
    locator: str
    item: FetchedItem

    @property
    def language(self) -> str:
        """The language of a file; empty for anything else."""
        return str(self.item.metadata.get("language", ""))

    @property
    def path(self) -> str:
        """The path as replies show it."""
        return str(self.item.metadata.get("path") or self.locator)

    @property
    def is_markdown(self) -> bool:
        """Whether the text is Markdown: as it was written, or converted from a document."""
        is_archived = self.source.kind == "archive" and detect_language(self.path, b"") not in MARKUP_LANGUAGES
        return self.language == "markdown" or is_archived

    @property
    def is_code(self) -> bool:
        """Whether the text has lines that matter."""
        return self.source.kind in ("project", "documents") and not self.is_markdown


async def open_item(sources: SourceList, item_id: str) -> OpenItem:
    """Read an item as it is now; ItemNotFound if there is none that may be read."""
    source, locator = await find_source(sources, NoClient(), item_id)
    return OpenItem(item_id, source, locator, await source.fetch(locator))


async def item_view(opened: OpenItem, colours: Colours, view: str) -> Html:
    """Return the whole view of an item."""
    text, rendered = opened.item.text, None
    if opened.is_markdown and view != "source" and len(text) <= MAX_RENDERED_CHARACTERS:
        rendered = await asyncio.to_thread(render_markdown, text, lambda target: _resolve(opened, target))
    if rendered:
        content = html('<article class="rendered">{body}</article>', body=rendered.body)
        outline = heading_list(rendered.headings)
    elif opened.is_markdown or opened.is_code:
        content, outline = await _code_view(opened, colours), _late(f"/outline?id={_quoted(opened)}")
    else:
        content, outline = html('<article class="prose">{text}</article>', text=text), Html()
    flags = sorted({flag.kind for flag in find_flags(text)})
    said = ", ".join(FLAG_NOTES.get(flag, flag) for flag in flags)
    return html(
        '{path}{title}{tools}{warning}<div class="columns">{content}<aside class="side" aria-label="Outline and links">'
        "{outline}{links}</aside></div>",
        path=breadcrumbs(opened.source, opened.locator if opened.source.kind != "archive" else opened.path),
        title=None if rendered and any(one.level == 1 for one in rendered.headings) else _title(opened),
        tools=_tools(opened, is_rendered=rendered is not None),
        warning=html('<p class="warning">Read with care: the text {said}.</p>', said=said) if flags else None,
        content=content, outline=outline, links=_late(f"/links?id={_quoted(opened)}"),
    )  # fmt: skip


def _title(opened: OpenItem) -> Html:
    title = one_line(opened.item.title, TITLE_CHARACTERS)
    name = opened.path.rpartition("/")[2]
    return html("<h1><bdi>{title}</bdi></h1>", title=name if title == opened.path else title)


def _tools(opened: OpenItem, *, is_rendered: bool) -> Html:
    here, facts = read_address(opened.id), opened.item.metadata
    views = []
    if opened.is_markdown:
        current = Html(' aria-current="page"')
        views = [
            html('<a href="{here}"{current}>rendered</a>', here=here, current=current if is_rendered else None),
            html(
                '<a href="{here}&amp;view=source"{current}>source</a>',
                here=here,
                current=None if is_rendered else current,
            ),
        ]
    shown = [
        facts.get("language"),
        facts.get("type"),
        facts.get("date"),
        str(facts.get("modified", "")).replace("T", " "),
    ]
    web = opened.item.url if opened.item.url.startswith(("http://", "https://")) else ""
    return html(
        '<p class="tools">{facts}<span>{lines} lines</span>{views}<a href="{raw}">raw text</a>{web}</p>',
        facts=[html("<span>{fact}</span>", fact=fact) for fact in shown if fact],
        lines=f"{opened.item.text.count(chr(10)) + 1:,}", views=views, raw=f"/raw?id={_quoted(opened)}",
        web=html('<a href="{web}" rel="noopener noreferrer" target="_blank">original page</a>', web=web) if web else None,
    )  # fmt: skip


async def _code_view(opened: OpenItem, colours: Colours) -> Html:
    lines = _lines(opened.item.text)
    (runs,) = (await colours.find([_code(opened, lines[: 2 * BLOCK_LINES], 1, BLOCK_LINES)], FIRST_SECONDS))[0]
    blocks = []
    for start in range(0, len(lines), BLOCK_LINES):
        part = lines[start : start + BLOCK_LINES]
        is_coloured = start == 0 and bool(runs)
        blocks.append(
            html(
                '<div class="block" data-from="{start}" data-to="{end}"{plain}>'
                '<pre class="nums" aria-hidden="true">{numbers}</pre><pre class="text"><code>{text}</code></pre></div>',
                start=start + 1,
                end=start + len(part),
                plain=None if is_coloured else Html(" data-plain"),
                numbers="\n".join(map(str, range(start + 1, start + len(part) + 1))),
                text=paint("\n".join(part), runs if start == 0 else ()),
            )
        )
    return html(
        '<div class="code" tabindex="0" role="region" aria-label="Text of the file" data-id="{id}">{blocks}</div>',
        id=opened.id, blocks=blocks,
    )  # fmt: skip


async def lines_view(opened: OpenItem, colours: Colours, start: int, end: int) -> Html:
    """Return some lines in colours; nothing where there are none."""
    lines = _lines(opened.item.text)
    start, end = max(1, start), min(len(lines), end, start + BLOCK_LINES)
    (runs,) = (await colours.find([_code(opened, lines, start, end)], LATER_SECONDS))[0]
    return paint("\n".join(lines[start - 1 : end]), runs) if runs else Html()


async def outline_view(opened: OpenItem) -> Html:
    """Return the symbols of a file as links to their lines."""
    items = [
        html(
            '<li><a href="#L{line}">{name}</a> <span class="about">{kind}</span></li>', line=line, name=name, kind=kind
        )
        for name, kind, line in await find_symbols(opened)
    ]
    return html("<h2>Symbols</h2><ul>{items}</ul>", items=items) if items else Html()


async def find_symbols(opened: OpenItem) -> Sequence[tuple[str, str, int]]:
    """Return the definitions of a file with their kinds and lines; none where its parser cannot cope with it."""
    fields = {"module": JOBS, "job": "symbols", "language": opened.language}
    data = opened.item.text.encode("utf-8", "surrogatepass")
    try:
        reply = await asyncio.wrap_future(shared_pool().submit(ParserRequest(fields, data)))
    except Failed:
        return ()
    return () if reply.problem else [(name, kind, line) for name, kind, line in reply.fields["symbols"]]


async def folder_view(source: SearchSource, folder: str) -> Html:
    """Return the members of a folder: folders first, each with the number of items below it."""
    folders: dict[str, int] = {}
    items: list[ListedItem] = []
    for one in await source.list_items():
        if not one.path.startswith(folder):
            continue
        name, slash, _ = one.path[len(folder) :].partition("/")
        if slash:
            folders[name] = folders.get(name, 0) + 1
        else:
            items.append(one)
    if not folders and not items and folder:
        raise ItemNotFound(f"{source.name} has no such folder")
    rows = [
        html('<li><a href="{address}"><bdi>{name}/</bdi></a> <span class="about">{count:}</span></li>',
             address=read_address(f"{id_of(source.name, folder + name)}/"), name=one_line(name, TITLE_CHARACTERS), count=f"{count:,}")
        for name, count in sorted(folders.items())
    ]  # fmt: skip
    rows += [
        html('<li><a href="{address}"><bdi>{name}</bdi></a> <span class="about">{title}</span></li>',
             address=read_address(id_of(source.name, one.locator)),
             name=one_line(one.path[len(folder) :], TITLE_CHARACTERS), title=one_line(one.title, TITLE_CHARACTERS))
        for one in sorted(items, key=lambda one: one.path)[:LISTED_ITEMS]
    ]  # fmt: skip
    more = f"The first {LISTED_ITEMS:,} of {len(items):,} are listed; search to find the others."
    return html(
        '{path}<ul class="plain folder">{rows}</ul>{more}',
        path=breadcrumbs(source, folder), rows=rows or html('<li class="about">Nothing is here yet.</li>'),
        more=html('<p class="note">{more}</p>', more=more) if len(items) > LISTED_ITEMS else None,
    )  # fmt: skip


def breadcrumbs(source: SearchSource, path: str) -> Html:
    """Return the way to a place: the source, and each folder."""
    parts = [html('<a href="{address}">{name}</a>', address=read_address(f"{source.name}/"), name=unquote(source.name))]
    names = path.split("/")
    for number, name in enumerate(names[:-1], start=1):
        below = "/".join(names[:number])
        parts.append(
            html(
                '<a href="{address}"><bdi>{name}</bdi></a>',
                address=read_address(f"{id_of(source.name, below)}/"),
                name=name,
            )
        )
    if names[-1]:
        parts.append(html("<bdi>{name}</bdi>", name=one_line(names[-1], TITLE_CHARACTERS)))
    return html('<p class="path mono">{parts}</p>', parts=Html(" / ".join(parts)))


def _resolve(opened: OpenItem, target: str) -> str | None:
    """Return the address that a link of a document leads to: the web, a heading, or another file of its source."""
    if target.startswith("#"):
        return f"#md-{target[1:]}"
    if _SCHEME.match(target):
        return target if _WEB.fullmatch(target) else None
    if opened.source.kind not in ("project", "documents") or not target or target.startswith("//"):
        return None
    path, _, anchor = target.partition("#")
    base = "" if path.startswith("/") else posixpath.dirname(opened.locator)
    joined = posixpath.normpath(posixpath.join(base, unquote(path.partition("?")[0]).lstrip("/")))
    if joined.startswith(".."):
        return None
    folder = "/" if path.endswith("/") else ""
    place = "" if joined == "." else joined
    return read_address(id_of(opened.source.name, place) + folder) + (f"#md-{anchor}" if anchor else "")


def _lines(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in split_lines(text)] or [""]


def _code(opened: OpenItem, lines: Sequence[str], first: int, last: int) -> CodeText:
    """Return some lines of a file, with those around them."""
    passage = first, "\n".join(lines[first - 1 : last])
    return CodeText((passage,), opened.language, opened.path, "\n".join(lines).encode("utf-8", "surrogatepass"))


def _quoted(opened: OpenItem) -> str:
    return read_address(opened.id).partition("=")[2]


def _late(address: str) -> Html:
    return html('<div data-part="{address}" hidden></div>', address=address)
