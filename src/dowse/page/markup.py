"""HTML that is escaped by default: a template is ours, a value is text unless it is HTML already."""

from collections.abc import Iterable
from html import escape
from typing import Any


class Html(str):
    """Text that is HTML; everything else is escaped when it is put into HTML."""

    __slots__ = ()


def html(template: str, /, **values: Any) -> Html:
    """Return a template with values in the places of `{name}`; put a place for an attribute between double quotes."""
    return Html(template.format(**{name: render(value) for name, value in values.items()}))


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
