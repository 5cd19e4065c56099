"""Dates as people and programs write them, as `2025-05-20`, or `2025-05` where no day is said."""

import re
from datetime import UTC, date, datetime
from typing import Any

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ISO = re.compile(r"(?<!\d)(\d{4})([-/._])(\d{1,2})\2(\d{1,2})(?!\d)")
_ISO_MONTH = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})(?![-/.]?\d)")
_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d{2})(\d{2})(\d{2})(?:T?\d{4,6}Z?)?(?!\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th)?[ -]([A-Za-z]{3,9})[a-z.]*[ ,-]+(\d{4})(?!\d)")
_MONTH_FIRST = re.compile(r"\b([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})(?!\d)")
_MONTH_ALONE = re.compile(r"\b([A-Za-z]{3,9})\.? (\d{4})(?!\d)")
_YEAR_PARTS = re.compile(r"(?:^|/)(\d{4})/(\d{1,2})(?:/(\d{1,2}))?(?=/)")
_MILLISECONDS = 10**11
"""Numbers from here on count milliseconds since 1970: as seconds they would be in the year 5138."""


def date_of(value: Any) -> str | None:
    """The date that a value of front matter or JSON states."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _of_number(value)
    return date_in(value) if isinstance(value, str) else None


def date_in(text: str) -> str | None:
    """The first date in a short text."""
    text = text[:200]
    if match := _ISO.search(text):
        return _made(match[1], match[3], match[4])
    if match := _DAY_FIRST.search(text):
        return _made(match[3], _month(match[2]), match[1])
    if match := _MONTH_FIRST.search(text):
        return _made(match[3], _month(match[1]), match[2])
    if match := _COMPACT.search(text):
        return _made(match[1], match[2], match[3])
    if match := _ISO_MONTH.search(text):
        return _made(match[1], match[2])
    if match := _MONTH_ALONE.search(text):
        return _made(match[2], _month(match[1]))
    return None


def date_of_path(path: str) -> str | None:
    """The date that a path has in the name of the file or, nearest first, of a folder: `2025-05-20/`, `2025/05/20/`."""
    for part in reversed(path.split("/")):
        for pattern, groups in ((_ISO, (1, 3, 4)), (_COMPACT, (1, 2, 3)), (_ISO_MONTH, (1, 2))):
            if (match := pattern.search(part)) and (found := _made(*(match[group] for group in groups))):
                return found
    match = _YEAR_PARTS.search(path)
    return _made(match[1], match[2], match[3]) if match else None


def _of_number(value: float) -> str | None:
    try:
        seconds = value / 1000 if value >= _MILLISECONDS else value
        return datetime.fromtimestamp(seconds, UTC).date().isoformat() if seconds > 0 else None
    except (OverflowError, OSError, ValueError):
        return None


def _month(name: str) -> str:
    return str(_MONTHS.index(name[:3].lower()) + 1) if name[:3].lower() in _MONTHS else "0"


def _made(year: str, month: str, day: str | None = None) -> str | None:
    try:
        made = date(int(year), int(month), int(day or 1))
    except ValueError:
        return None
    return made.isoformat() if day else made.isoformat()[:7]
