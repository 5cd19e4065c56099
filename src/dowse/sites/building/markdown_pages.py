"""Pages from Markdown with front matter.

The URL of a page is its path without the extension; `index.md` and `README.md` are the page of their folder. `permalink`
and `url` in the front matter replace the path, and `slug` replaces its last part.
"""

import re

from dowse.reading.decoding import decode
from dowse.reading.front_matter import parse_front_matter
from dowse.sites.building.page_front_matter import PageFrontMatter
from dowse.sites.building.plain_text import clean_text, markdown_text
from dowse.sites.building.source_page import SourcePage, make_abstract, title_from_path

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
