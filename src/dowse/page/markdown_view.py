"""Markdown as HTML: the parser processes take the text apart, and every tag is written here."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from dowse.page.markup import Html, html, link, render, tag
from dowse.page.page_texts import ParsedMarkdown, paint
from dowse.reading.markdown_events import is_inline, named
from dowse.reading.outlines import Heading

MAX_RENDERED_CHARACTERS = 400_000
"""A longer text is shown as it is: a megabyte of Markdown has a million events."""

Resolve = Callable[[str], str | None]
"""Returns the address that a link leads to; None for a link that leads nowhere a page may lead."""
FindMarks = Callable[[str], Sequence[tuple[int, int]]]
"""Returns the places of a text that match a query."""

_TAGS = {
    "Paragraph": "p", "BlockQuote": "blockquote", "Item": "li", "TableRow": "tr", "Emphasis": "em", "Strong": "strong",
    "Strikethrough": "s", "Subscript": "sub", "Superscript": "sup", "DefinitionList": "dl",
    "DefinitionListTitle": "dt", "DefinitionListDefinition": "dd",
}  # fmt: skip
"""Tags without attributes."""
_BREAKS = {"SoftBreak": "\n", "HardBreak": "<br>", "Rule": "<hr>"}
_HTML_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)|<(/?[a-z][a-z0-9]*)\b([^<>]*)>|<[^<>]*>",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"\b(src|alt)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_BLOCKS = {"Paragraph", "Heading", "CodeBlock", "Item", "Table", "BlockQuote", "HtmlBlock"}


def write_markdown(
    parsed: ParsedMarkdown,
    resolve: Resolve,
    picture: Resolve = lambda _: None,
    marks: FindMarks = lambda _: (),
    *,
    has_anchors: bool = False,
) -> Html:
    """Return a text as HTML: `picture` returns the address of a picture, `marks` what is marked; headings may have anchors."""
    writer = _Writer(parsed, resolve, picture, marks, has_anchors=has_anchors)
    for event, line in parsed.events:
        writer.write(event, line)
    return Html("".join(writer.pieces))


class _Writer:
    """Writes the tags of events. Text between tags is escaped; HTML in the text is shown without its tags."""

    def __init__(
        self, parsed: ParsedMarkdown, resolve: Resolve, picture: Resolve, marks: FindMarks, *, has_anchors: bool
    ) -> None:
        self.pieces: list[str] = []
        self._resolve, self._picture_address, self._marks = resolve, picture, marks
        self._colours = iter(parsed.colours)
        self._anchors = {one.line: one.anchor for one in parsed.headings} if has_anchors else {}
        self._open: list[str] = []
        """The end tags of what is open."""
        self._cell = "td"
        self._collected: list[str] | None = None
        """The pieces of a block of HTML, of a block of code or of the words for a picture that is open."""
        self._collects = ""
        self._picture = ""

    def write(self, event: Any, line: int) -> None:
        name, value = named(event)
        match name:
            case "Start":
                self._start(value, line)
            case "End":
                self._end(named(value)[0])
            case "Text" | "InlineMath" | "DisplayMath":
                self._text(str(value))
            case "Code":
                self._put("<code>")
                self._text(str(value))
                self._put("</code>")
            case "Html" | "InlineHtml":
                if self._collects == "HtmlBlock" and self._collected is not None:
                    self._collected.append(str(value))
                else:
                    self._put(self._without_tags(str(value)))
            case "FootnoteReference":
                self._put(html("<sup>[{name}]</sup>", name=value))
            case "TaskListMarker":
                self._put("☑ " if value else "☐ ")
            case _:
                self._put(_BREAKS.get(name, ""))

    def _put(self, piece: str) -> None:
        if self._collected is None:
            self.pieces.append(piece)

    def _text(self, text: str) -> None:
        if self._collected is None:
            self.pieces.append(paint(text, (), self._marks(text)))
        else:
            self._collected.append(text)

    def _start(self, tag: Any, line: int) -> None:
        name, value = named(tag)
        if name == "Image":
            self._picture = _target(value)
        else:
            if name in ("TableHead", "TableRow"):
                self._cell = "th" if name == "TableHead" else "td"
            start, end = self._tag(name, value, line, f' data-line="{line}"' if line and name in _BLOCKS else "")
            self._put(start)
            self._open.append(end)
        if name in ("Image", "CodeBlock", "HtmlBlock"):
            self._collects, self._collected = name, []

    def _end(self, name: str) -> None:
        if name == self._collects and self._collected is not None:
            text, self._collected = "".join(self._collected), None
            if name == "Image":
                self._put(self._image(self._picture, text))
            elif name == "CodeBlock":
                self._put(paint(text, next(self._colours, ()), self._marks(text)))
            else:
                self._put(self._without_tags(text))
        if name != "Image" and self._open:
            self._put(self._open.pop())

    def _without_tags(self, text: str) -> Html:
        """Return the text and the pictures of some HTML."""
        pieces, at = [], 0
        for found in _HTML_TAG.finditer(text):
            pieces.append(render(text[at : found.start()]))
            at = found.end()
            if (found[2] or "").lower() == "img":
                given = {name.lower(): one or two or three for name, one, two, three in _ATTRIBUTE.findall(found[3])}
                pieces.append(self._image(given.get("src", ""), given.get("alt", "")))
            elif (found[2] or "").lower() == "br":
                pieces.append(Html("<br>"))
        return Html("".join((*pieces, render(text[at:]))))

    def _image(self, target: str, words: str) -> Html:
        if address := self._picture_address(target):
            return html('<img src="{address}" alt="{words}" loading="lazy">', address=address, words=words)
        return html('<span class="image">{words}</span>', words=words) if words.strip() else Html()

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
                return f'<div class="table" tabindex="0"{place}><table>', "</table></div>\n"
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
    """Return the target of a link or picture."""
    return str(value.get("dest_url", "")) if isinstance(value, dict) else ""


def heading_list(headings: Sequence[Heading]) -> Html:
    """Return the headings as links into the rendered text."""
    rows = [
        tag("li", link(f"#md-{one.anchor}", one.text, data_line=one.line), class_=f"l{one.level}") for one in headings
    ]
    return html('<h2>Contents</h2><ul class="outline">{rows}</ul>', rows=rows) if rows else Html()
