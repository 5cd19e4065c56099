"""Pages from built HTML: the main content, without navigation and other boilerplate."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from dowse.errors import NotAPage
from dowse.reading.dates import day_from_value
from dowse.reading.decoding import decode
from dowse.reading.html import declared_charset
from dowse.reading.html_markdown import convert_html
from dowse.sites.building.plain_text import SourcePage, clean_text, make_abstract, markdown_text, title_from_path

HTML_ENDINGS = (".html", ".htm", ".xhtml")
_MAIN_SELECTORS = (
    "[data-pagefind-body]",
    "main",
    "[role=main]",
    "article",
    "#main-content",
    "#content",
    "#main",
    ".content",
    "body",
)
"""Selectors of the main content; the first that matches is used."""
_BOILERPLATE = (
    "script, style, template, noscript, svg, img, iframe, nav, footer, form, dialog, button, select, "
    "[role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary], [hidden], "
    "[aria-hidden=true], [data-pagefind-ignore], [data-nosnippet], .headerlink, .hash-link, .anchor, .sidebar, .toc, "
    ".table-of-contents, .breadcrumb, .breadcrumbs, .pagination, .skip-link, .visually-hidden, .sr-only"
)
_BODY_BOILERPLATE = "header, aside"
"""Removed from pages that do not mark their main content."""


def read_html_page(path: str, data: bytes) -> SourcePage:
    """Read the HTML file of a page. Raise NotAPage if it is none."""
    page = _HtmlFile(path, data)
    text, title = page.text, page.title
    return SourcePage(
        page.url,
        clean_text(title) or title_from_path(path),
        make_abstract(page.abstract, text, title),
        page.day,
        tuple(map(clean_text, page.topics)),
        text,
        host=urlsplit(page.canonical).netloc,
    )


class _HtmlFile:
    """A parsed HTML file."""

    def __init__(self, path: str, data: bytes) -> None:
        from selectolax.lexbor import LexborHTMLParser

        self.path = path
        self._page = LexborHTMLParser(decode(data, declared_charset(data)).text)
        self._metas = {name: content for name, content in self._named_metas() if content}
        self._raise_if_not_a_page()
        self._days = list(self._json_ld_days())  # before scripts are removed
        self._main = self._find_main()

    @property
    def canonical(self) -> str:
        """The canonical URL that the page states; empty if it states none."""
        for link in self._page.css("link[rel=canonical]"):
            if href := (link.attributes.get("href") or "").strip():
                return href
        return ""

    @property
    def url(self) -> str:
        """The path of the page: of its canonical URL, or else of its file."""
        if path := urlsplit(self.canonical).path:
            return unquote(path)
        return "/" + re.sub(r"(?:^|(?<=/))index\.x?html?$", "", self.path)

    @property
    def title(self) -> str:
        """The main heading if the title contains it, or else the title."""
        heading = next((" ".join(node.text().split()) for node in self._main.css("h1")), "")
        titles = (node.text() for node in self._page.css("title") if node.parent is None or node.parent.tag != "svg")
        title = next((" ".join(text.split()) for text in titles if text.strip()), "")
        if heading and (not title or heading in title):
            return heading
        return title or heading or self._metas.get("og:title", "")

    @property
    def abstract(self) -> str:
        """The description that the page states; empty if it states none."""
        return " ".join((self._metas.get("description") or self._metas.get("og:description") or "").split())

    @property
    def day(self) -> str:
        """The day of publication as YYYY-MM-DD; empty if it is unknown."""
        stated = (
            self._metas.get(name) for name in ("article:published_time", "date", "dc.date", "datepublished", "pubdate")
        )
        shown = (node.attributes.get("datetime") for node in self._main.css("time[datetime]"))
        return next(filter(None, map(day_from_value, filter(None, (*stated, *self._days, *shown)))), "")

    @property
    def topics(self) -> tuple[str, ...]:
        """The tags and keywords."""
        tagged = [content for name, content in self._named_metas() if name == "article:tag"]
        linked = [" ".join(node.text().split()) for node in self._page.css("a[rel~=tag]")]
        words = [word.strip() for word in self._metas.get("keywords", "").split(",")]
        return tuple(dict.fromkeys(filter(None, (*tagged, *linked, *words))))

    @property
    def text(self) -> str:
        """The text of the main content, in paragraphs."""
        return markdown_text(convert_html(self._main.html or ""), has_tags=False).text

    def _raise_if_not_a_page(self) -> None:
        robots = ",".join(self._metas.get(name, "") for name in ("robots", "googlebot")).lower()
        if re.search(r"\b(?:noindex|none)\b", robots):
            raise NotAPage("it says noindex")
        if any((node.attributes.get("http-equiv") or "").lower() == "refresh" for node in self._page.css("meta")):
            raise NotAPage("it only leads to another page")
        if re.search(r"(?:^|/)(?:404|500)(?:/index)?\.html?$", self.path):
            raise NotAPage("it is a page for errors")

    def _named_metas(self) -> Iterator[tuple[str, str]]:
        for meta in self._page.css("meta"):
            name = (
                meta.attributes.get("name") or meta.attributes.get("property") or meta.attributes.get("itemprop") or ""
            )
            yield name.strip().lower(), (meta.attributes.get("content") or "").strip()

    def _json_ld_days(self) -> Iterator[str]:
        for script in self._page.css("script"):
            if (script.attributes.get("type") or "").lower() == "application/ld+json":
                try:
                    value = json.loads(script.text(deep=True))
                except (ValueError, RecursionError):
                    continue
                yield from (str(item["datePublished"]) for item in _json_ld_objects(value) if "datePublished" in item)

    def _find_main(self) -> Any:
        for node in self._page.css(_BOILERPLATE):
            if node.tag not in ("body", "html", "main"):
                node.decompose()
        for selector in _MAIN_SELECTORS:
            found = self._page.css(selector)
            if selector == "article" and len(found) > 1:  # a list of posts has several
                continue
            if found and found[0].text(deep=True).strip():
                if found[0].tag == "body":
                    for node in found[0].css(_BODY_BOILERPLATE):
                        node.decompose()
                return found[0]
        return self._page.body or self._page.root


def _json_ld_objects(value: Any) -> Iterator[dict[str, Any]]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            yield item
            graph = item.get("@graph")
            yield from (inner for inner in graph if isinstance(inner, dict)) if isinstance(graph, list) else ()
