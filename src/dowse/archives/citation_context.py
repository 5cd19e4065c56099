"""The words around a place in a text, on one line."""

import re
from bisect import bisect_right
from functools import cached_property

from dowse.types import Link

AROUND = 100
"""Characters of context on either side of a citation."""
_MOST_INSIDE = 300
"""Of a longer citation the beginning is shown: its address is given whole elsewhere."""
_CUT_AT_WORD = 20
"""How far the end of a context is moved to stand between two words."""
_NEAR = 4000
"""How far behind the beginning of its line a link is looked for: a table's row, or a label over several lines."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_PARAGRAPH_END = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)")


_LETTERS = re.compile(r"[A-Za-z0-9+/=_.~-]*")
"""What keys and tokens are made of. A part of one is not shown, for nobody could tell any more what it is."""


class Contexts:
    """The places in one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[tuple[int, str], int] = {}

    def line_of(self, at: int) -> int:
        """The line, from 1, of a character."""
        return bisect_right(self._lines, at)

    def around(self, start: int, end: int) -> str:
        """The text around a piece of it, within its paragraph, with dots where it was cut."""
        text = self._text
        end = min(end, start + _MOST_INSIDE)
        first, last = max(0, start - AROUND), min(len(text), end + AROUND)
        for found in _PARAGRAPH_END.finditer(text, first, start):
            first = found.end()
        if following := _PARAGRAPH_END.search(text, end, last):
            last = following.start()
        is_cut_before = first > 0 and text[first - 1] not in "\r\n"
        is_cut_after = last < len(text) and text[last] not in "\r\n"
        if is_cut_before:
            first = text.find(" ", first, min(first + _CUT_AT_WORD, start)) + 1 or _behind_letters(text, first, start)
        if is_cut_after:
            last = max(text.rfind(" ", max(end, last - _CUT_AT_WORD), last), 0) or _before_letters(text, end, last)
        shown = " ".join(text[first:last].split())
        return ("..." if is_cut_before else "") + shown + ("..." if is_cut_after else "")

    def of_link(self, link: Link) -> str:
        """The text around a link, which is looked for from the beginning of its line on."""
        start, end = self._place(link)
        return self.around(start, end)

    def _place(self, link: Link) -> tuple[int, int]:
        begin = self._lines[min(link.line, len(self._lines)) - 1] if link.line > 0 else 0
        if link.target.startswith("[["):
            needles = [link.target[:-2], link.text]
        else:
            needles = [f"[{link.text}]", link.target, link.text]
        for needle in filter(None, needles):
            since = max(begin, self._found.get((link.line, needle), begin))
            at = self._text.find(needle, since, begin + _NEAR)
            if at >= 0:
                end = at + len(needle)
                if self._text.startswith("(", end):
                    end = min(self._text.find(")", end, end + _NEAR) + 1 or end, end + _NEAR)
                self._found[link.line, needle] = end
                return at, end
        return begin, begin

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self._text))]


def _behind_letters(text: str, first: int, start: int) -> int:
    """Where a context begins that was cut within a very long word: behind it."""
    found = _LETTERS.match(text, first, start)
    return found.end() if found else first


def _before_letters(text: str, end: int, last: int) -> int:
    """Where a context ends that was cut within a very long word: before it."""
    while last > end and _LETTERS.fullmatch(text[last - 1]):
        last -= 1
    return last
