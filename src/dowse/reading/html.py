"""Reader of HTML pages, which become Markdown with the title and description of the page."""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from dowse.reading.decoding import decode
from dowse.reading.html_scan import extract_text, find_hrefs, remove_invisible
from dowse.reading.links import find_links
from dowse.reading.shorten import MAX_TITLE_CHARS, file_stem, shorten
from dowse.types import Link, Reading

_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)\b[^>]{0,400}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE
)
_CHARSET_BYTES = 4096
_TAB_PANEL = re.compile(r"""<[a-z]+\s[^<>]{0,500}?\brole\s*=\s*["']?tabpanel\b[^<>]{0,500}>""", re.IGNORECASE)
_HIDING = re.compile(
    r"""\s(?:aria-)?hidden(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+))?|\sstyle\s*=\s*(?:"[^"]*"|'[^']*')""", re.IGNORECASE
)
_PERMALINK = re.compile(r"\\?\[\\?[¶§#🔗\u200b]?\\?\]\(#[^()\s]{0,300}(?:\s\"[^\"\n]{0,200}\")?\)")
"""The sign beside a heading that links to the heading."""
_ANGLE = re.compile(r"&(?:lt|LT|#0*60(?!\d)|#[xX]0*3[cC](?![0-9a-fA-F]));?(?![;\s=\d])")
_PIECE = re.compile(r"<!--(?s:.*?)-->|<(?P<end>/?)(?P<tag>[A-Za-z][\w-]*)[^<>]*>|[^<]+|<")
_CODE_TAGS = frozenset({"code", "kbd", "pre", "samp", "textarea", "tt", "xmp"})
_ANGLE_MARK = "\ue03c"
"""Replaces a `<` that is text during the conversion; a private-use character of Unicode."""
_HEAD_CHARS = 64 * 1024
"""Title and description stand near the start of a page. Building the tree takes quadratic time for some
hostile pages (deep nesting, thousands of attributes): half a second for this many characters."""


def read_html(data: bytes, path: str) -> Reading:
    """Read a page as a person sees it: Markdown without scripts and styles. Line numbers refer to the Markdown."""
    decoded = decode(data, _declared_charset(data))
    source = _unhide_tab_panels(decoded.text)
    page = _parse_page(remove_invisible(source)[:_HEAD_CHARS])
    text = _convert_page(source)
    return Reading(
        text,
        shorten(_find_title(page), MAX_TITLE_CHARS) or file_stem(path),
        shorten(_find_description(page)),
        links=_find_page_links(text, source),
        encoding=decoded.encoding,
        is_verbatim=False,
    )


def _unhide_tab_panels(source: str) -> str:
    """Return the page with all tab panels visible: a person can open the hidden ones."""
    return _TAB_PANEL.sub(lambda tag: _HIDING.sub("", tag[0]), source) if "tabpanel" in source else source


def _declared_charset(data: bytes) -> str | None:
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


def _find_description(page: Any) -> str:
    descriptions = (
        meta.attributes.get("content") or ""
        for meta in page.css("meta")
        if (meta.attributes.get("name") or "").strip().lower() == "description"
    )
    return next(filter(str.strip, descriptions), "") or _first_text(page.css("p"))


def _first_text(nodes: Any) -> str:
    return next((text for node in nodes if (text := node.text().strip())), "")


def _convert_page(source: str) -> str:
    # Imported here because it takes 50 ms, and only documents need it.
    from html_to_markdown import ConversionError, ConversionOptions, PreprocessingOptions, WarningKind, convert

    options = ConversionOptions(
        extract_metadata=False,  # otherwise it is added as front matter
        autolinks=False,
        hidden_content="drop",
        exclude_selectors=["[aria-hidden=true]"],
        inline_data_media="alt_text_only",
        preprocessing=PreprocessingOptions(enabled=False),  # otherwise navigation and forms are dropped
    )
    try:
        converted = convert(_mark_text_angles(source), options)
    except ConversionError:  # it refuses data that looks like an archive or a PDF
        return extract_text(source)
    if any(warning.kind == WarningKind.DEPTH_LIMIT_EXCEEDED for warning in converted.warnings):
        return extract_text(source)  # it drops elements nested deeper than 1,024; this keeps their words
    return _PERMALINK.sub("", converted.content or "").replace(_ANGLE_MARK, "\\<")


def _mark_text_angles(source: str) -> str:
    """Mark each escaped `<` outside of code, which the conversion would otherwise turn into a tag.

    `Box&lt;T&gt;` would be read as `Box`, and a page that shows a script would contain one.
    """
    if _ANGLE_MARK in source or not _ANGLE.search(source):
        return source
    depth, pieces = 0, list[str]()
    for piece in _PIECE.finditer(source):
        if piece["tag"]:
            if piece["tag"].lower() in _CODE_TAGS:
                depth = max(0, depth + (-1 if piece["end"] else 1))
            pieces.append(piece[0])
        else:
            pieces.append(piece[0] if depth else _ANGLE.sub(_ANGLE_MARK, piece[0]))
    return "".join(pieces)


def _find_page_links(text: str, source: str) -> tuple[Link, ...]:
    """Return the links of the page, found in its Markdown so that their line numbers are right."""
    source_hrefs = {_normalize_address(href): href.strip() for href in find_hrefs(source)}
    found = ((link, source_hrefs.get(_normalize_address(link.target))) for link in find_links(text))
    return tuple(replace(link, target=href) for link, href in found if href)


def _normalize_address(address: str) -> str:
    """Return an address in a form that is the same before and after the conversion, which escapes it."""
    return " ".join(unquote(address).split())
