"""The context of a citation: the text around it, on one line."""

import re
from bisect import bisect_right
from functools import cached_property

from dowse.types import Link

CONTEXT_CHARACTERS = 100
"""Characters of context on either side of a citation."""
_MAX_CITATION_CHARACTERS = 300
"""A longer citation is cut to this length in its context; its full URL is given elsewhere."""
_WORD_BREAK_CHARACTERS = 20
"""Maximum distance by which the end of a context is moved to the gap between two words."""
_LINK_SEARCH_CHARACTERS = 4000
"""Characters after the start of its line in which a link is searched for: enough for a table row, or a label over several lines."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_PARAGRAPH_END = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)")


_TOKEN = re.compile(r"[A-Za-z0-9+/=_.~-]*")
"""Characters of API keys and tokens. A context never shows a part of one, as a part can no longer be recognized and masked."""


class CitationContexts:
    """The contexts of the citations in one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found_until: dict[tuple[int, str], int] = {}

    def line_of(self, at: int) -> int:
        """Return the line of a character, counted from 1."""
        return bisect_right(self._line_starts, at)

    def around(self, start: int, end: int) -> str:
        """Return a part of the text with the text around it, within its paragraph, with dots where it is cut."""
        text = self._text
        end = min(end, start + _MAX_CITATION_CHARACTERS)
        first, last = max(0, start - CONTEXT_CHARACTERS), min(len(text), end + CONTEXT_CHARACTERS)
        for found in _PARAGRAPH_END.finditer(text, first, start):
            first = found.end()
        if following := _PARAGRAPH_END.search(text, end, last):
            last = following.start()
        is_cut_before = first > 0 and text[first - 1] not in "\r\n"
        is_cut_after = last < len(text) and text[last] not in "\r\n"
        if is_cut_before:
            first = text.find(" ", first, min(first + _WORD_BREAK_CHARACTERS, start)) + 1 or _skip_token(
                text, first, start
            )
        if is_cut_after:
            last = max(text.rfind(" ", max(end, last - _WORD_BREAK_CHARACTERS), last), 0) or _cut_before_token(
                text, end, last
            )
        shown = " ".join(text[first:last].split())
        return ("..." if is_cut_before else "") + shown + ("..." if is_cut_after else "")

    def around_link(self, link: Link) -> str:
        """Return the text around a link, which is searched for from the start of its line."""
        start, end = self._find_link(link)
        return self.around(start, end)

    def _find_link(self, link: Link) -> tuple[int, int]:
        begin = self._line_starts[min(link.line, len(self._line_starts)) - 1] if link.line > 0 else 0
        if link.target.startswith("[["):
            needles = [link.target[:-2], link.text]
        else:
            needles = [f"[{link.text}]", link.target, link.text]
        for needle in filter(None, needles):
            search_from = max(begin, self._found_until.get((link.line, needle), begin))
            at = self._text.find(needle, search_from, begin + _LINK_SEARCH_CHARACTERS)
            if at >= 0:
                end = at + len(needle)
                if self._text.startswith("(", end):
                    end = min(
                        self._text.find(")", end, end + _LINK_SEARCH_CHARACTERS) + 1 or end,
                        end + _LINK_SEARCH_CHARACTERS,
                    )
                self._found_until[link.line, needle] = end
                return at, end
        return begin, begin

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self._text))]


def _skip_token(text: str, first: int, start: int) -> int:
    """Return the end of the very long word in which the start of a context falls."""
    found = _TOKEN.match(text, first, start)
    return found.end() if found else first


def _cut_before_token(text: str, end: int, last: int) -> int:
    """Return the start of the very long word in which the end of a context falls."""
    while last > end and _TOKEN.fullmatch(text[last - 1]):
        last -= 1
    return last
