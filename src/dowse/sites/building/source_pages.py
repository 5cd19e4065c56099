"""Pages from built HTML: the main content, without navigation and other boilerplate."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from dowse.errors import NotAPage
from dowse.reading.dates import day_from_value
from dowse.reading.decoding import decode
from dowse.reading.front_matter import parse_front_matter
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


_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_DATE_KEYS = ("date", "pubDate", "publishDate", "publishdate", "published", "created", "datePublished")


@dataclass(frozen=True, slots=True)
class PageFrontMatter:
    """The values of front matter; missing values are empty."""

    values: Mapping[str, Any]

    def text(self, *names: str) -> str:
        """Return the first of these values that is not empty, on one line."""
        for name in names:
            value = self.values.get(name)
            if value is not None and not isinstance(value, list | dict | bool) and str(value).strip():
                return " ".join(str(value).split())
        return ""

    def texts(self, *names: str) -> tuple[str, ...]:
        """Return all texts of these values, without duplicates."""
        found: dict[str, None] = {}
        for name in names:
            for value in _flatten_texts(self.values.get(name)):
                found[value] = None
        return tuple(found)

    @property
    def is_draft(self) -> bool:
        """Whether the page is a draft. `published` may also be a day."""
        return self._flag("draft") in _TRUE or self._flag("published") in _FALSE

    def _flag(self, name: str) -> str:
        return str(self.values.get(name)).strip().lower()

    @property
    def day(self) -> str:
        """The day of the page as YYYY-MM-DD."""
        return next(filter(None, (day_from_value(self.values.get(name)) for name in _DATE_KEYS)), "")

    @property
    def unreadable_day(self) -> str:
        """The text of a date that cannot be parsed; empty if there is none."""
        return "" if self.day else self.text(*_DATE_KEYS)


def _flatten_texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [
            text
            for item in value
            for text in _flatten_texts([*item.values()][:1] if isinstance(item, dict) else str(item))
        ]
    if isinstance(value, str):
        texts = value.split(",") if "," in value else [value]
        return [" ".join(text.split()) for text in texts if text.strip()]
    return [] if value is None or isinstance(value, dict) else [str(value)]


MARKDOWN_ENDINGS = (".md", ".markdown")
MAX_FRONT_MATTER_CHARACTERS = 64 * 1024

_BROKEN_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\r?\n(?:[^\n]*\n){0,500}?\1[ \t]*\r?(?:\n|\Z)")


def read_markdown_page(path: str, data: bytes) -> SourcePage:
    """Read the Markdown file of a page."""
    text = decode(data).text
    values, end = parse_front_matter(text)
    broken = None if end else _BROKEN_FRONT_MATTER.match(text, 0, MAX_FRONT_MATTER_CHARACTERS)
    content = markdown_text(text[broken.end() if broken else end :])
    front_matter = PageFrontMatter(values)
    warnings = []
    if unreadable := front_matter.unreadable_day:
        warnings.append(f"{unreadable[:60]!r} is not a date that can be read; it is ignored.")
    if broken:
        warnings.append("the front matter is neither valid YAML nor valid TOML.")
    abstract = make_abstract(
        front_matter.text("description", "summary", "excerpt", "abstract", "subtitle"), content.text, content.heading
    )
    return SourcePage(
        _page_url(path, front_matter),
        clean_text(front_matter.text("title")) or content.heading or title_from_path(path),
        abstract,
        front_matter.day,
        tuple(map(clean_text, front_matter.texts("tags", "categories", "topics", "keywords"))),
        content.text or abstract,
        is_draft=front_matter.is_draft,
        warnings=tuple(warnings),
    )


def _page_url(path: str, front_matter: PageFrontMatter) -> str:
    if permalink := front_matter.text("permalink", "url"):
        return permalink
    folder, _, name = f"/{path}".rpartition("/")
    if slug := front_matter.text("slug"):
        return slug if "/" in slug else f"{folder}/{slug}"
    stem = name.rpartition(".")[0]
    return folder if stem.lower() in ("index", "readme", "_index") else f"{folder}/{stem}"


Fields = dict[str, Any]


def prepare(_fields: Fields) -> None:
    """Load nothing: the modules that are imported here are all that a job needs."""


def run_job(fields: Fields, data: bytes) -> tuple[Fields, bytes]:
    """Read a page; return its fields and its text, or why the file is no page."""
    path: str = fields["path"]
    read = read_html_page if path.lower().endswith(HTML_ENDINGS) else read_markdown_page
    try:
        page = asdict(read(path, data))
    except NotAPage as error:
        return {"error": str(error)}, b""
    text: str = page.pop("text")
    return {"page": page}, text.encode("utf-8", "surrogatepass")
