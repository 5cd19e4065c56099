"""Parsing of Markdown into a stream of events with their offsets in the source."""

import re
from collections.abc import Iterator
from typing import Any

_LONE_CR = re.compile(r"\r(?!\n)")

MarkdownEvents = Iterator[tuple[Any, dict[str, int]]]
"""Events as pulldown-cmark names them, each with its `start` and `end` byte offset in UTF-8."""

_INLINE_TAGS = frozenset({"Emphasis", "Strong", "Strikethrough", "Link", "Image"})


def named(event: Any) -> tuple[str, Any]:
    """Return the name and the value of an event or a tag."""
    return (event, None) if isinstance(event, str) else next(iter(event.items())) if event else ("", None)


def is_inline(tag: Any) -> bool:
    """Return whether a tag stands inside a block of text instead of being a block."""
    return named(tag)[0] in _INLINE_TAGS


def parse_markdown(markdown: str) -> MarkdownEvents:
    """Parse a Markdown text lazily, because a megabyte can contain a million events."""
    # Imported here because it takes 11 ms, and reading code does not need it.
    from pyromark import Options, events_with_range

    options = (
        Options.ENABLE_TABLES
        | Options.ENABLE_FOOTNOTES
        | Options.ENABLE_STRIKETHROUGH
        | Options.ENABLE_TASKLISTS
        | Options.ENABLE_GFM
    )
    # The parser misses code fences between lone CRs; replacing them with LFs changes no offset.
    markdown = _LONE_CR.sub("\n", markdown) if "\r" in markdown else markdown
    return events_with_range(markdown, options=options, merge_text=True)  # type: ignore[return-value]
