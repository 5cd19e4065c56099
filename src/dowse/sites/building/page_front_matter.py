"""What a page states of itself before its text, read as generators read it."""

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
    """Front matter; what is not there is empty."""

    stated: Mapping[str, Any]

    def text(self, *names: str) -> str:
        """The first of these that says something."""
        for name in names:
            value = self.stated.get(name)
            if value is not None and not isinstance(value, list | dict | bool) and str(value).strip():
                return " ".join(str(value).split())
        return ""

    def flag(self, name: str) -> bool:
        """Whether something is stated to be so."""
        return str(self.stated.get(name)).strip().lower() in _TRUE

    def denies(self, name: str) -> bool:
        """Whether something is stated not to be so; `published` may also be a day."""
        return str(self.stated.get(name)).strip().lower() in _FALSE

    def several(self, *names: str) -> tuple[str, ...]:
        """All texts of these, each once."""
        found: dict[str, None] = {}
        for name in names:
            for value in _flatten_texts(self.stated.get(name)):
                found[value] = None
        return tuple(found)

    def table(self, name: str) -> "PageFrontMatter":
        """What is stated below a name."""
        value = self.stated.get(name)
        return PageFrontMatter(value if isinstance(value, dict) else {})

    @property
    def day(self) -> str:
        """The day of the page as YYYY-MM-DD."""
        return next(filter(None, (parse_day(self.stated.get(name)) for name in _DATE_KEYS)), "")

    @property
    def odd_day(self) -> str:
        """What is stated as the day and is none that we can read."""
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
    """A day as YYYY-MM-DD, however it is written; empty for what is none. A time zone does not move it."""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    text = " ".join(str(value).split()) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not text:
        return ""
    if match := _ISO_DAY.match(text):
        return _iso_day(*map(int, match.groups()))
    for way in _DATE_FORMATS:
        try:
            return datetime.strptime(text, way).date().isoformat()
        except ValueError:
            continue
    mailed = parsedate(text)
    return _iso_day(*mailed[:3]) if mailed else ""


def _iso_day(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""
