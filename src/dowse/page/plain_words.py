"""Numbers and times as people say them."""

from datetime import UTC, datetime

from dowse.page.markup import Html, html


def plural(count: int, word: str, many: str = "") -> str:
    """Return a count with its word: `1 file`, `1,200 files`."""
    return f"{count:,} {word if count == 1 else many or word + 's'}"


def counted(counts: "dict[str, int]") -> str:
    """Return counts whose names are plurals, as statuses have them: `1 document, 12 chunks`."""
    return ", ".join(plural(count, name.removesuffix("s"), name) for name, count in counts.items())


def time_view(moment: str) -> Html | None:
    """Return an ISO time or day as people write it; the script says how long ago a time was, by the reader's clock."""
    try:
        when = _parse(moment)
    except ValueError:
        return html("{moment}", moment=moment) if moment else None
    said = f"{when.day} {when:%b %Y}" + (f", {when:%H:%M} UTC" if "T" in moment else "")
    return html('<time datetime="{moment}">{said}</time>', moment=moment, said=said)


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
