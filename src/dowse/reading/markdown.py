"""Readers of Markdown and plain text: title, description, tags and links."""

import re
from itertools import islice
from typing import Any

from dowse.reading.decoding import Decoded
from dowse.reading.front_matter import FrontMatter, read_front_matter
from dowse.reading.html_scan import extract_text, remove_invisible
from dowse.reading.links import find_links
from dowse.reading.markdown_events import is_inline, parse_markdown
from dowse.reading.shorten import MAX_TITLE_CHARS, file_name, file_stem, shorten
from dowse.types import Reading

_HTML_HEADING = re.compile(r"<h1\b[^<>]*>(?P<text>(?s:(?!<h1).){0,2000}?)</h1", re.IGNORECASE)
_MODULE_LINE = re.compile(r"(?:import|export)\s.*(?:['\"]|=>|\{)")
"""A line of JavaScript, which MDX allows above the text."""
_TEMPLATE_CALL = re.compile(r"\{\{[^{}]*\}\}|\{%[^{}]*%\}")
"""Macros of site generators, such as `{{APIRef("DOM")}}` and `{% toc %}`; they are not text."""
_HEADING_ID = re.compile(r"(?<!\s)\s*\{[#.][^{}]*\}\s*$")

_BLOCKS = {"Paragraph": "paragraph", "Item": "item", "H1": "heading", "HtmlBlock": "html"}
_BLOCKS |= {f"H{level}": "subheading" for level in range(2, 7)}


class _LeadFinder:
    """Handles Markdown events and keeps the first text of each kind, without images and markup."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        """The first H1 (`heading`), other heading, paragraph and list item that have text."""
        self._block: str | None = None
        self._words: list[str] = []
        self._images: list[str] = []
        self._image_depth = 0

    def handle(self, event: Any) -> None:
        """Handle the next event."""
        if isinstance(event, str):
            self._words.append(" ")
            return
        ((kind, value),) = event.items()
        if kind == "Start":
            self._start(value)
        elif kind == "End":
            self._end(value)
        elif kind in {"Text", "Code", "Html"}:
            (self._images if self._image_depth else self._words).append(value)
        elif kind == "InlineHtml" and value.startswith("<br"):
            self._words.append(" ")

    def _start(self, tag: Any) -> None:
        if "Image" in tag:
            self._image_depth += 1
        elif not is_inline(tag):
            self._keep()
            self._block = _BLOCKS.get(tag["Heading"]["level"] if "Heading" in tag else str(tag))
            self._words.clear()
            self._images.clear()

    def _end(self, tag: Any) -> None:
        if tag == "Image":
            self._image_depth -= 1
        elif not is_inline(tag):
            self._keep()
            self._block = None

    def _keep(self) -> None:
        """Keep the block that ends here if it is the first of its kind with any text."""
        block, text = self._block, "".join(self._words).strip()
        if block == "html":
            match = _HTML_HEADING.search(remove_invisible(text))
            block, text = "heading", (extract_text(match["text"]) if match else "")
        elif block in ("heading", "subheading"):
            text = _HEADING_ID.sub("", text) or "".join(self._images)
        elif _MODULE_LINE.match(text) or not _TEMPLATE_CALL.sub("", text).strip():
            text = ""
        if block and text:
            self.found.setdefault(block, text)


_HEAD_CHARS = 100_000
"""The part of a converted document that is searched for a title and a description."""


def read_markdown(decoded: Decoded, path: str) -> Reading:
    """Read title, description, tags and links of Markdown; the text stays as it is."""
    return _build_reading(decoded, path, read_front_matter(decoded.text))


def read_converted(text: str, path: str, encoding: str = "utf-8", metadata: FrontMatter | None = None) -> Reading:
    """Read a document that was converted to Markdown; `metadata` is its metadata and takes precedence over its text.

    Its headings may begin at any level, so without an H1 the first heading is the title.
    """
    storable = text.encode("utf-8", "replace").decode("utf-8")  # JSON, for example, can contain lone surrogates
    return _build_reading(Decoded(storable, encoding), path, metadata or FrontMatter(), is_converted=True)


def _build_reading(decoded: Decoded, path: str, matter: FrontMatter, *, is_converted: bool = False) -> Reading:
    body = decoded.text[matter.end : matter.end + _HEAD_CHARS if is_converted else None]
    lead = _find_lead(body, matter)
    title = matter.title or lead.get("heading") or (lead.get("subheading", "") if is_converted else "")
    return decoded.to_reading(
        shorten(title, MAX_TITLE_CHARS) or file_stem(path),
        shorten(matter.description or lead.get("paragraph") or lead.get("item", "")),
        matter.tags,
        find_links(decoded.text, matter.end),
    )


def _find_lead(body: str, matter: FrontMatter) -> dict[str, str]:
    """Read until every field that the front matter does not give is found."""
    lead = _LeadFinder()
    for event, _ in parse_markdown(body):
        lead.handle(event)
        if (matter.title or "heading" in lead.found) and (matter.description or "paragraph" in lead.found):
            break
    return lead.found


_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_RULE = re.compile(r"\s*([=\-~^#*+_.:\"'`])\1{2,}\s*$")
_PLAIN_HEAD_CHARS = 64 * 1024
_TITLE_PATTERNS = {
    "rst": re.compile(r"^(?P<title>[^\s.=~^#*+-].*)\n([=\-~^#*+_])\2{2,}[ \t]*$", re.MULTILINE),
    "asciidoc": re.compile(r"^=[ \t]+(?P<title>.+)", re.MULTILINE),
    "org": re.compile(r"^(?:#\+TITLE:|\*)[ \t]+(?P<title>.+)", re.MULTILINE | re.IGNORECASE),
}


def read_plain(decoded: Decoded, path: str) -> Reading:
    """Read plain text: the first line is the title, the next three are the description."""
    # A line of signs above or below a heading is a decoration, not the heading.
    lines = (match[1] for match in _LINE.finditer(decoded.text[:_PLAIN_HEAD_CHARS]) if not _RULE.match(match[1]))
    title, *following = islice(lines, 4)
    return decoded.to_reading(shorten(title) or file_name(path), shorten(" ".join(following)))


def read_prose(decoded: Decoded, path: str, language: str) -> Reading:
    """Read a text in another markup language: its heading is the title, else the file name."""
    pattern = _TITLE_PATTERNS.get(language)
    match = pattern.search("\n".join(decoded.text[:_PLAIN_HEAD_CHARS].splitlines())) if pattern else None
    return decoded.to_reading(shorten(match["title"] if match else "") or file_name(path))
