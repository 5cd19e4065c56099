"""Places in a Markdown text that a link can lead to: headings and anchors, in Markdown and in HTML."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from dowse.reading.html_scan import Token, read_attribute, scan_tokens
from dowse.reading.markdown_events import MarkdownVisitor
from dowse.text.line_numbers import split_lines
from dowse.text.markup_lines import MARKUP_LANGUAGES, find_markup_headings

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
    finder.visit(markdown)
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


class _AnchorFinder(MarkdownVisitor):
    """Collects the anchors of a text."""

    def __init__(self, source: bytes) -> None:
        super().__init__()
        self.anchors: list[Anchor] = []
        self._source = source
        self._depth = 0
        self._open: Anchor | None = None
        """The heading that is open."""
        self._has_attributes = False

    def start(self, name: str, details: Any, start: int, end: int) -> None:
        if name == "Heading":
            attributes = _heading_attributes(self._source[start:end].decode("utf-8", "ignore"))
            given = next((word[1:] for word in attributes.split() if word.startswith("#")), "")
            self._begin(Anchor(start, end, given, int(details["level"].removeprefix("H"))))
            self._has_attributes = bool(attributes)
        elif name == "CodeBlock":
            self._open = None
        elif name in _NESTING_TAGS:
            self._depth += 1

    def end(self, name: str, end: int) -> None:
        if name == "Heading":
            self._finish(end)
        elif name in _NESTING_TAGS:
            self._depth -= 1

    def add_words(self, words: str) -> None:
        if self._open:
            super().add_words(words)

    def visit_html(self, markup: str, offset_of: Callable[[int], int]) -> None:
        for token in scan_tokens(markup):
            level = _HTML_HEADING.match(token.value)
            if token.kind == "text":
                self.add_words(token.value)
            elif token.kind == "close":
                if level:
                    if sum(map(len, self.words)) <= _MAX_HEADING_CHARS:
                        self._finish(offset_of(token.start) + len(token.value) + len("</>"))
                    self._open = None
            else:
                self._start_tag(token, level, offset_of(token.start))

    def _start_tag(self, tag: Token, level: re.Match[str] | None, at: int) -> None:
        tag_id = read_attribute(tag.attributes, "id").strip()
        if not tag_id and tag.value == "a":
            tag_id = read_attribute(tag.attributes, "name").strip()
        end = at + len(f"<{tag.value}{tag.attributes}>".encode())
        if level:
            self._begin(Anchor(at, end, tag_id, int(level[1])))
        elif tag_id:
            self.anchors.append(Anchor(at, end, tag_id, is_nested=self._depth > 0))
        elif tag.value == "br":
            self.add_words(" ")

    def _begin(self, heading: Anchor) -> None:
        self._open, self._has_attributes = heading, False
        self.clear_words()

    def _finish(self, end: int) -> None:
        heading, self._open = self._open, None
        if heading is None:
            return
        text = "".join(self.words)
        if self._has_attributes:
            text = text.rpartition("{")[0].rstrip()
        if not text.strip():
            text = "".join(self.image_words)
        self.anchors.append(Anchor(heading.start, end, heading.id, heading.level, text, self._depth > 0))


def _heading_attributes(heading: str) -> str:
    """Return the attributes at the end of a heading, before its closing `#` signs or its underline."""
    text = heading.strip()
    underline = max(text.rfind("\n"), text.rfind("\r"), 0)
    text = (text.rstrip("#") if text.startswith("#") else text[:underline]).rstrip()
    at = text.rfind("{")
    match = _ATTRIBUTE_LIST.fullmatch(text, at) if at >= 0 else None
    return match["attributes"] if match else ""
