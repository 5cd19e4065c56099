"""Extraction of the citations of a document: from its links, running text, header and front matter."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin

from dowse.archives.archive_types import CitationInText, CitationKind
from dowse.archives.citation_context import CitationContexts
from dowse.archives.rfc_headers import RfcHeader
from dowse.archives.text_identifiers import find_text_citations
from dowse.archives.url_identities import ARXIV, DOI, all_series, arxiv_identity, doi_identity, is_web_url, url_identity
from dowse.reading.links import find_bare_urls, trim_url
from dowse.types import Link, Reading

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
