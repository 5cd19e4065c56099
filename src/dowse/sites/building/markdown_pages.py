"""Pages from Markdown: front matter, plain text and opening."""

import json
import re
from dataclasses import dataclass
from typing import Any

from dowse.reading.decoding import decode
from dowse.reading.front_matter import parse_front_matter
from dowse.reading.mdx import read_mdx
from dowse.sites.building.plain_text import markdown_text

MAX_FRONT_MATTER_CHARACTERS = 64 * 1024
MAX_FRONT_MATTER_DEPTH = 32
"""Values that are nested deeper are left out; real front matter has two or three levels."""

_BROKEN_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\r?\n(?:[^\n]*\n){0,500}?\1[ \t]*\r?(?:\n|\Z)")
_MORE_MARKER = re.compile(r"<!--\s*(?:more|truncate)\s*-->|\{/\*\s*truncate\s*\*/\}")


@dataclass(frozen=True, slots=True)
class MarkdownPage:
    """A page as its Markdown file has it."""

    values: dict[str, Any]
    """The front matter, in values of JSON."""
    text: str
    """The plain text, in paragraphs."""
    heading: str
    """The first heading of level 1, or else the first heading."""
    opening: str | None
    """The text before the marker that ends the summary; None if there is no marker."""
    has_front_matter: bool
    has_broken_front_matter: bool
    """Whether the file begins with front matter that cannot be parsed."""


def read_markdown_page(path: str, data: bytes, *, is_mdx: bool) -> MarkdownPage:
    """Read the Markdown file of a page."""
    text = read_mdx(data, path).text if is_mdx else decode(data).text
    values, end = parse_front_matter(text)
    if not end and text.startswith("{"):
        values, end = _json_front_matter(text)
    broken = None if end else _BROKEN_FRONT_MATTER.match(text, 0, MAX_FRONT_MATTER_CHARACTERS)
    markdown = text[broken.end() if broken else end :]
    content = markdown_text(markdown)
    marker = _MORE_MARKER.search(markdown)
    opening = markdown_text(markdown[: marker.start()]).text if marker else None
    return MarkdownPage(json_value(values), content.text, content.heading, opening, bool(end), broken is not None)


def json_value(value: Any, depth: int = MAX_FRONT_MATTER_DEPTH) -> Any:
    """Return a value of front matter or of settings as JSON can hold it: dates become text."""
    if isinstance(value, dict):
        return {str(name): json_value(item, depth - 1) for name, item in value.items()} if depth else None
    if isinstance(value, list):
        return [json_value(item, depth - 1) for item in value] if depth else None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _json_front_matter(text: str) -> tuple[dict[str, Any], int]:
    """Parse front matter in JSON, which some generators accept; return it and its end."""
    try:
        values, end = json.JSONDecoder().raw_decode(text[:MAX_FRONT_MATTER_CHARACTERS])
    except (ValueError, RecursionError):
        return {}, 0
    return (values, end) if isinstance(values, dict) and text[end : end + 1] in ("\n", "\r", "") else ({}, 0)
