"""Links of a Markdown text that a reader can follow, with their line numbers."""

import html
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from dowse.reading.html_scan import read_attribute, scan_tokens
from dowse.reading.markdown_events import MarkdownVisitor, is_inline
from dowse.text.line_numbers import line_number_at, line_starts
from dowse.types import Link

_BARE = re.compile(
    r"(?<![\w@/.:-])(?:(?:https?|ftp)://|www\.(?=\w))[^\s<>\"`\\\[\]|^{}、。，；：！？）】」』》”’]{1,2000}",
    re.IGNORECASE,
)
_TRAILING = "?!.,:;*_~'…"


def find_bare_urls(text: str, following: str = "") -> Iterator[tuple[int, str, str]]:
    """Yield the start, the address and the text of each URL in a text; `following` continues one at its end."""
    for match in _BARE.finditer(text) if "://" in text or "www." in text else ():
        if url := _trim_url(match[0] + (following if match.end() == len(text) else "")):
            yield match.start(), url if "://" in url else f"http://{url}", url


def _trim_url(url: str) -> str:
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
    collector.visit(text[start:])
    return tuple(collector.links)


class _LinkCollector(MarkdownVisitor):
    """Collects the links of a text."""

    def __init__(self, text: str, start: int) -> None:
        super().__init__()
        self.links: list[Link] = []
        self._before = text[:start].encode("utf-8")
        self._source = text[start:].encode("utf-8")
        self._target: str | None = None
        self._line = 0
        self._is_in_code = False
        self._wiki_end = 0

    def start(self, name: str, details: Any, start: int, end: int) -> None:  # noqa: ARG002 - a link is where it begins
        if name == "Link" and not self.image_depth:
            self._open("" if details["link_type"] == "Email" else details["dest_url"], start)
        elif name == "CodeBlock":
            self._is_in_code = True

    def end(self, name: str, end: int) -> None:  # noqa: ARG002 - as above
        if name == "CodeBlock":
            self._is_in_code = False
        if self._target is not None and (name == "Link" or not is_inline(name)):
            self._close()

    def add_words(self, words: str) -> None:
        if self._target is not None:  # the words for an image in a link are words of the link
            self.words.append(words)

    def visit_text(self, text: str, start: int, end: int) -> None:
        if self._target is not None:
            self.words.append(text)
        elif not self._is_in_code and not self.image_depth:
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
        rest = _BROKEN_BY_EMPHASIS.match(self._source, end)
        for _, target, url in find_bare_urls(text, rest[0].decode("utf-8", "ignore") if rest else ""):
            self._add(target, url, self._line_at(start))

    def visit_html(self, markup: str, offset_of: Callable[[int], int]) -> None:
        for token in scan_tokens(markup):
            if token.kind == "text":
                self.add_words(token.value)
            elif token.value == "a" and token.kind == "close":
                self._close()
            elif token.value == "a" and token.attributes:
                self._open(read_attribute(token.attributes, "href"), offset_of(token.start))

    def _open(self, target: str, at: int) -> None:
        self._close()
        self._target = target
        self._line = self._line_at(at)
        self.words.clear()

    def _close(self) -> None:
        if self._target is not None:
            self._add(self._target, "".join(self.words), self._line)
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
