"""Links of a Markdown text that a reader can follow, with their line numbers."""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any

from dowse.reading.html_scan import scan_tokens
from dowse.reading.markdown_events import is_inline, parse_markdown
from dowse.text.line_numbers import line_number_at, line_starts
from dowse.types import Link

_BARE = re.compile(
    r"(?<![\w@/.:-])(?:(?:https?|ftp)://|www\.(?=\w))[^\s<>\"`\\\[\]|^{}、。，；：！？）】」』》”’]{1,2000}",
    re.IGNORECASE,
)
_TRAILING = "?!.,:;*_~'…"


def find_bare_urls(text: str) -> Iterator[re.Match[str]]:
    """Return matches of the URLs in a text; pass each to `trim_url` to remove trailing punctuation."""
    return _BARE.finditer(text) if "://" in text or "www." in text else iter(())


def trim_url(url: str) -> str:
    """Return a URL without the punctuation of the sentence around it; empty if nothing is left."""
    while url and (url[-1] in _TRAILING or (url[-1] == ")" and url.count(")") > url.count("("))):
        url = url[:-1]
    host = url.partition("://")[2] if "://" in url else url.partition(".")[2]
    return url if any(letter.isalnum() for letter in host) else ""


_NOT_FOLLOWED = re.compile(r"\s*(?:#|$|(?:mailto|tel|sms|javascript|vbscript|data|about):)", re.IGNORECASE)
_WIKI = re.compile(
    rb"(?<![\\!\[])\[\[(?!\^|_?TOC_?\]\])(?P<page>(?:[^\[\]|\\\r\n`]|\\[^|\[\]\r\n])+)"
    rb"(?:\\?\|(?P<alias>(?:[^\[\]\r\n`]|`[^`\r\n]*`)*))?\]\]"
)
"""`[[Page]]`, `[[Page|alias]]`, in a table `[[Page\\|alias]]`; neither `[[^1]]`, a note, nor `[[_TOC_]]`, a command."""
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_BROKEN_BY_EMPHASIS = re.compile(rb"[*_~][^\s<>\"`\\\[\]|^{}]{1,2000}")


def find_links(text: str, start: int = 0) -> tuple[Link, ...]:
    """Return the links of a Markdown text from a character on; line numbers are those of the whole text.

    Images, anchors within the page, mail addresses and text in code are not links. Targets are as
    written. The target of a wiki link keeps its brackets, since `[[Page]]` is resolved differently from `Page`.
    """
    collector = _LinkCollector(text, start)
    for event, span in parse_markdown(text[start:]):
        collector.handle(event, span["start"], span["end"])
    return tuple(collector.links)


class _LinkCollector:
    """Handles Markdown events and collects the links among them."""

    def __init__(self, text: str, start: int) -> None:
        self.links: list[Link] = []
        self._before = text[:start].encode("utf-8")
        self._source = text[start:].encode("utf-8")
        self._target: str | None = None
        self._line = 0
        self._words: list[str] = []
        self._html: list[tuple[str, int]] = []
        self._is_in_code = False
        self._image_depth = 0
        self._wiki_end = 0

    def handle(self, event: Any, start: int, end: int) -> None:
        """Handle the next event, which stands between two byte offsets."""
        if isinstance(event, str):
            self._words.append(" ")
            return
        ((kind, value),) = event.items()
        if kind == "Text":
            self._handle_text(value, start, end)
        elif kind == "Start":
            self._start(value, start)
        elif kind == "End":
            self._end(value)
        elif kind == "Code":
            self._words.append(value)
        elif kind == "Html":
            self._html.append((value, start))
        elif kind == "InlineHtml":
            self._handle_html([(value, start)])

    def _start(self, tag: Any, at: int) -> None:
        if "Link" in tag and not self._image_depth:
            link = tag["Link"]
            self._open("" if link["link_type"] == "Email" else link["dest_url"], at)
        elif "Image" in tag:
            self._image_depth += 1
        elif "CodeBlock" in tag:
            self._is_in_code = True

    def _end(self, tag: Any) -> None:
        if tag == "Image":
            self._image_depth -= 1
        elif tag == "CodeBlock":
            self._is_in_code = False
        elif tag == "HtmlBlock":
            self._handle_html(self._html)
            self._html.clear()
        if self._target is not None and (tag == "Link" or not is_inline(tag)):
            self._close()

    def _handle_text(self, text: str, start: int, end: int) -> None:
        if self._target is not None:
            self._words.append(text)
        elif not self._is_in_code and not self._image_depth:
            # The name of a page may look like emphasis; the text after it then comes as a separate event.
            if "[[" in text or start < self._wiki_end:
                start = self._add_wiki_links(max(start, self._wiki_end), end)
                text = _unescape(self._source[start:end])
            self._add_bare_urls(text, start, end)

    def _add_wiki_links(self, start: int, end: int) -> int:
        """Add the wiki links that begin in a piece of text and the URLs before each; return where the last one ends.

        This reads the source, since only there escaped brackets differ from others.
        """
        at = self._source.find(b"[[", start, end)
        while at >= 0:
            if match := _WIKI.match(self._source, at):
                self._add_bare_urls(_unescape(self._source[start:at]), start, at)
                start = self._wiki_end = match.end()
                page = _unescape(match["page"]).strip()
                if not _NOT_FOLLOWED.match(page):
                    self._add(f"[[{page}]]", _unescape(match["alias"] or b"") or page, self._line_at(at))
            at = self._source.find(b"[[", max(at + 1, start), end)
        return start

    def _add_bare_urls(self, text: str, start: int, end: int) -> None:
        for match in find_bare_urls(text):
            url = match[0]
            if match.end() == len(text) and (rest := _BROKEN_BY_EMPHASIS.match(self._source, end)):
                url += rest[0].decode("utf-8", "ignore")
            if url := trim_url(url):
                target = url if "://" in url else f"http://{url}"
                self._add(target, url, self._line_at(start))

    def _handle_html(self, pieces: list[tuple[str, int]]) -> None:
        """Find `<a>` tags in lines of HTML, each given with its byte offset in the source."""
        ends = list(accumulate(len(markup) for markup, _ in pieces))
        for kind, value, at in scan_tokens("".join(markup for markup, _ in pieces)):
            if kind == "open":
                self._open(value, pieces[bisect_right(ends, at)][1])
            elif kind == "close":
                self._close()
            else:
                self._words.append(value)

    def _open(self, target: str, at: int) -> None:
        self._close()
        self._target = target
        self._line = self._line_at(at)
        self._words.clear()

    def _close(self) -> None:
        if self._target is not None:
            self._add(self._target, "".join(self._words), self._line)
        self._target = None

    def _add(self, target: str, text: str, line: int) -> None:
        if not _NOT_FOLLOWED.match(target):
            self.links.append(Link(target.strip(), " ".join(text.split()), line))

    def _line_at(self, at: int) -> int:
        return line_number_at(self._starts, len(self._before) + at)

    @cached_property
    def _starts(self) -> list[int]:
        return line_starts(self._before + self._source)


def _unescape(source: bytes) -> str:
    """Return a piece of the source as text, with escapes and entities resolved."""
    return _ESCAPED.sub(r"\1", html.unescape(source.decode("utf-8", "ignore")))
