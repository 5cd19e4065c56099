"""Scanning of HTML in one pass, without building a tree."""

import html
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

# Every alternative ends at a `<`, at a closing mark or at the end of the text, so no text is scanned twice.
_INVISIBLE = r"<!--(?s:.*?)(?:-->|\Z)|<(?P<raw>script|style|template|noscript)\b(?s:.*?)(?:</(?P=raw)\s*>|\Z)"
_INVISIBLE_PART = re.compile(_INVISIBLE, re.IGNORECASE)
_TOKEN = re.compile(rf"{_INVISIBLE}|<a\s(?P<attributes>[^<>]*)>|(?P<close></a\s*>)|</?[a-z][^<>]*>", re.IGNORECASE)
_ANCHOR = re.compile(r"<a\s([^<>]*)>", re.IGNORECASE)
_HREF = re.compile(r"""(?:^|[\s"'])href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)


class HtmlToken(NamedTuple):
    """A piece of HTML: an opening `<a>` tag (with its address), a closing one, or text."""

    kind: Literal["open", "close", "text"]
    value: str
    at: int


def scan_tokens(markup: str) -> Iterator[HtmlToken]:
    """Return the `<a>` tags and the text of HTML, without comments, scripts, styles and other tags."""
    end = 0
    for match in _TOKEN.finditer(markup):
        if match.start() > end:
            yield HtmlToken("text", html.unescape(markup[end : match.start()]), end)
        if match["attributes"] is not None:
            yield HtmlToken("open", _read_href(match["attributes"]), match.start())
        elif match["close"]:
            yield HtmlToken("close", "", match.start())
        end = match.end()
    if end < len(markup):
        yield HtmlToken("text", html.unescape(markup[end:]), end)


def find_hrefs(markup: str) -> Iterator[str]:
    """Return the addresses of all `<a>` tags, also of those in comments and scripts."""
    return (_read_href(attributes) for attributes in _ANCHOR.findall(markup))


def remove_invisible(markup: str) -> str:
    """Remove comments, scripts and styles from HTML."""
    return _INVISIBLE_PART.sub("", markup)


def extract_text(markup: str) -> str:
    """Return the text of HTML, each run of text on a line of its own."""
    words = (token.value.strip() for token in scan_tokens(markup) if token.kind == "text")
    return "\n".join(filter(None, words))


def _read_href(attributes: str) -> str:
    match = _HREF.search(attributes)
    return html.unescape(next(filter(None, match.groups()), "")) if match else ""
