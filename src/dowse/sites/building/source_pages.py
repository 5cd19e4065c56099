"""Pages from built HTML, without navigation and other boilerplate, and from Markdown with front matter."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import unquote, urlsplit

from dowse.reading.dates import day_from_value
from dowse.reading.decoding import decode
from dowse.reading.front_matter import parse_front_matter
from dowse.reading.html import declared_charset
from dowse.reading.html_markdown import convert_html
from dowse.reading.html_scan import extract_text
from dowse.reading.markdown_events import is_inline, named, parse_markdown
from dowse.reading.shorten import shorten
from dowse.sites.index_check import Page

_SHORTCODE = re.compile(
    r"\{\{[<%](?:[^{}]|\}(?!\})|\{(?!\{))*+\}\}|\{%(?:[^{%]|%(?!\})|\{(?!%))*+%\}|\{\{(?:[^{}]|\{[^{}]*\})*+\}\}"
)
"""Template tags of Hugo, Jekyll and others: `{{< figure src="x" >}}`, `{% include x %}`, `{{ page.title }}`."""
_ATTRIBUTES = re.compile(r"\{[:#.][^{}\n]*\}")
_BREAKS = {"SoftBreak": " ", "HardBreak": "\n"}
_COMMENT = re.compile(r"<!--(?s:.*?)(?:-->|\Z)")
_SPACES = re.compile(r"[ \t\f\v\u00a0]+")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
_BLANK = re.compile(r"\n{3,}")


def markdown_text(markdown: str, *, has_tags: bool = True) -> tuple[str, str]:
    """Return the plain text of Markdown, and its first heading of level 1, or else its first heading.

    There is a blank line between blocks; template tags are not part of the text.
    """
    source = _SHORTCODE.sub("", _COMMENT.sub("", markdown)) if has_tags else markdown
    blocks, headings = list[str](), dict[str, str]()
    for text, level in _find_blocks(source):
        block = _ATTRIBUTES.sub("", text) if has_tags else text
        blocks.append(block.strip("\n"))
        if level:
            headings.setdefault(level, block)
    heading = headings.get("H1") or next(iter(headings.values()), "")
    return clean_text("\n\n".join(filter(str.strip, blocks))), " ".join(heading.split())


def _find_blocks(markdown: str) -> Iterator[tuple[str, str]]:
    """Yield the text of each block, and its level if it is a heading."""
    words, is_html = list[str](), False
    for event, _ in parse_markdown(markdown):
        kind, value = named(event)
        if kind not in ("Start", "End"):
            words.append(_written(kind, value))
            continue
        tag, about = named(value)
        if not is_inline(value) and tag != "TableCell":
            text, level = "".join(words), ""
            if kind == "End" and tag == "Heading":
                level = about if isinstance(about, str) else about["level"]
            yield extract_text(text) if is_html else text, level
            words.clear()
            is_html = kind == "Start" and tag == "HtmlBlock"
        elif kind == "Start" and tag == "TableCell":
            words.append(" ")
    yield "".join(words), ""


def _written(kind: str, value: Any) -> str:
    if kind in ("Text", "Code", "Html"):
        return str(value)
    is_break = kind == "InlineHtml" and value.startswith(("<br", "<wbr"))
    return " " if is_break else _BREAKS.get(kind, "")


def clean_text(text: str) -> str:
    """Remove control characters, repeated spaces and repeated blank lines."""
    text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return _BLANK.sub("\n\n", "\n".join(lines)).strip()


ABSTRACT_CHARACTERS = 200
"""Maximum length of an abstract that is taken from the beginning of the page."""


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page as its file has it."""

    page: Page
    """Its URL is the path that it states, or that its file has."""
    host: str = ""
    """The host of the canonical URL; empty if the page states none."""
    is_draft: bool = False
    warnings: tuple[str, ...] = ()


def make_abstract(stated: str, text: str, heading: str) -> str:
    """Return the abstract that a page states, or else the first paragraph of more than 40 characters below its heading."""
    first, _, rest = text.partition("\n\n")
    opening = rest if rest and " ".join(first.split()) == heading else text
    paragraphs = opening.split("\n\n")
    first = next((block for block in paragraphs if len(block) > 40), paragraphs[0])
    return clean_text(stated) or shorten(first, ABSTRACT_CHARACTERS)


def title_from_path(path: str) -> str:
    """Make a title from the file name of a page that has none."""
    words = re.sub(r"[-_]+", " ", path.rpartition("/")[2].rpartition(".")[0]).strip()
    return words[:1].upper() + words[1:] or "Untitled"


HTML_ENDINGS = (".html", ".htm", ".xhtml")
_MAIN = (
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


def read_html_page(path: str, data: bytes) -> SourcePage | str:
    """Read the HTML file of a page; return the reason if it is none."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(decode(data, declared_charset(data)).text)
    metas = [meta for meta in _named_metas(page) if meta[1]]
    if reason := _reason_against(path, page, dict(metas)):
        return reason
    main, stated = _find_main(page), dict(metas)
    links = ((link.attributes.get("href") or "").strip() for link in page.css("link[rel=canonical]"))
    canonical = urlsplit(next(filter(None, links), ""))
    title = _find_title(page, main, stated)
    abstract = " ".join((stated.get("description") or stated.get("og:description") or "").split())
    text, _ = markdown_text(convert_html(main.html or ""), has_tags=False)
    found = Page(
        unquote(canonical.path) or "/" + re.sub(r"(?:^|(?<=/))index\.x?html?$", "", path),
        clean_text(title) or title_from_path(path),
        make_abstract(abstract, text, title),
        _find_day(main, stated),
        tuple(map(clean_text, _find_topics(page, metas))),
        text,
    )
    return SourcePage(found, canonical.netloc)


def _named_metas(page: Any) -> Iterator[tuple[str, str]]:
    for meta in page.css("meta"):
        name = meta.attributes.get("name") or meta.attributes.get("property") or meta.attributes.get("itemprop") or ""
        yield name.strip().lower(), (meta.attributes.get("content") or "").strip()


def _reason_against(path: str, page: Any, metas: Mapping[str, str]) -> str:
    """Return why a file is no page; empty if it is one."""
    robots = ",".join(metas.get(name, "") for name in ("robots", "googlebot")).lower()
    if re.search(r"\b(?:noindex|none)\b", robots):
        return "it says noindex"
    if any((node.attributes.get("http-equiv") or "").lower() == "refresh" for node in page.css("meta")):
        return "it only leads to another page"
    return "it is a page for errors" if re.search(r"(?:^|/)(?:404|500)(?:/index)?\.html?$", path) else ""


def _find_main(page: Any) -> Any:
    for node in page.css(_BOILERPLATE):
        if node.tag not in ("body", "html", "main"):
            node.decompose()
    for selector in _MAIN:
        found = page.css(selector)
        if selector == "article" and len(found) > 1:  # a list of posts has several
            continue
        if found and found[0].text(deep=True).strip():
            if found[0].tag == "body":
                for node in found[0].css(_BODY_BOILERPLATE):
                    node.decompose()
            return found[0]
    return page.body or page.root


def _find_title(page: Any, main: Any, metas: Mapping[str, str]) -> str:
    """Return the main heading if the title contains it, or else the title."""
    heading = next((" ".join(node.text().split()) for node in main.css("h1")), "")
    titles = (node.text() for node in page.css("title") if node.parent is None or node.parent.tag != "svg")
    title = next((" ".join(text.split()) for text in titles if text.strip()), "")
    if heading and (not title or heading in title):
        return heading
    return title or heading or metas.get("og:title", "")


def _find_day(main: Any, metas: Mapping[str, str]) -> str:
    """Return the day of publication as YYYY-MM-DD; empty if it is unknown."""
    names = ("article:published_time", "date", "dc.date", "datepublished", "pubdate")
    shown = (node.attributes.get("datetime") for node in main.css("time[datetime]"))
    days = filter(None, (*(metas.get(name) for name in names), *shown))
    return next(filter(None, map(day_from_value, days)), "")


def _find_topics(page: Any, metas: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the tags and keywords."""
    tagged = [content for name, content in metas if name == "article:tag"]
    linked = [" ".join(node.text().split()) for node in page.css("a[rel~=tag]")]
    words = [word.strip() for word in dict(metas).get("keywords", "").split(",")]
    return tuple(dict.fromkeys(filter(None, (*tagged, *linked, *words))))


_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_DATE_KEYS = ("date", "pubDate", "publishDate", "publishdate", "published", "created", "datePublished")


def _first_text(values: Mapping[str, Any], *names: str) -> str:
    """Return the first of these values that is not empty, on one line."""
    found = (values.get(name) for name in names)
    texts = (" ".join(str(value).split()) for value in found if not isinstance(value, list | dict | bool | None))
    return next(filter(None, texts), "")


def _is_draft(values: Mapping[str, Any]) -> bool:
    """Return whether a page is a draft. `published` may also be a day."""
    draft, published = (str(values.get(name)).strip().lower() for name in ("draft", "published"))
    return draft in _TRUE or published in _FALSE


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
    content, heading = markdown_text(text[broken.end() if broken else end :])
    day = next(filter(None, (day_from_value(values.get(name)) for name in _DATE_KEYS)), "")
    warnings = []
    if not day and (unreadable := _first_text(values, *_DATE_KEYS)):
        warnings.append(f"{unreadable[:60]!r} is not a date that can be read; it is ignored.")
    if broken:
        warnings.append("the front matter is neither valid YAML nor valid TOML.")
    stated = _first_text(values, "description", "summary", "excerpt", "abstract", "subtitle")
    abstract = make_abstract(stated, content, heading)
    topics = (
        text for name in ("tags", "categories", "topics", "keywords") for text in _flatten_texts(values.get(name))
    )
    page = Page(
        _page_url(path, values),
        clean_text(_first_text(values, "title")) or heading or title_from_path(path),
        abstract,
        day,
        tuple(map(clean_text, dict.fromkeys(topics))),
        content or abstract,
    )
    return SourcePage(page, is_draft=_is_draft(values), warnings=tuple(warnings))


def _page_url(path: str, values: Mapping[str, Any]) -> str:
    if permalink := _first_text(values, "permalink", "url"):
        return permalink
    folder, _, name = f"/{path}".rpartition("/")
    if slug := _first_text(values, "slug"):
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
    found = read(path, data)
    if isinstance(found, str):
        return {"reason": found}, b""
    fields = asdict(found)
    text: str = fields["page"].pop("body")
    return fields, text.encode("utf-8", "surrogatepass")


def page_from_reply(fields: Fields, data: bytes) -> SourcePage | str:
    """Return the page in the reply of a parser process, or why the file is none."""
    if "reason" in fields:
        return str(fields["reason"])
    page = Page(**fields.pop("page"), body=data.decode("utf-8", "surrogatepass"))
    return SourcePage(replace(page, topics=tuple(page.topics)), **fields)
