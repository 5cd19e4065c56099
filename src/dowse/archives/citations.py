"""What a document cites: its links, what its running text names, and what its head and front matter list."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin

from dowse.archives.archive_types import CitationInText, CitationKind
from dowse.archives.citation_context import Contexts
from dowse.archives.rfc_headers import RfcHeader
from dowse.archives.text_identifiers import cited_in_prose
from dowse.archives.url_identities import ARXIV, DOI, all_series, arxiv_identity, doi_identity, identity, is_web
from dowse.reading.urls import bare_urls, trim_url
from dowse.types import Link, Reading

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_TEMPLATE = re.compile(r"\{\{|\{%")
_LISTS = ("references", "citations", "cites", "sources", "related", "see_also", "see-also")
"""Keys of front matter that list what a document builds on."""
_ROLE = re.compile(r":(?P<role>[a-z]{2,10}):`(?:[^`<]*<)?\s*(?P<number>\d{1,5})\s*(?:#[^`>]*)?>?`", re.IGNORECASE)
MOST = 5000
"""Citations of one document that are kept; the largest PEP has 120, a page with more is a list of links."""


def citations_of(
    reading: Reading,
    *,
    start: int = 0,
    source: str = "",
    base_url: str = "",
    head: RfcHeader | None = None,
    matter: Mapping[str, Any] | None = None,
    is_markdown: bool = True,
) -> tuple[CitationInText, ...]:
    """All citations of a document, each link once, in the order they stand in.

    `start` is where the text begins after its front matter, `source` a reStructuredText as it is in its
    file, `base_url` the address that relative links of a captured page begin at.
    """
    contexts = Contexts(reading.text)
    roles = _roles_in(source)
    links = reading.links if is_markdown else tuple(_bare_links(reading.text, contexts))
    found = [cited for link in links if (cited := _of_link(link, contexts, base_url, roles))]
    found += cited_in_prose(reading.text, start, contexts, is_markdown=is_markdown)
    found.sort(key=lambda cited: cited.line)
    return (*_of_head(head), *_of_matter(matter or {}), *found)[:MOST]


def _of_link(link: Link, contexts: Contexts, base_url: str, roles: frozenset[str]) -> CitationInText | None:
    target = link.target
    if target.startswith("[["):
        return CitationInText(target, CitationKind.WIKI, "", contexts.of_link(link), link.line)
    if base_url and not _SCHEME.match(target):
        try:
            target = urljoin(base_url, target)
        except ValueError:
            return None
    cited = _of_address(target)
    if cited is None:
        return None
    kind = CitationKind.ROLE if cited.key in roles else cited.kind
    return CitationInText(cited.url, kind, cited.key, contexts.of_link(link), link.line)


def _of_address(target: str) -> CitationInText | None:
    """A citation of an address in any form; None for what leads to nothing that could be cited."""
    if is_web(target):
        key = identity(target)
        return CitationInText(target, CitationKind.LINK, key) if key else None
    if match := re.fullmatch(r"doi:\s*(.+)", target, re.IGNORECASE):
        return CitationInText(f"https://doi.org/{match[1]}", CitationKind.DOI, doi_identity(match[1]))
    if match := ARXIV.fullmatch(target):
        return CitationInText(f"https://arxiv.org/abs/{match[1]}", CitationKind.ARXIV, arxiv_identity(match[1]))
    if _SCHEME.match(target) or _TEMPLATE.search(target):
        return None
    return CitationInText(target, CitationKind.PATH)


def _roles_in(source: str) -> frozenset[str]:
    """The members of series that a reStructuredText refers to by a role; elsewhere they are links like others."""
    known = {series.name: series for series in all_series()}
    return frozenset(
        known[match["role"].lower()].key(int(match["number"]))
        for match in _ROLE.finditer(source)
        if match["role"].lower() in known
    )


def _bare_links(text: str, contexts: Contexts) -> Iterator[Link]:
    """The addresses in a plain text."""
    for match in bare_urls(text):
        if url := trim_url(match[0]):
            yield Link(url if "://" in url else f"http://{url}", url, contexts.line_of(match.start()))


def _of_head(head: RfcHeader | None) -> Iterator[CitationInText]:
    for cited in head.cites if head else ():
        series = head.series  # type: ignore[union-attr]
        url, context = series.address.format(number=cited.number), f"{cited.field}: {cited.number}"
        yield CitationInText(url, CitationKind.HEADER, series.key(cited.number), context, cited.line)


def _of_matter(matter: Mapping[str, Any]) -> Iterator[CitationInText]:
    for name in _LISTS:
        stated = matter.get(name)
        for item in stated if isinstance(stated, list) else [stated]:
            value = item.get("url") or item.get("doi") if isinstance(item, dict) else item
            text = value.encode("utf-8", "replace").decode().strip() if isinstance(value, str) else ""
            if cited := _listed(text):
                yield CitationInText(cited.url, cited.kind, cited.key, f"{name}: {text}"[:300], 1)


def _listed(value: str) -> CitationInText | None:
    """What an item of front matter cites; words that are neither address nor path cite nothing."""
    if value.startswith("[[") and value.endswith("]]"):
        return CitationInText(value, CitationKind.WIKI)
    if match := DOI.fullmatch(value):
        return CitationInText(f"https://doi.org/{match[0]}", CitationKind.DOI, doi_identity(match[0]))
    if " " in value or not (is_web(value) or "/" in value or "." in value or ":" in value):
        return None
    found = _of_address(value)
    return (
        CitationInText(found.url, CitationKind.HEADER if found.kind is CitationKind.LINK else found.kind, found.key)
        if found
        else None
    )
