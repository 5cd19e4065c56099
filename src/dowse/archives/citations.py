"""Extraction of the citations of a document: from its links, running text, header and front matter, each with the text around it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any
from urllib.parse import urljoin

from dowse.archives.archive_types import CitationInText
from dowse.archives.url_identities import (
    ARXIV,
    DOI,
    RfcHeader,
    all_series,
    arxiv_identity,
    doi_identity,
    is_web_url,
    trim_doi,
    url_identity,
)
from dowse.reading.file_reading import document_language
from dowse.reading.links import find_bare_urls
from dowse.reading.markdown_events import named, parse_markdown
from dowse.reading.markup_text import blank_markup
from dowse.text.markup_lines import MARKUP_LANGUAGES
from dowse.types import Link, Reading

CONTEXT_CHARACTERS = 100
"""Characters of context on either side of a citation."""
_MAX_CITATION_CHARACTERS = 300
"""A longer citation is cut to this length in its context; its full URL is given elsewhere."""
_WORD_BREAK_CHARACTERS = 20
"""Maximum distance by which the end of a context is moved to the gap between two words."""
_LINK_SEARCH_CHARACTERS = 4000
"""Characters after the start of its line in which a link is searched for: enough for a table row, or a label over several lines."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_PARAGRAPH_END = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)")
_TOKEN_AT_START = re.compile(r"\A[A-Za-z0-9+/=_.~-]+")
_TOKEN_AT_END = re.compile(r"(?<![A-Za-z0-9+/=_.~-])[A-Za-z0-9+/=_.~-]+\Z")
"""Characters of API keys and tokens. A context never shows a part of one, as a part can no longer be recognized and masked."""


class CitationContexts:
    """The contexts of the citations in one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found_until: dict[tuple[int, str], int] = {}

    def line_of(self, at: int) -> int:
        """Return the line of a character, counted from 1."""
        return bisect_right(self._line_starts, at)

    def around(self, start: int, end: int) -> str:
        """Return a part of the text with the text around it, within its paragraph, with dots where it is cut."""
        text = self._text
        end = min(end, start + _MAX_CITATION_CHARACTERS)
        first, last = max(0, start - CONTEXT_CHARACTERS), min(len(text), end + CONTEXT_CHARACTERS)
        for found in _PARAGRAPH_END.finditer(text, first, start):
            first = found.end()
        if following := _PARAGRAPH_END.search(text, end, last):
            last = following.start()
        is_cut_before = first > 0 and text[first - 1] not in "\r\n"
        is_cut_after = last < len(text) and text[last] not in "\r\n"
        if is_cut_before:
            space = text.find(" ", first, min(first + _WORD_BREAK_CHARACTERS, start))
            first = space + 1 or start - len(_TOKEN_AT_START.sub("", text[first:start]))
        if is_cut_after:
            space = text.rfind(" ", max(end, last - _WORD_BREAK_CHARACTERS), last)
            last = space if space >= 0 else end + len(_TOKEN_AT_END.sub("", text[end:last]))
        shown = " ".join(text[first:last].split())
        return ("..." if is_cut_before else "") + shown + ("..." if is_cut_after else "")

    def around_link(self, link: Link) -> str:
        """Return the text around a link, which is searched for from the start of its line."""
        start, end = self._find_link(link)
        return self.around(start, end)

    def _find_link(self, link: Link) -> tuple[int, int]:
        begin = self._line_starts[min(link.line, len(self._line_starts)) - 1] if link.line > 0 else 0
        if link.target.startswith("[["):
            needles = [link.target[:-2], link.text]
        else:
            needles = [f"[{link.text}]", link.target, link.text]
        for needle in filter(None, needles):
            search_from = max(begin, self._found_until.get((link.line, needle), begin))
            at = self._text.find(needle, search_from, begin + _LINK_SEARCH_CHARACTERS)
            if at >= 0:
                end = at + len(needle)
                if self._text.startswith("(", end):
                    end = self._text.find(")", end, end + _LINK_SEARCH_CHARACTERS) + 1 or end
                self._found_until[link.line, needle] = end
                return at, end
        return begin, begin

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self._text))]


_NON_PROSE_TAGS = ("CodeBlock", "Link", "Image", "HtmlBlock", "MetadataBlock")
_NON_PROSE_EVENTS = ("Code", "Html", "InlineHtml")


def find_text_citations(text: str, start: int, contexts: CitationContexts, language: str) -> Iterator[CitationInText]:
    """Yield the citations in the running text from a character on, in order."""
    prose = blank_markup(text, language) if language in MARKUP_LANGUAGES else text
    if language == "markdown" and any(_find_candidates(text, start)):
        prose = _blank_markdown(text, start)
    for at, end, cited in sorted(_find_candidates(prose, start), key=lambda candidate: candidate[0]):
        yield replace(cited, context=contexts.around(at, end), line=contexts.line_of(at))


def _find_candidates(text: str, start: int) -> Iterator[tuple[int, int, CitationInText]]:
    if "10." in text:
        for match in DOI.finditer(text, start):
            doi = trim_doi(match[0])
            yield match.start(), match.start() + len(doi), _doi_citation(doi)
    if any(name in text for name in ("rXiv", "rxiv", "RXIV")):
        for match in ARXIV.finditer(text, start):
            yield match.start(), match.end(), _arxiv_citation(match[1])


def _doi_citation(doi: str) -> CitationInText:
    return CitationInText(f"https://doi.org/{doi}", "doi", doi_identity(doi))


def _arxiv_citation(number: str) -> CitationInText:
    return CitationInText(f"https://arxiv.org/abs/{number}", "arxiv", arxiv_identity(number))


def _blank_markdown(text: str, start: int) -> str:
    """Return a Markdown text of the same length, with spaces in place of code, links and HTML."""
    source, pieces, done = text[start:].encode(), [text[:start]], 0
    for event, span in parse_markdown(text[start:]):
        kind, value = named(event)
        is_prose = kind not in _NON_PROSE_EVENTS and (kind != "Start" or named(value)[0] not in _NON_PROSE_TAGS)
        if not is_prose and span["start"] >= done:
            hidden = source[span["start"] : span["end"]].decode()
            pieces += [source[done : span["start"]].decode(), " " * len(hidden)]
            done = span["end"]
    return "".join((*pieces, source[done:].decode()))


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_TEMPLATE = re.compile(r"\{\{|\{%")
_CITATION_LIST_KEYS = ("references", "citations", "cites", "sources", "related", "see_also", "see-also")
"""Keys of front matter that list cited documents."""
_ROLE = re.compile(r":(?P<role>[a-z]{2,10}):`(?:[^`<]*<)?\s*(?P<number>\d{1,5})\s*(?:#[^`>]*)?>?`", re.IGNORECASE)
MAX_CITATIONS_PER_DOCUMENT = 5000
"""Further citations of a document are dropped. The largest PEP has 120; a page with more is a list of links."""


def extract_citations(
    reading: Reading, path: str, *, start: int, base_url: str, header: RfcHeader | None, front_matter: Mapping[str, Any]
) -> tuple[CitationInText, ...]:
    """Return all citations of a document, each link once, in order.

    `start` is the character at which the text begins after its front matter, `base_url` the URL that relative links
    of a captured page are resolved against.
    """
    contexts, language = CitationContexts(reading.text), document_language(path)
    roles = _find_roles(reading.text) if language == "rst" else frozenset()
    links = tuple(_bare_links(reading.text, contexts)) if language == "text" else reading.links
    found = [cited for link in links if (cited := _citation_from_link(link, contexts, base_url, roles))]
    found += find_text_citations(reading.text, start, contexts, language)
    found.sort(key=lambda cited: cited.line)
    found = [*_header_citations(header), *_front_matter_citations(front_matter), *found]
    return tuple(found[:MAX_CITATIONS_PER_DOCUMENT])


def _citation_from_link(
    link: Link, contexts: CitationContexts, base_url: str, roles: frozenset[str]
) -> CitationInText | None:
    target = link.target
    if target.startswith("[["):
        return CitationInText(target, "wiki", "", contexts.around_link(link), link.line)
    if base_url and not _SCHEME.match(target):
        try:
            target = urljoin(base_url, target)
        except ValueError:
            return None
    cited = _citation_from_url(target)
    if cited is None:
        return None
    kind = "role" if cited.key in roles else cited.kind
    return replace(cited, kind=kind, context=contexts.around_link(link), line=link.line)


def _citation_from_url(target: str) -> CitationInText | None:
    """Return the citation of a URL, DOI, arXiv id or path; None for a target that cannot be cited."""
    if is_web_url(target):
        key = url_identity(target)
        return CitationInText(target, "link", key) if key else None
    if match := re.fullmatch(r"doi:\s*+(.+)", target, re.IGNORECASE):
        return _doi_citation(match[1])
    if match := ARXIV.fullmatch(target):
        return _arxiv_citation(match[1])
    if _SCHEME.match(target) or _TEMPLATE.search(target):
        return None
    return CitationInText(target, "path")


def _find_roles(source: str) -> frozenset[str]:
    """Return the identities that reStructuredText cites by a role such as `:pep:`."""
    known = {series.name: series for series in all_series()}
    return frozenset(
        known[match["role"].lower()].key(int(match["number"]))
        for match in _ROLE.finditer(source)
        if match["role"].lower() in known
    )


def _bare_links(text: str, contexts: CitationContexts) -> Iterator[Link]:
    """Yield the URLs in a plain text."""
    for at, target, url in find_bare_urls(text):
        yield Link(target, url, contexts.line_of(at))


def _header_citations(header: RfcHeader | None) -> Iterator[CitationInText]:
    for field, number in header.cites if header else ():
        series = header.series  # type: ignore[union-attr]
        url = series.address.format(number=number)
        yield CitationInText(url, "header", series.key(number), f"{field}: {number}", 1)


def _front_matter_citations(front_matter: Mapping[str, Any]) -> Iterator[CitationInText]:
    for name in _CITATION_LIST_KEYS:
        stated = front_matter.get(name)
        for item in stated if isinstance(stated, list) else [stated]:
            value = item.get("url") or item.get("doi") if isinstance(item, dict) else item
            text = value.encode("utf-8", "replace").decode().strip() if isinstance(value, str) else ""
            if cited := _citation_from_item(text):
                yield replace(cited, context=f"{name}: {text}"[:300], line=1)


def _citation_from_item(value: str) -> CitationInText | None:
    """Return the citation of an item of front matter; None where it is neither a URL, DOI, arXiv id nor path."""
    if value.startswith("[[") and value.endswith("]]"):
        return CitationInText(value, "wiki")
    if match := DOI.fullmatch(value):
        return _doi_citation(match[0])
    if " " in value or not (is_web_url(value) or "/" in value or "." in value or ":" in value):
        return None
    found = _citation_from_url(value)
    return replace(found, kind="header") if found and found.kind == "link" else found
