"""Parsing of Markdown into a stream of events with their offsets in the source."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate
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


class MarkdownVisitor:
    """Passes the parts of a Markdown text to methods that a subclass overrides."""

    def __init__(self) -> None:
        self.is_done = False
        """Set to end the visit."""
        self.words: list[str] = []
        """The words that were added since the last call of `clear_words`, and those that describe images."""
        self.image_words: list[str] = []
        self.image_depth = 0

    def visit(self, markdown: str) -> None:
        """Visit a text from its beginning to its end."""
        markup: list[tuple[str, int]] = []
        for event, span in parse_markdown(markdown):
            if isinstance(event, str):
                self.add_words(" ")
                continue
            ((kind, value),) = event.items()
            if kind == "Text":
                self.visit_text(value, span["start"], span["end"])
            elif kind == "Start":
                name, details = (value, None) if isinstance(value, str) else next(iter(value.items()))
                self.start(name, details, span["start"], span["end"])
                self.image_depth += name == "Image"
            elif kind == "End":
                name = value if isinstance(value, str) else next(iter(value))
                if name == "HtmlBlock":
                    self._visit_pieces(markup)
                    markup.clear()
                self.image_depth -= name == "Image"
                self.end(name, span["end"])
            elif kind == "Code":
                self.add_words(value)
            elif kind == "Html":
                markup.append((value, span["start"]))
            elif kind == "InlineHtml":
                self._visit_pieces([(value, span["start"])])
            if self.is_done:
                return

    def _visit_pieces(self, pieces: list[tuple[str, int]]) -> None:
        starts = list(accumulate((len(piece) for piece, _ in pieces), initial=0))

        def offset_of(at: int) -> int:
            number = min(bisect_right(starts, at), len(pieces)) - 1
            piece, start = pieces[number]
            return start + len(piece[: at - starts[number]].encode())

        self.visit_html("".join(piece for piece, _ in pieces), offset_of)

    def add_words(self, words: str) -> None:
        """Add words of the text that is visited."""
        (self.image_words if self.image_depth else self.words).append(words)

    def clear_words(self) -> None:
        """Forget the words that were added."""
        self.words.clear()
        self.image_words.clear()

    def visit_text(self, text: str, start: int, end: int) -> None:  # noqa: ARG002 - few need the place
        """Visit a run of text between two offsets."""
        self.add_words(text)

    def visit_html(self, markup: str, offset_of: Callable[[int], int]) -> None:
        """Visit HTML, of which a function returns the offset in the text for a position in it."""

    def start(self, name: str, details: Any, start: int, end: int) -> None:
        """Visit the start of an element that stands between two offsets."""

    def end(self, name: str, end: int) -> None:
        """Visit the end of an element."""
