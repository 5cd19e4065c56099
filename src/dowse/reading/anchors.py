"""Places in a Markdown text that a link can lead to: headings and anchors, in Markdown and in HTML."""

import html
import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from dowse.reading.html_scan import read_attribute
from dowse.reading.markdown_events import parse_markdown
from dowse.text.line_numbers import split_lines
from dowse.text.markup_lines import MARKUP_LANGUAGES, find_markup_headings

_TAG = re.compile(
    rb"<!--(?s:.*?)(?:-->|\Z)"
    rb"|<(?P<raw>script|style|template)\b(?s:.*?)(?:</(?P=raw)\s*>|\Z)"
    rb"|<(?P<close>/?)(?P<name>[a-z][a-z0-9-]*+)(?P<attributes>[^<>]*+)>",
    re.IGNORECASE,
)
_HTML_HEADING = re.compile(r"h([1-6])$")
_MAX_HEADING_CHARS = 2000
"""An HTML heading that is still open after this many characters is a mistake and is ignored."""
_ATTRIBUTE_LIST = re.compile(r"\{(?::|/\*)?[ \t]*(?P<attributes>[#.][^{}\r\n]*?)(?:\*/)?\}")
"""`{#id}`, `{: #id .class}` or, in MDX, `{/* #id */}` at the end of a heading."""
_MARKUP_TARGET = re.compile(r"\.\. _(?P<rst>[^:\n]+):\s*$|\[(?:\[|\#)(?P<asciidoc>[^\[\],.%\n]+)")
"""`.. _target:` in reStructuredText, `[[target]]` or `[#target]` in AsciiDoc."""
_NESTING_TAGS = frozenset({"BlockQuote", "List", "Item", "FootnoteDefinition", "Table"})


@dataclass(frozen=True, slots=True)
class Anchor:
    """A heading, or an explicit anchor (level 0); `start` and `end` are byte offsets in UTF-8."""

    start: int
    end: int
    id: str = ""
    """The id that the author gave it."""
    level: int = 0
    text: str = ""
    is_nested: bool = False
    """Whether it stands inside a quotation, a list or a table."""


def find_anchors(markdown: str, language: str = "markdown") -> list[Anchor]:
    """Return the headings and anchors of a text, in order; code, comments and scripts are ignored."""
    if language in MARKUP_LANGUAGES:
        return _markup_anchors(markdown, language)
    finder = _AnchorFinder(markdown.encode("utf-8"))
    for event, span in parse_markdown(markdown):
        finder.handle(event, span["start"], span["end"])
    return sorted(finder.anchors, key=lambda anchor: anchor.start)


def _markup_anchors(text: str, language: str) -> list[Anchor]:
    """Return the headings of reStructuredText or AsciiDoc, each with the target that stands above it."""
    lines = split_lines(text)
    starts = list(accumulate((len(line.encode("utf-8", "surrogatepass")) for line in lines), initial=0))
    found = []
    for line, length, level, title in find_markup_headings(lines, language):
        above = next((other for other in reversed(lines[max(0, line - 3) : line]) if other.strip()), "")
        target = _MARKUP_TARGET.match(above)
        name = (target["rst"] or target["asciidoc"]).strip("`") if target else ""
        found.append(Anchor(starts[line], starts[line + length], name, level, title))
    return found


class _AnchorFinder:
    """Handles Markdown events and collects the anchors among them."""

    def __init__(self, source: bytes) -> None:
        self.anchors: list[Anchor] = []
        self._source = source
        self._depth = 0
        self._image_depth = 0
        self._html: list[tuple[str, int]] = []
        self._open: Anchor | None = None
        """The heading that is open."""
        self._has_attributes = False
        self._words: list[str] = []
        self._images: list[str] = []

    def handle(self, event: Any, start: int, end: int) -> None:
        """Handle the next event, which stands between two byte offsets."""
        if isinstance(event, str):
            self._add(" ")
            return
        ((kind, value),) = event.items()
        if kind == "Start":
            self._start(value if isinstance(value, str) else next(iter(value)), value, start, end)
        elif kind == "End":
            self._end(value if isinstance(value, str) else next(iter(value)), end)
        elif kind in {"Text", "Code"}:
            self._add(value)
        elif kind == "Html":
            self._html.append((value, start))
        elif kind == "InlineHtml":
            self._handle_html([(value, start)])

    def _start(self, name: str, tag: Any, start: int, end: int) -> None:
        if name == "Heading":
            attributes = _heading_attributes(self._source[start:end].decode("utf-8", "ignore"))
            level = int(tag["Heading"]["level"].removeprefix("H"))
            given = next((word[1:] for word in attributes.split() if word.startswith("#")), "")
            self._begin(Anchor(start, end, given, level), has_attributes=bool(attributes))
        elif name == "CodeBlock":
            self._open = None
        elif name in _NESTING_TAGS:
            self._depth += 1
        elif name == "Image":
            self._image_depth += 1

    def _end(self, name: str, end: int) -> None:
        if name == "Heading":
            self._finish(end)
        elif name == "HtmlBlock":
            self._handle_html(self._html)
            self._html.clear()
        elif name in _NESTING_TAGS:
            self._depth -= 1
        elif name == "Image":
            self._image_depth -= 1

    def _add(self, text: str) -> None:
        if self._open:
            (self._images if self._image_depth else self._words).append(text)

    def _begin(self, heading: Anchor, *, has_attributes: bool = False) -> None:
        self._open = heading
        self._has_attributes = has_attributes
        self._words.clear()
        self._images.clear()

    def _finish(self, end: int) -> None:
        heading, self._open = self._open, None
        if heading is None:
            return
        text = "".join(self._words)
        if self._has_attributes:
            text = text.rpartition("{")[0].rstrip()
        if not text.strip():
            text = "".join(self._images)
        self.anchors.append(Anchor(heading.start, end, heading.id, heading.level, text, self._depth > 0))

    def _handle_html(self, pieces: list[tuple[str, int]]) -> None:
        """Find headings and anchors in lines of HTML, each given with its byte offset in the source."""
        lines = [line.encode("utf-8") for line, _ in pieces]
        markup, starts, done = b"".join(lines), list(accumulate(map(len, lines), initial=0)), 0
        for tag in _TAG.finditer(markup):
            self._add(html.unescape(markup[done : tag.start()].decode("utf-8")))
            done = tag.end()
            if tag["name"]:
                line = bisect_right(starts, tag.start()) - 1
                self._handle_tag(tag, pieces[line][1] + tag.start() - starts[line])
        self._add(html.unescape(markup[done:].decode("utf-8")))

    def _handle_tag(self, tag: re.Match[bytes], at: int) -> None:
        name, attributes = tag["name"].decode().lower(), tag["attributes"].decode("utf-8")
        level = _HTML_HEADING.match(name)
        end = at + len(tag[0])
        if tag["close"]:
            if level:
                if sum(map(len, self._words)) <= _MAX_HEADING_CHARS:
                    self._finish(end)
                self._open = None
                self._words.clear()
            return
        tag_id = read_attribute(attributes, "id").strip()
        if not tag_id and name == "a":
            tag_id = read_attribute(attributes, "name").strip()
        if level:
            self._begin(Anchor(at, end, tag_id, int(level[1])))
        elif tag_id:
            self.anchors.append(Anchor(at, end, tag_id, is_nested=self._depth > 0))
        elif name == "br":
            self._add(" ")


def _heading_attributes(heading: str) -> str:
    """Return the attributes at the end of a heading, before its closing `#` signs or its underline."""
    text = heading.strip()
    underline = max(text.rfind("\n"), text.rfind("\r"), 0)
    text = (text.rstrip("#") if text.startswith("#") else text[:underline]).rstrip()
    at = text.rfind("{")
    match = _ATTRIBUTE_LIST.fullmatch(text, at) if at >= 0 else None
    return match["attributes"] if match else ""
