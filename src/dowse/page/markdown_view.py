"""Markdown as HTML: the parser processes take the text apart, and every tag is written here."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dowse.errors import Failed
from dowse.page.colouring import JOBS
from dowse.page.markup import Html, html, render
from dowse.parsing.parser_pool import shared_pool
from dowse.parsing.parser_process import ParserRequest
from dowse.reading.markdown_events import is_inline
from dowse.reading.outlines import Heading

MAX_RENDERED_CHARACTERS = 400_000
"""A longer text is shown as it is: a megabyte of Markdown has a million events."""

Resolve = Callable[[str], str | None]
"""Returns the address that a link leads to; None for a link that leads nowhere a page may lead."""

_TAGS = {
    "Paragraph": "p", "BlockQuote": "blockquote", "Item": "li", "TableRow": "tr", "Emphasis": "em", "Strong": "strong",
    "Strikethrough": "s", "Subscript": "sub", "Superscript": "sup", "DefinitionList": "dl",
    "DefinitionListTitle": "dt", "DefinitionListDefinition": "dd",
}  # fmt: skip
"""Tags without attributes."""
_HTML_TAG = re.compile(r"<!--.*?(?:-->|\Z)|<[^<>]*>", re.DOTALL)
_BLOCKS = {"Paragraph", "Heading", "CodeBlock", "Item", "Table", "BlockQuote", "HtmlBlock"}


@dataclass(frozen=True, slots=True)
class RenderedMarkdown:
    """A text as HTML, and its headings."""

    body: Html
    headings: tuple[Heading, ...]


def render_markdown(text: str, resolve: Resolve) -> RenderedMarkdown | None:
    """Return a text as HTML; None for one that its parser cannot cope with. Runs off the event loop."""
    fields = {"module": JOBS, "job": "markdown"}
    try:
        reply = shared_pool().run(ParserRequest(fields, text.encode("utf-8", "surrogatepass")))
    except Failed:
        return None
    if reply.problem:
        return None
    headings = tuple(Heading(*one) for one in reply.fields["headings"])
    writer = _Writer({heading.line: heading.anchor for heading in headings}, resolve)
    for event, line in reply.fields["events"]:
        writer.write(event, line)
    return RenderedMarkdown(Html("".join(writer.pieces)), headings)


class _Writer:
    """Writes the tags of events. Text between tags is escaped; HTML in the text is shown without its tags."""

    def __init__(self, anchors: dict[int, str], resolve: Resolve) -> None:
        self.pieces: list[str] = []
        self._anchors, self._resolve = anchors, resolve
        self._open: list[str] = []
        """The end tags of what is open."""
        self._cell = "td"

    def write(self, event: Any, line: int) -> None:
        name, value = (event, None) if isinstance(event, str) else next(iter(event.items()))
        match name:
            case "Start":
                self._start(value, line)
            case "End":
                self._end(value)
            case "Text" | "InlineMath" | "DisplayMath":
                self.pieces.append(render(str(value)))
            case "Code":
                self.pieces.append(html("<code>{text}</code>", text=value))
            case "Html" | "InlineHtml":
                self.pieces.append(render(_HTML_TAG.sub("", str(value))))
            case "SoftBreak":
                self.pieces.append("\n")
            case "HardBreak":
                self.pieces.append("<br>")
            case "Rule":
                self.pieces.append("<hr>")
            case "FootnoteReference":
                self.pieces.append(html("<sup>[{name}]</sup>", name=value))
            case "TaskListMarker":
                self.pieces.append("☑ " if value else "☐ ")

    def _start(self, tag: Any, line: int) -> None:
        name, value = (tag, None) if isinstance(tag, str) else next(iter(tag.items()))
        if name == "Image":
            self.pieces.append('<span class="image">')
            self._open.append("</span>")
            return
        if name in ("TableHead", "TableRow"):
            self._cell = "th" if name == "TableHead" else "td"
        place = f' data-line="{line}"' if line and name in _BLOCKS else ""
        start, end = self._tag(name, value, line, place)
        self.pieces.append(start)
        self._open.append(end)

    def _end(self, _tag: Any) -> None:
        if self._open:
            self.pieces.append(self._open.pop())

    def _tag(self, name: str, value: Any, line: int, place: str) -> tuple[str, str]:
        if name in _TAGS:
            return f"<{_TAGS[name]}{place}>", f"</{_TAGS[name]}>" + ("" if is_inline(name) else "\n")
        match name:
            case "Heading":
                level = int(str(value["level"])[-1])
                anchor = self._anchors.get(line)
                start = html('<h{level} id="md-{anchor}"', level=level, anchor=anchor) if anchor else f"<h{level}"
                return f"{start}{place}>", f"</h{level}>\n"
            case "CodeBlock":
                return f'<pre tabindex="0"{place}><code>', "</code></pre>\n"
            case "List":
                start = f' start="{int(value)}"' if isinstance(value, int) and value != 1 else ""
                return (f"<ol{start}>", "</ol>\n") if value is not None else ("<ul>", "</ul>\n")
            case "Table":
                return f'<div class="table"{place}><table>', "</table></div>\n"
            case "TableHead":
                return "<tr>", "</tr>\n"
            case "TableCell":
                return f"<{self._cell}>", f"</{self._cell}>"
            case "Link":
                return self._link(_target(value))
            case "FootnoteDefinition":
                return html('<div class="about">[{name}] ', name=value), "</div>\n"
            case "HtmlBlock":
                return f"<div{place}>", "</div>\n"
        return "", ""

    def _link(self, target: str) -> tuple[str, str]:
        address = self._resolve(target)
        if address is None:
            return "<span>", "</span>"
        outside = Html(' rel="noopener noreferrer" target="_blank"') if not address.startswith(("/", "#")) else None
        return html('<a href="{address}"{outside}>', address=address, outside=outside), "</a>"


def _target(value: Any) -> str:
    """Return the target of a link."""
    return str(value.get("dest_url", "")) if isinstance(value, dict) else ""


def heading_list(headings: Sequence[Heading]) -> Html:
    """Return the headings as links into the rendered text."""
    items = [
        html(
            '<li class="l{level}"><a href="#md-{anchor}">{text}</a></li>',
            level=one.level,
            anchor=one.anchor,
            text=one.text,
        )
        for one in headings
    ]
    return html("<h2>Contents</h2><ul>{items}</ul>", items=items) if items else Html()
