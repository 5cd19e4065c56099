"""Scanning of HTML in one pass, without building a tree."""

import html
import re
from collections.abc import Iterator

# Every alternative ends at a `<`, at a closing mark or at the end of the text, so no text is scanned twice.
INVISIBLE = r"<!--(?s:.*?)(?:-->|\Z)|<(?P<raw>script|style|template|noscript)\b(?s:.*?)(?:</(?P=raw)\s*>|\Z)"
"""The pattern of comments and of elements whose text a browser does not show."""
_INVISIBLE_PART = re.compile(INVISIBLE, re.IGNORECASE)
_TOKEN = re.compile(rf"{INVISIBLE}|<a\s(?P<attributes>[^<>]*)>|(?P<close></a\s*>)|</?[a-z][^<>]*>", re.IGNORECASE)
_ANCHOR = re.compile(r"<a\s([^<>]*)>", re.IGNORECASE)
_VALUE = r"""\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"""


def scan_tokens(markup: str) -> Iterator[tuple[str, str, int]]:
    """Return the `<a>` tags and the text of HTML, without comments, scripts, styles and other tags.

    Each is `open` with the address of the tag, `close`, or `text` with the text, and its offset.
    """
    end = 0
    for match in _TOKEN.finditer(markup):
        if match.start() > end:
            yield "text", html.unescape(markup[end : match.start()]), end
        if match["attributes"] is not None:
            yield "open", read_attribute(match["attributes"], "href"), match.start()
        elif match["close"]:
            yield "close", "", match.start()
        end = match.end()
    if end < len(markup):
        yield "text", html.unescape(markup[end:]), end


def find_hrefs(markup: str) -> Iterator[str]:
    """Return the addresses of all `<a>` tags, also of those in comments and scripts."""
    return (read_attribute(attributes, "href") for attributes in _ANCHOR.findall(markup))


def remove_invisible(markup: str) -> str:
    """Remove comments, scripts and styles from HTML."""
    return _INVISIBLE_PART.sub("", markup)


def extract_text(markup: str) -> str:
    """Return the text of HTML, each run of text on a line of its own."""
    words = (text.strip() for kind, text, _ in scan_tokens(markup) if kind == "text")
    return "\n".join(filter(None, words))


def read_attribute(attributes: str, name: str) -> str:
    """Return the value of an attribute of a tag; empty if it has none."""
    match = re.search(rf"""(?:^|[\s"']){name}{_VALUE}""", attributes, re.IGNORECASE)
    return html.unescape(next(filter(None, match.groups()), "")) if match else ""
