"""Markdown as a stream of events with their places in the source."""

import re
from collections.abc import Iterator
from typing import Any

_LONE_CR = re.compile(r"\r(?!\n)")

MarkdownEvents = Iterator[tuple[Any, dict[str, int]]]
"""Events as pulldown-cmark names them, each with its `start` and `end` byte in UTF-8."""

_INLINE_TAGS = frozenset({"Emphasis", "Strong", "Strikethrough", "Link", "Image"})


def is_inline(tag: Any) -> bool:
    """Whether a tag stands inside a block of text instead of being one."""
    return (tag if isinstance(tag, str) else next(iter(tag))) in _INLINE_TAGS


def parse_markdown(markdown: str) -> MarkdownEvents:
    """The events of a Markdown text. Lazy, because a megabyte can hold a million of them."""
    # Imported here because it takes 11 ms, and code is read without it.
    from pyromark import Options, events_with_range

    options = (
        Options.ENABLE_TABLES
        | Options.ENABLE_FOOTNOTES
        | Options.ENABLE_STRIKETHROUGH
        | Options.ENABLE_TASKLISTS
        | Options.ENABLE_GFM
    )
    # The parser misses code fences between lone CRs; an LF in their place moves no offset.
    markdown = _LONE_CR.sub("\n", markdown) if "\r" in markdown else markdown
    return events_with_range(markdown, options=options, merge_text=True)  # type: ignore[return-value]
