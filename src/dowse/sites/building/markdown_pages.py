"""Pages from Markdown with front matter.

The URL of a page is its path without the extension; `index.md` and `README.md` are the page of their folder. `permalink`
and `url` in the front matter replace the path, and `slug` replaces its last part.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dowse.reading.dates import day_from_value
from dowse.reading.decoding import decode
from dowse.reading.front_matter import parse_front_matter
from dowse.sites.building.plain_text import SourcePage, clean_text, make_abstract, markdown_text, title_from_path

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
