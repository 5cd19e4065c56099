"""Scanning of HTML in one pass, without building a tree."""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

# Every alternative ends at a `<`, at a closing mark or at the end of the text, so no text is scanned twice.
INVISIBLE = r"<!--(?s:.*?)(?:-->|\Z)|<(?P<raw>script|style|template|noscript)\b(?s:.*?)(?:</(?P=raw)\s*>|\Z)"
"""The pattern of comments and of elements whose text a browser does not show."""
_INVISIBLE_PART = re.compile(INVISIBLE, re.IGNORECASE)
_TOKEN = re.compile(rf"{INVISIBLE}|<(?P<close>/?)(?P<name>[a-z][a-z0-9-]*+)(?P<attributes>[^<>]*+)>", re.IGNORECASE)
_ANCHOR = re.compile(r"<a\s([^<>]*)>", re.IGNORECASE)
_VALUE = r"""\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"""


class Token(NamedTuple):
    """A tag of HTML, or the text between two tags."""

    kind: str
    """`open`, `close` or `text`."""
    value: str
    """The name of the tag in lower case, or the text."""
    start: int
    end: int
    attributes: str = ""


def scan_tokens(markup: str) -> Iterator[Token]:
    """Return the tags and the text of HTML, without comments, scripts and styles."""
    end = 0
    for match in _TOKEN.finditer(markup):
        if match.start() > end:
            yield Token("text", html.unescape(markup[end : match.start()]), end, match.start())
        end = match.end()
        if name := match["name"]:
            yield Token("close" if match["close"] else "open", name.lower(), match.start(), end, match["attributes"])
    if end < len(markup):
        yield Token("text", html.unescape(markup[end:]), end, len(markup))


def find_hrefs(markup: str) -> Iterator[str]:
    """Return the addresses of all `<a>` tags, also of those in comments and scripts."""
    return (read_attribute(attributes, "href") for attributes in _ANCHOR.findall(markup))


def remove_invisible(markup: str) -> str:
    """Remove comments, scripts and styles from HTML."""
    return _INVISIBLE_PART.sub("", markup)


def extract_text(markup: str) -> str:
    """Return the text of HTML, each run of text on a line of its own."""
    words = (token.value.strip() for token in scan_tokens(markup) if token.kind == "text")
    return "\n".join(filter(None, words))


def read_attribute(attributes: str, name: str) -> str:
    """Return the value of an attribute of a tag; empty if it has none."""
    match = re.search(rf"""(?:^|[\s"']){name}{_VALUE}""", attributes, re.IGNORECASE)
    return html.unescape(next(filter(None, match.groups()), "")) if match else ""
