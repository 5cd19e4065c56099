"""The front matter of a page: texts, topics, the date, and whether it is a draft."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from email.utils import parsedate
from typing import Any

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_ISO_DAY = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?![0-9])")
_DATE_FORMATS = ("%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y", "%Y%m%d", "%B %Y", "%b %Y")
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
        return next(filter(None, (parse_day(self.values.get(name)) for name in _DATE_KEYS)), "")

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


def parse_day(value: Any) -> str:
    """Parse a day in any common form into YYYY-MM-DD; empty if it is none. Ignore the time zone."""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    text = " ".join(str(value).split()) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not text:
        return ""
    if match := _ISO_DAY.match(text):
        return _iso_day(*map(int, match.groups()))
    for date_format in _DATE_FORMATS:
        try:
            return datetime.strptime(text, date_format).date().isoformat()
        except ValueError:
            continue
    parsed = parsedate(text)
    return _iso_day(*parsed[:3]) if parsed else ""


def _iso_day(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""
