"""The view of one item: a file as it is now, or a document as a reader sees it."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode

from dowse.federation.federated_search import find_source
from dowse.federation.federation_types import AS_DOCUMENT, ROOT_KINDS, FetchedItem, SearchSource, id_of
from dowse.federation.source_list import SourceList
from dowse.mcp.tools import Call
from dowse.page.item_links import item_address, picture_address, read_address, root_name
from dowse.page.markdown_view import MAX_RENDERED_CHARACTERS, heading_list, write_markdown
from dowse.page.markup import Html, html, late, link, tag, time_view
from dowse.page.page_texts import CodeText, PageTexts, paint
from dowse.page.search_view import flag_warning
from dowse.reading.languages import detect_language
from dowse.reading.outlines import Heading
from dowse.screening.masking import find_flags
from dowse.text.line_numbers import split_lines
from dowse.text.markup_lines import MARKUP_LANGUAGES
from dowse.visible_text import one_line, pluralize

BLOCK_LINES = 200
"""Lines that are coloured together; a screen shows about 50."""
FIRST_SECONDS, LATER_SECONDS = 0.25, 3.0
"""How long the colours of the first block are waited for, and those of others, which the script asks for."""
TITLE_CHARACTERS = 200
_HEAD = """<div class="head">
<nav class="path mono" aria-label="Path">{crumbs}</nav><p id="where" class="about" aria-live="off"></p>
<div class="tools">{tools}</div>
</div>
"""
_VIEW = """{head}<div class="columns"><nav class="tree" aria-label="Files beside this one" data-part="{tree}"></nav>
<div class="center">{warning}{content}</div>
<aside class="side" aria-label="Outline, uses and related files"><section id="symbol" aria-live="polite" hidden></section>
{outline}{related}{links}</aside></div>"""


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
    def is_file(self) -> bool:
        """Whether it is a file of a folder."""
        return self.source.kind in ROOT_KINDS

    @property
    def is_markdown(self) -> bool:
        """Whether the text is Markdown: as it was written, or converted from a document."""
        is_archived = self.source.kind == "archive" and detect_language(self.path, b"") not in MARKUP_LANGUAGES
        return self.language == "markdown" or is_archived

    @property
    def is_code(self) -> bool:
        """Whether the text has lines that matter."""
        return self.is_file and not self.is_markdown


async def open_item(sources: SourceList, item_id: str) -> OpenItem:
    """Read an item as it is now; ItemNotFound if there is none that may be read."""
    source, locator = await find_source(sources, Call(), item_id)
    return OpenItem(item_id, source, locator.removesuffix(AS_DOCUMENT), await source.fetch(locator))


async def item_view(opened: OpenItem, texts: PageTexts, view: str, editor: str) -> Html:
    """Return the whole view of an item; `editor` is the address that opens a line of it in an editor, if there is one."""
    rendered = await render_document(opened, texts) if opened.is_markdown and view != "source" else None
    quoted = quote(opened.id, safe="/")
    if rendered:
        content, outline = rendered[0], heading_list(rendered[1])
    elif opened.is_markdown or opened.is_code:
        content, outline = await _code_view(opened, texts), late(f"/outline?id={quoted}")
    else:
        content, outline = tag("article", opened.item.text, class_="prose"), Html()
    return html(
        _VIEW,
        head=_head(opened, editor, is_rendered=rendered is not None),
        tree=f"/tree?id={quoted}",
        warning=flag_warning(flag.kind for flag in find_flags(opened.item.text)),
        content=content,
        outline=outline,
        related=late(f"/related?id={quoted}") if opened.is_file else None,
        links=late(f"/links?id={quoted}"),
    )


async def render_document(opened: OpenItem, texts: PageTexts) -> tuple[Html, Sequence[Heading]] | None:
    """Return a document as HTML with its headings; None for one that is too long, or that its parser cannot cope with."""
    text = opened.item.text
    parsed = await texts.markdown(text) if len(text) <= MAX_RENDERED_CHARACTERS else None
    if parsed is None:
        return None
    name, locator = opened.source.name, opened.locator
    body = write_markdown(
        parsed,
        lambda target: item_address(name, locator, target),
        lambda target: picture_address(name, locator, target),
        has_anchors=True,
    )
    return tag("article", body, class_="rendered"), parsed.headings


def _head(opened: OpenItem, editor: str, *, is_rendered: bool) -> Html:
    about = opened.item.metadata
    shown: list[object] = [about.get(name) for name in ("language", "type", "date")]
    shown.append("" if is_rendered else pluralize(opened.item.text.count("\n") + 1, "line"))
    modified = time_view(str(about.get("modified", "")))
    shown.append(("changed ", modified) if modified else None)
    views = _views(opened, is_rendered=is_rendered) if opened.is_markdown else None
    path = opened.locator if opened.source.kind != "archive" else opened.path
    return head_view(opened.source.name, path, [tag("span", fact) for fact in shown], views, _buttons(opened, editor))


def _views(opened: OpenItem, *, is_rendered: bool) -> list[Html]:
    here = read_address(opened.id)
    return [
        link(here, "Rendered", aria_current="page" if is_rendered else None),
        link(f"{here}&view=source", "Source", aria_current=None if is_rendered else "page"),
    ]


def _buttons(opened: OpenItem, editor: str) -> list[Html]:
    given = urlencode({"id": opened.id}, errors="replace")
    found = [link(f"/raw?{given}", "Raw text")]
    if opened.source.kind == "project":
        found.append(link(f"/history?{given}", "History"))
    if opened.is_file:
        about = "Copy the address of this file, with the lines that are chosen"
        found.append(tag("button", "Copy path", data_copy=opened.path))
        found.append(tag("button", "Copy link", data_copy_link=True, title=about))
    if editor:
        found.append(link(editor.replace("{line}", "1"), "Open in editor", id="editor", data_address=editor))
    if opened.item.url.startswith(("http://", "https://")):
        found.append(link(opened.item.url, "Original page", rel="noopener noreferrer", target="_blank"))
    return found


_BLOCK = """<div class="block" data-from="{start}" data-to="{end}"{plain}>\
<pre class="nums" aria-hidden="true">{numbers}</pre><pre class="text"><code>{text}</code></pre></div>"""


async def _code_view(opened: OpenItem, texts: PageTexts) -> Html:
    lines = _lines(opened.item.text)
    (runs,) = await texts.colours(_code(opened, lines[: 2 * BLOCK_LINES], 1, BLOCK_LINES), FIRST_SECONDS)
    blocks = []
    for start in range(0, len(lines), BLOCK_LINES):
        part = lines[start : start + BLOCK_LINES]
        painted = paint("\n".join(part), () if start else runs)
        plain = None if runs and not start else Html(" data-plain")
        numbers = "\n".join(map(str, range(start + 1, start + len(part) + 1)))
        blocks.append(html(_BLOCK, start=start + 1, end=start + len(part), plain=plain, numbers=numbers, text=painted))
    return html(
        '<div class="code" tabindex="0" role="region" aria-label="Text of the file" data-id="{id}"{symbols}>{blocks}</div>',
        id=opened.id, symbols=Html(" data-symbols") if opened.source.kind == "project" and opened.is_code else None,
        blocks=blocks,
    )  # fmt: skip


async def lines_view(sources: SourceList, texts: PageTexts, item_id: str, first: str, last: str) -> Html:
    """Return some lines in colours; nothing where there are none."""
    opened = await open_item(sources, item_id)
    lines = _lines(opened.item.text)
    start = max(1, _number(first))
    end = min(len(lines), _number(last), start + BLOCK_LINES)
    (runs,) = await texts.colours(_code(opened, lines, start, end), LATER_SECONDS)
    return paint("\n".join(lines[start - 1 : end]), runs) if runs else Html()


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 1


def head_view(source: str, path: str, *tools: object) -> Html:
    """Return the head of a view: the root, each folder and the place itself as the heading, and what can be done with it."""
    names = path.split("/")
    places = [(read_address(f"{source}/"), root_name(source))]
    places += [
        (read_address(f"{id_of(source, '/'.join(names[:number]))}/"), name)
        for number, name in enumerate(names[:-1], start=1)
    ]
    if not names[-1]:
        places.pop()
    last = one_line(names[-1] or (names[-2] if len(names) > 1 else root_name(source)), TITLE_CHARACTERS)
    links = [link(address, tag("bdi", name)) for address, name in places]
    return html(_HEAD, crumbs=Html(" / ".join([*links, tag("h1", tag("bdi", last))])), tools=tools)


def _lines(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in split_lines(text)] or [""]


def _code(opened: OpenItem, lines: Sequence[str], first: int, last: int) -> CodeText:
    """Return some lines of a file, with those around them."""
    passage = first, "\n".join(lines[first - 1 : last])
    return CodeText((passage,), opened.language, opened.path, "\n".join(lines).encode("utf-8", "surrogatepass"))


def item_title(opened: OpenItem) -> str:
    """Return the title of an item for the window of the browser."""
    title = one_line(unquote(opened.item.title), 80)
    return title if title and title != opened.path else opened.path.rpartition("/")[2]
