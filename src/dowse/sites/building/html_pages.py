"""Pages of built HTML: the main content, without navigation and what stands around it on every page."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from dowse.errors import NotAPage
from dowse.reading.decoding import decode
from dowse.sites.building.page_front_matter import parse_day
from dowse.sites.building.plain_text import clean_text

HTML_ENDINGS = (".html", ".htm", ".xhtml")
_CHARSET = re.compile(rb"""<meta\b[^>]{0,400}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
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
"""Where the words of a page are; the first that there is."""
_BOILERPLATE = (
    "script, style, template, noscript, svg, iframe, nav, footer, form, dialog, button, select, "
    "[role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary], [hidden], "
    "[aria-hidden=true], [data-pagefind-ignore], [data-nosnippet], .headerlink, .hash-link, .anchor, .sidebar, .toc, "
    ".table-of-contents, .breadcrumb, .breadcrumbs, .pagination, .skip-link, .visually-hidden, .sr-only"
)
_BODY_BOILERPLATE = "header, aside"
"""These are left out where a page does not say what its main content is."""
_BLOCK_TAGS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "thead",
        "tfoot",
        "tr",
        "ul",
        "body",
    ]
)
_PARAGRAPH_TAGS = frozenset(
    ["p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "table", "ul", "ol", "dl", "section", "article"]
)


class HtmlPage:
    """One page as it is on the disk."""

    def __init__(self, path: str, data: bytes) -> None:
        from selectolax.lexbor import LexborHTMLParser

        declared = _CHARSET.search(data, 0, 4096)
        self.path = path
        self._page = LexborHTMLParser(decode(data, declared[1].decode("ascii", "replace") if declared else None).text)
        self._metas = {name: content for name, content in self._named_metas() if content}
        self._refuse()
        self._days = list(self._linked_days())  # in scripts, which are cleared away
        self._main = self._cleared()

    @property
    def canonical(self) -> str:
        """The address that the page says it has."""
        for link in self._page.css("link[rel=canonical]"):
            if href := (link.attributes.get("href") or "").strip():
                return href
        return ""

    @property
    def address(self) -> str:
        """The path of the page: its own word, else where its file is."""
        if path := urlsplit(self.canonical).path:
            return unquote(path)
        return "/" + re.sub(r"(?:^|(?<=/))index\.x?html?$", "", self.path)

    @property
    def title(self) -> str:
        """The main heading where the title has it too, else the title."""
        heading = next((" ".join(node.text().split()) for node in self._main.css("h1")), "")
        titles = (node.text() for node in self._page.css("title") if node.parent is None or node.parent.tag != "svg")
        title = next((" ".join(text.split()) for text in titles if text.strip()), "")
        if heading and (not title or heading in title):
            return heading
        return title or heading or self._metas.get("og:title", "")

    @property
    def abstract(self) -> str:
        """The description that the page states."""
        return " ".join((self._metas.get("description") or self._metas.get("og:description") or "").split())

    @property
    def day(self) -> str:
        """The day of publication."""
        stated = (
            self._metas.get(name) for name in ("article:published_time", "date", "dc.date", "datepublished", "pubdate")
        )
        shown = (node.attributes.get("datetime") for node in self._main.css("time[datetime]"))
        return next(filter(None, map(parse_day, filter(None, (*stated, *self._days, *shown)))), "")

    @property
    def topics(self) -> tuple[str, ...]:
        """Tags and keywords."""
        tagged = [content for name, content in self._named_metas() if name == "article:tag"]
        linked = [" ".join(node.text().split()) for node in self._page.css("a[rel~=tag]")]
        words = [word.strip() for word in self._metas.get("keywords", "").split(",")]
        return tuple(dict.fromkeys(filter(None, (*tagged, *linked, *words))))

    @property
    def words(self) -> str:
        """The text of the main content in paragraphs."""
        return clean_text("".join(_text_pieces(self._main)))

    def _refuse(self) -> None:
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

    def _linked_days(self) -> Iterator[str]:
        for script in self._page.css("script"):
            if (script.attributes.get("type") or "").lower() == "application/ld+json":
                try:
                    told = json.loads(script.text(deep=True))
                except (ValueError, RecursionError):
                    continue
                yield from (str(one["datePublished"]) for one in _json_ld_objects(told) if "datePublished" in one)

    def _cleared(self) -> Any:
        for node in self._page.css(_BOILERPLATE):
            if node.tag not in ("body", "html", "main"):
                node.decompose()
        for selector in _MAIN_SELECTORS:
            found = self._page.css(selector)
            if selector == "article" and len(found) > 1:  # a list of posts
                continue
            if found and found[0].text(deep=True).strip():
                if found[0].tag == "body":
                    for node in found[0].css(_BODY_BOILERPLATE):
                        node.decompose()
                return found[0]
        return self._page.body or self._page.root


def _json_ld_objects(told: Any) -> Iterator[dict[str, Any]]:
    for one in told if isinstance(told, list) else [told]:
        if isinstance(one, dict):
            yield one
            graph = one.get("@graph")
            yield from (inner for inner in graph if isinstance(inner, dict)) if isinstance(graph, list) else ()


def _text_pieces(node: Any) -> Iterator[str]:
    """The words below a node; iterative, since pages can be nested deeper than Python's stack."""
    stack: list[Any] = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            yield one
        elif one.tag == "-text":
            text = one.text(deep=False)
            yield text if _is_in_pre(one) else re.sub(r"\s+", " ", text)
        elif one.tag == "br":
            yield "\n"
        elif one.tag == "img":
            yield " "
        elif one.tag is not None and not one.tag.startswith(("_", "-", "!")):
            mark = (
                "\n\n"
                if one.tag in _PARAGRAPH_TAGS
                else "\n"
                if one.tag in _BLOCK_TAGS
                else " "
                if one.tag in ("td", "th")
                else ""
            )
            stack.append(mark)
            stack.extend(reversed(list(one.iter(include_text=True))))
            stack.append(mark)


def _is_in_pre(node: Any) -> bool:
    for _ in range(4):
        node = node.parent
        if node is None:
            return False
        if node.tag == "pre":
            return True
    return False
