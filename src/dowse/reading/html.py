"""Reader of HTML pages, which become Markdown with the title and description of the page."""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from dowse.reading.decoding import decode
from dowse.reading.html_markdown import convert_html
from dowse.reading.html_scan import find_hrefs, remove_invisible
from dowse.reading.links import find_links
from dowse.reading.shorten import MAX_TITLE_CHARS, file_stem, shorten
from dowse.types import Link, Reading

_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)\b[^>]{0,400}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE
)
_CHARSET_BYTES = 4096
_HEAD_CHARS = 64 * 1024
"""Title and description stand near the start of a page. Building the tree takes quadratic time for some
hostile pages (deep nesting, thousands of attributes): half a second for this many characters."""


def read_html(data: bytes, path: str) -> Reading:
    """Read a page as a person sees it: Markdown without scripts and styles. Line numbers refer to the Markdown."""
    decoded = decode(data, declared_charset(data))
    source = decoded.text
    page = _parse_page(remove_invisible(source)[:_HEAD_CHARS])
    text = convert_html(source)
    descriptions = (
        meta.attributes.get("content") or ""
        for meta in page.css("meta")
        if (meta.attributes.get("name") or "").strip().lower() == "description"
    )
    return Reading(
        text,
        shorten(_find_title(page), MAX_TITLE_CHARS) or file_stem(path),
        shorten(next(filter(str.strip, descriptions), "") or _first_text(page.css("p"))),
        links=_find_page_links(text, source),
        encoding=decoded.encoding,
        is_verbatim=False,
    )


def declared_charset(data: bytes) -> str | None:
    """Return the encoding that a page states; None if it states none."""
    match = _CHARSET.search(data, 0, _CHARSET_BYTES)
    return match[1].decode("ascii", "replace") if match else None


def _parse_page(source: str) -> Any:
    # Imported here because only documents need it.
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(source)
    for node in page.css('[hidden], [aria-hidden="true" i], [style*="display:none" i], [style*="display: none" i]'):
        node.decompose()
    return page


def _find_title(page: Any) -> str:
    titles = (node for node in page.css("title") if node.parent is None or node.parent.tag != "svg")
    return _first_text(titles) or _first_text(page.css("h1"))


def _first_text(nodes: Any) -> str:
    return next((text for node in nodes if (text := node.text().strip())), "")


def _find_page_links(text: str, source: str) -> tuple[Link, ...]:
    """Return the links of the page, found in its Markdown so that their line numbers are right."""
    source_hrefs = {_normalize_address(href): href.strip() for href in find_hrefs(source)}
    found = ((link, source_hrefs.get(_normalize_address(link.target))) for link in find_links(text))
    return tuple(replace(link, target=href) for link, href in found if href)


def _normalize_address(address: str) -> str:
    """Return an address in a form that is the same before and after the conversion, which escapes it."""
    return " ".join(unquote(address).split())
