"""HTML that is escaped by default: a template is ours, a value is text unless it is HTML already; numbers and times as people say them."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html import escape
from typing import Any

from dowse.visible_text import pluralize


class Html(str):
    """Text that is HTML; everything else is escaped when it is put into HTML."""

    __slots__ = ()


def html(template: str, /, **values: Any) -> Html:
    """Return a template with values in the places of `{name}`; put a place for an attribute between double quotes."""
    return Html(template.format(**{name: render(value) for name, value in values.items()}))


def tag(name: str, /, *content: Any, **attributes: str | int | bool | None) -> Html:
    """Return an element with its content; nothing if there is no content.

    An attribute that is None or False is left out. Write `class_` for `class` and `data_line` for `data-line`.
    """
    inner = render(content)
    if not inner:
        return inner
    given = [
        (one.strip("_").replace("_", "-"), value)
        for one, value in attributes.items()
        if value is not None and value is not False
    ]
    written = "".join(f" {one}" if value is True else f' {one}="{render(value)}"' for one, value in given)
    return Html(f"<{name}{written}>{inner}</{name}>")


def link(address: str, *content: Any, **attributes: str | int | bool | None) -> Html:
    """Return a link."""
    return tag("a", *content, href=address, **attributes)


def about(*content: Any) -> Html:
    """Return a word about what stands before it."""
    return tag("span", *content, class_="about")


def facts(values: Iterable[Any]) -> list[Html]:
    """Return short facts that follow each other; those that are empty are left out."""
    return [tag("span", value, class_="fact") for value in values]


def late(address: str) -> Html:
    """Return a place for a part that the script asks for."""
    return html('<div data-part="{address}" hidden></div>', address=address)


def render(value: Any) -> Html:
    """Return a value as HTML: text is escaped, None is nothing, the members of a list follow each other."""
    if isinstance(value, Html):
        return value
    if value is None:
        return Html()
    if isinstance(value, str | int | float):
        return Html(escape(str(value)))
    if isinstance(value, Iterable):
        return Html("".join(map(render, value)))
    raise TypeError(f"a {type(value).__name__} is no text")


def encode(markup: Html) -> bytes:
    """Return HTML as bytes; a lone surrogate, which a file name may have, becomes a question mark."""
    return markup.encode("utf-8", "replace")


def counted(counts: Mapping[str, int]) -> str:
    """Return counts whose names are plurals, as statuses have them, without the chunks: `1 document, 12 files`."""
    shown = {name: count for name, count in counts.items() if name != "chunks"}
    return ", ".join(pluralize(count, name.removesuffix("s"), name) for name, count in shown.items())


def time_view(moment: str) -> Html | None:
    """Return an ISO time or day as people write it; the script says how long ago a time was, by the reader's clock."""
    try:
        when = datetime.fromisoformat(moment)
    except ValueError:
        return html("{moment}", moment=moment) if moment else None
    said = f"{when.day} {when:%b %Y}" + (f", {when:%H:%M} UTC" if "T" in moment else "")
    return html('<time datetime="{moment}">{said}</time>', moment=moment, said=said)


def time_of(nanoseconds: int) -> Html | None:
    """Return the time of a file's stat as people say it."""
    try:
        when = datetime.fromtimestamp(nanoseconds / 1_000_000_000, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return time_view(when.isoformat(timespec="seconds").replace("+00:00", "Z"))
