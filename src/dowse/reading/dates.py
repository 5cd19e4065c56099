"""Parsing of dates as people and programs write them, into `2025-05-20`, or `2025-05` where no day is given."""

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
_WRITTEN = (
    (_ISO, (1, 3, 4)), (_DAY_FIRST, (3, 2, 1)), (_MONTH_FIRST, (3, 1, 2)), (_COMPACT, (1, 2, 3)), (_ISO_MONTH, (1, 2)),
    (_MONTH_ALONE, (2, 1)),
)  # fmt: skip
"""Ways to write a date, of which the first decides, with the groups of the year, the month and the day."""
_MIN_MILLISECONDS = 10**11
"""Numbers from here on are milliseconds since 1970; as seconds they would be in the year 5138."""


def date_from_value(value: Any) -> str | None:
    """Return the date in a value of front matter or JSON."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _date_from_timestamp(value)
    if isinstance(value, date):  # TOML has dates
        return value.isoformat()[:10]
    return find_date(value) if isinstance(value, str) else None


def day_from_value(value: Any) -> str:
    """Return the date in a value as a day, the first of a month that is given alone; empty without one."""
    found = date_from_value(value) or ""
    return f"{found}-01" if len(found) == len("2025-05") else found


def find_date(text: str) -> str | None:
    """Return the first date in a short text."""
    found = ((pattern.search(text[:200]), groups) for pattern, groups in _WRITTEN)
    match, groups = next((one for one in found if one[0]), (None, ()))
    return _iso_date(*(match[group] for group in groups)) if match else None


def find_date_in_path(path: str) -> str | None:
    """Return the date in the name of the file or, nearest first, of a folder: `2025-05-20/`, `2025/05/20/`."""
    for part in reversed(path.split("/")):
        for pattern, groups in ((_ISO, (1, 3, 4)), (_COMPACT, (1, 2, 3)), (_ISO_MONTH, (1, 2))):
            if (match := pattern.search(part)) and (found := _iso_date(*(match[group] for group in groups))):
                return found
    match = _YEAR_PARTS.search(path)
    return _iso_date(match[1], match[2], match[3]) if match else None


def _date_from_timestamp(value: float) -> str | None:
    try:
        seconds = value / 1000 if value >= _MIN_MILLISECONDS else value
        return datetime.fromtimestamp(seconds, UTC).date().isoformat() if seconds > 0 else None
    except (OverflowError, OSError, ValueError):
        return None


def _iso_date(year: str, month: str, day: str | None = None) -> str | None:
    try:
        number = int(month) if month.isdecimal() else _MONTHS.index(month[:3].lower()) + 1
        parsed = date(int(year), number, int(day or 1))
    except ValueError:
        return None
    return parsed.isoformat() if day else parsed.isoformat()[:7]
