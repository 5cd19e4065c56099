"""Readers of Markdown and plain text: title, description, tags and links."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

from dowse.reading.decoding import decode
from dowse.reading.front_matter import FrontMatter, read_front_matter
from dowse.reading.html_scan import extract_text, remove_invisible
from dowse.reading.links import find_links
from dowse.reading.markdown_events import MarkdownVisitor, is_inline
from dowse.reading.shorten import MAX_TITLE_CHARS, file_name, file_stem, shorten
from dowse.types import Reading

_HTML_HEADING = re.compile(r"<h1\b[^<>]*>(?P<text>(?s:(?!<h1).){0,2000}?)</h1", re.IGNORECASE)
_MODULE_LINE = re.compile(r"(?:import|export)\s.*(?:['\"]|=>|\{)")
"""A line of JavaScript, which MDX allows above the text."""
_TEMPLATE_CALL = re.compile(r"\{\{[^{}]*\}\}|\{%[^{}]*%\}")
"""Macros of site generators, such as `{{APIRef("DOM")}}` and `{% toc %}`; they are not text."""
_HEADING_ID = re.compile(r"(?<!\s)\s*\{[#.][^{}]*\}\s*$")

_BLOCKS = {"Paragraph": "paragraph", "Item": "item", "H1": "heading"}
_BLOCKS |= {f"H{level}": "subheading" for level in range(2, 7)}


class _LeadFinder(MarkdownVisitor):
    """Keeps the first text of each kind, without images and markup."""

    def __init__(self, matter: FrontMatter) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        """The first H1 (`heading`), other heading, paragraph and list item that have text."""
        self._matter = matter
        self._block: str | None = None

    def start(self, name: str, details: Any, start: int, end: int) -> None:  # noqa: ARG002 - the place does not matter
        if not is_inline(name):
            self._keep()
            self._block = _BLOCKS.get(details["level"] if name == "Heading" else name)
            self.clear_words()

    def end(self, name: str, end: int) -> None:  # noqa: ARG002 - as above
        if not is_inline(name):
            self._keep()
            self._block = None

    def visit_html(self, markup: str, offset_of: Callable[[int], int]) -> None:  # noqa: ARG002 - as above
        if markup.startswith("<br"):
            self.add_words(" ")
        elif match := _HTML_HEADING.search(remove_invisible(markup)):
            self._note("heading", extract_text(match["text"]))

    def _keep(self) -> None:
        """Keep the block that ends here if it is the first of its kind with any text."""
        block, text = self._block, "".join(self.words).strip()
        if block in ("heading", "subheading"):
            text = _HEADING_ID.sub("", text) or "".join(self.image_words)
        elif _MODULE_LINE.match(text) or not _TEMPLATE_CALL.sub("", text).strip():
            text = ""
        if block:
            self._note(block, text)

    def _note(self, block: str, text: str) -> None:
        if text:
            self.found.setdefault(block, text)
        has_title = self._matter.title or "heading" in self.found
        self.is_done = bool(has_title and (self._matter.description or "paragraph" in self.found))


_HEAD_CHARS = 100_000
"""The part of a converted document that is searched for a title and a description."""


def read_markdown(data: bytes, path: str) -> Reading:
    """Read title, description, tags and links of Markdown; the text stays as it is."""
    decoded = decode(data)
    return _build_reading(decoded, path, read_front_matter(decoded.text))


def read_converted(text: str, path: str, encoding: str = "utf-8", metadata: FrontMatter | None = None) -> Reading:
    """Read a document that was converted to Markdown; `metadata` is its metadata and takes precedence over its text.

    Its headings may begin at any level, so without an H1 the first heading is the title.
    """
    storable = text.encode("utf-8", "replace").decode("utf-8")  # JSON, for example, can contain lone surrogates
    return _build_reading(
        Reading(storable, "", encoding=encoding, is_verbatim=False), path, metadata or FrontMatter(), is_converted=True
    )


def _build_reading(decoded: Reading, path: str, matter: FrontMatter, *, is_converted: bool = False) -> Reading:
    body = decoded.text[matter.end : matter.end + _HEAD_CHARS if is_converted else None]
    finder = _LeadFinder(matter)
    finder.visit(body)
    lead = finder.found
    title = matter.title or lead.get("heading") or (lead.get("subheading", "") if is_converted else "")
    return replace(
        decoded,
        title=shorten(title, MAX_TITLE_CHARS) or file_stem(path),
        description=shorten(matter.description or lead.get("paragraph") or lead.get("item", "")),
        tags=matter.tags,
        links=find_links(decoded.text, matter.end),
    )


_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_RULE = re.compile(r"\s*([=\-~^#*+_.:\"'`])\1{2,}\s*$")
_PLAIN_HEAD_CHARS = 64 * 1024
_TITLE_PATTERNS = {
    "rst": re.compile(r"^(?P<title>[^\s.=~^#*+-].*)\n([=\-~^#*+_])\2{2,}[ \t]*$", re.MULTILINE),
    "asciidoc": re.compile(r"^=[ \t]+(?P<title>.+)", re.MULTILINE),
    "org": re.compile(r"^(?:#\+TITLE:|\*)[ \t]+(?P<title>.+)", re.MULTILINE | re.IGNORECASE),
}


def read_plain(data: bytes, path: str) -> Reading:
    """Read plain text: the first line is the title, the next three are the description."""
    decoded = decode(data)
    # A line of signs above or below a heading is a decoration, not the heading.
    lines = (match[1] for match in _LINE.finditer(decoded.text[:_PLAIN_HEAD_CHARS]) if not _RULE.match(match[1]))
    title, *following = islice(lines, 4)
    return replace(decoded, title=shorten(title) or file_name(path), description=shorten(" ".join(following)))


def read_prose(data: bytes, path: str, language: str) -> Reading:
    """Read a text in another markup language: its heading is the title, else the file name."""
    decoded = decode(data)
    pattern = _TITLE_PATTERNS.get(language)
    match = pattern.search("\n".join(decoded.text[:_PLAIN_HEAD_CHARS].splitlines())) if pattern else None
    return replace(decoded, title=shorten(match["title"] if match else "") or file_name(path))
