"""Extraction of the citations of a document: from its links, running text, header and front matter, each with the text around it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import urljoin

from dowse.archives.archive_types import CitationInText, CitationKind
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
from dowse.reading.links import find_bare_urls, trim_url
from dowse.reading.markdown_events import parse_markdown
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


_TOKEN = re.compile(r"[A-Za-z0-9+/=_.~-]*")
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
            first = text.find(" ", first, min(first + _WORD_BREAK_CHARACTERS, start)) + 1 or _skip_token(
                text, first, start
            )
        if is_cut_after:
            last = max(text.rfind(" ", max(end, last - _WORD_BREAK_CHARACTERS), last), 0) or _cut_before_token(
                text, end, last
            )
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
                    end = min(
                        self._text.find(")", end, end + _LINK_SEARCH_CHARACTERS) + 1 or end,
                        end + _LINK_SEARCH_CHARACTERS,
                    )
                self._found_until[link.line, needle] = end
                return at, end
        return begin, begin

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self._text))]


def _skip_token(text: str, first: int, start: int) -> int:
    """Return the end of the very long word in which the start of a context falls."""
    found = _TOKEN.match(text, first, start)
    return found.end() if found else first


def _cut_before_token(text: str, end: int, last: int) -> int:
    """Return the start of the very long word in which the end of a context falls."""
    while last > end and _TOKEN.fullmatch(text[last - 1]):
        last -= 1
    return last


_NON_PROSE_TAGS = ("CodeBlock", "Link", "Image", "HtmlBlock", "MetadataBlock")
_NON_PROSE_EVENTS = ("Code", "Html", "InlineHtml")


def find_text_citations(text: str, start: int, contexts: CitationContexts, language: str) -> Iterator[CitationInText]:
    """Yield the citations in the running text from a character on, in order."""
    found = list(_find_candidates(blank_markup(text, language) if language in MARKUP_LANGUAGES else text, start))
    if not found:
        return
    non_prose = _NonProse(text, start) if language == "markdown" else None
    for at, end, cited in sorted(found, key=lambda candidate: candidate[0]):
        if non_prose is None or not non_prose.contains(at):
            yield CitationInText(cited.url, cited.kind, cited.key, contexts.around(at, end), contexts.line_of(at))


def _find_candidates(text: str, start: int) -> Iterator[tuple[int, int, CitationInText]]:
    if "10." in text:
        for match in DOI.finditer(text, start):
            doi = trim_doi(match[0])
            yield (
                match.start(),
                match.start() + len(doi),
                CitationInText(f"https://doi.org/{doi}", CitationKind.DOI, doi_identity(doi)),
            )
    if any(name in text for name in ("rXiv", "rxiv", "RXIV")):
        for match in ARXIV.finditer(text, start):
            cited = CitationInText(f"https://arxiv.org/abs/{match[1]}", CitationKind.ARXIV, arxiv_identity(match[1]))
            yield match.start(), match.end(), cited


class _NonProse:
    """The parts of a Markdown text that are not running text."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._at = start
        self._bytes = 0
        for event, span in parse_markdown(text[start:]):
            if isinstance(event, dict):
                ((kind, value),) = event.items()
                if kind in _NON_PROSE_EVENTS or (kind == "Start" and _tag_name(value) in _NON_PROSE_TAGS):
                    self._add(span["start"], span["end"])

    def _add(self, start: int, end: int) -> None:
        if self._ends and start < self._ends[-1]:
            self._ends[-1] = max(self._ends[-1], end)
        else:
            self._starts.append(start)
            self._ends.append(end)

    def contains(self, at: int) -> bool:
        """Return whether a character is in one of the parts. Calls have to come in the order of the characters."""
        self._bytes += len(self._text[self._at : at].encode("utf-8"))
        self._at = at
        place = bisect_right(self._starts, self._bytes) - 1
        return place >= 0 and self._bytes < self._ends[place]


def _tag_name(value: "str | dict[str, object]") -> str:
    return value if isinstance(value, str) else next(iter(value))


_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_TEMPLATE = re.compile(r"\{\{|\{%")
_CITATION_LIST_KEYS = ("references", "citations", "cites", "sources", "related", "see_also", "see-also")
"""Keys of front matter that list cited documents."""
_ROLE = re.compile(r":(?P<role>[a-z]{2,10}):`(?:[^`<]*<)?\s*(?P<number>\d{1,5})\s*(?:#[^`>]*)?>?`", re.IGNORECASE)
MAX_CITATIONS_PER_DOCUMENT = 5000
"""Further citations of a document are dropped. The largest PEP has 120; a page with more is a list of links."""


def extract_citations(
    reading: Reading,
    *,
    start: int = 0,
    base_url: str = "",
    header: RfcHeader | None = None,
    front_matter: Mapping[str, Any] | None = None,
    language: str = "markdown",
) -> tuple[CitationInText, ...]:
    """Return all citations of a document, each link once, in order.

    `start` is the character at which the text begins after its front matter, `base_url` the URL that relative links
    of a captured page are resolved against.
    """
    contexts = CitationContexts(reading.text)
    roles = _find_roles(reading.text) if language == "rst" else frozenset()
    links = tuple(_bare_links(reading.text, contexts)) if language == "text" else reading.links
    found = [cited for link in links if (cited := _citation_from_link(link, contexts, base_url, roles))]
    found += find_text_citations(reading.text, start, contexts, language)
    found.sort(key=lambda cited: cited.line)
    return (*_header_citations(header), *_front_matter_citations(front_matter or {}), *found)[
        :MAX_CITATIONS_PER_DOCUMENT
    ]


def _citation_from_link(
    link: Link, contexts: CitationContexts, base_url: str, roles: frozenset[str]
) -> CitationInText | None:
    target = link.target
    if target.startswith("[["):
        return CitationInText(target, CitationKind.WIKI, "", contexts.around_link(link), link.line)
    if base_url and not _SCHEME.match(target):
        try:
            target = urljoin(base_url, target)
        except ValueError:
            return None
    cited = _citation_from_url(target)
    if cited is None:
        return None
    kind = CitationKind.ROLE if cited.key in roles else cited.kind
    return CitationInText(cited.url, kind, cited.key, contexts.around_link(link), link.line)


def _citation_from_url(target: str) -> CitationInText | None:
    """Return the citation of a URL, DOI, arXiv id or path; None for a target that cannot be cited."""
    if is_web_url(target):
        key = url_identity(target)
        return CitationInText(target, CitationKind.LINK, key) if key else None
    if match := re.fullmatch(r"doi:\s*+(.+)", target, re.IGNORECASE):
        return CitationInText(f"https://doi.org/{match[1]}", CitationKind.DOI, doi_identity(match[1]))
    if match := ARXIV.fullmatch(target):
        return CitationInText(f"https://arxiv.org/abs/{match[1]}", CitationKind.ARXIV, arxiv_identity(match[1]))
    if _SCHEME.match(target) or _TEMPLATE.search(target):
        return None
    return CitationInText(target, CitationKind.PATH)


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
    for match in find_bare_urls(text):
        if url := trim_url(match[0]):
            yield Link(url if "://" in url else f"http://{url}", url, contexts.line_of(match.start()))


def _header_citations(header: RfcHeader | None) -> Iterator[CitationInText]:
    for cited in header.cites if header else ():
        series = header.series  # type: ignore[union-attr]
        url, context = series.address.format(number=cited.number), f"{cited.field}: {cited.number}"
        yield CitationInText(url, CitationKind.HEADER, series.key(cited.number), context, cited.line)


def _front_matter_citations(front_matter: Mapping[str, Any]) -> Iterator[CitationInText]:
    for name in _CITATION_LIST_KEYS:
        stated = front_matter.get(name)
        for item in stated if isinstance(stated, list) else [stated]:
            value = item.get("url") or item.get("doi") if isinstance(item, dict) else item
            text = value.encode("utf-8", "replace").decode().strip() if isinstance(value, str) else ""
            if cited := _citation_from_item(text):
                yield CitationInText(cited.url, cited.kind, cited.key, f"{name}: {text}"[:300], 1)


def _citation_from_item(value: str) -> CitationInText | None:
    """Return the citation of an item of front matter; None where it is neither a URL, DOI, arXiv id nor path."""
    if value.startswith("[[") and value.endswith("]]"):
        return CitationInText(value, CitationKind.WIKI)
    if match := DOI.fullmatch(value):
        return CitationInText(f"https://doi.org/{match[0]}", CitationKind.DOI, doi_identity(match[0]))
    if " " in value or not (is_web_url(value) or "/" in value or "." in value or ":" in value):
        return None
    found = _citation_from_url(value)
    return (
        CitationInText(found.url, CitationKind.HEADER if found.kind is CitationKind.LINK else found.kind, found.key)
        if found
        else None
    )
