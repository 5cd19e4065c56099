"""Numbers, sizes and times as people say them."""

from datetime import UTC, date, datetime

from dowse.page.markup import Html, html

_STEPS = ((60, "minute"), (3600, "hour"), (86_400, "day"))
_RECENT_DAYS = 30
"""Times up to so many days ago are said as such; older ones by their day."""


def plural(count: int, word: str, many: str = "") -> str:
    """Return a count with its word: `1 file`, `1,200 files`."""
    return f"{count:,} {word if count == 1 else many or word + 's'}"


def counted(counts: "dict[str, int]") -> str:
    """Return counts whose names are plurals, as statuses have them: `1 document, 12 chunks`."""
    return ", ".join(plural(count, name.removesuffix("s"), name) for name, count in counts.items())


def readable_size(size: int) -> str:
    """Return a size as text: `640 bytes`, `1.2 KB`, `45 MB`."""
    if size < 1000:
        return plural(size, "byte")
    value = float(size)
    for unit in ("KB", "MB"):
        value /= 1000
        if value < 1000:
            return f"{value:.0f} {unit}" if value >= 10 else f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} GB"


def said_ago(seconds: float) -> str:
    """Return how long ago something was; empty for a time that is better said by its day."""
    if seconds < 45:
        return "just now"
    if seconds >= _RECENT_DAYS * 86_400:
        return ""
    size, unit = next(((size, unit) for size, unit in reversed(_STEPS) if seconds >= size), _STEPS[0])
    return f"{plural(max(1, round(seconds / size)), unit)} ago"


def time_view(moment: str, now: datetime | None = None) -> Html | None:
    """Return an ISO time or day as people say it; the script adds the time of the reader's own clock."""
    try:
        is_day = len(moment) == len("2026-01-31")
        when = datetime.combine(date.fromisoformat(moment), datetime.min.time(), UTC) if is_day else _parse(moment)
    except ValueError:
        return html("{moment}", moment=moment) if moment else None
    day = f"{when.day} {when:%b %Y}"
    seconds = ((now or datetime.now(UTC)) - when).total_seconds()
    said = said_ago(seconds) or day
    if is_day and seconds < 2 * 86_400:
        said = "today" if seconds < 86_400 else "yesterday"
    exact = day if is_day else f"{day}, {when:%H:%M} UTC"
    return html('<time datetime="{moment}" title="{exact}">{said}</time>', moment=moment, exact=exact, said=said)


def _parse(moment: str) -> datetime:
    when = datetime.fromisoformat(moment)
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def time_of(nanoseconds: int) -> Html | None:
    """Return the time of a file's stat as people say it."""
    try:
        when = datetime.fromtimestamp(nanoseconds / 1_000_000_000, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return time_view(when.isoformat(timespec="seconds").replace("+00:00", "Z"))
