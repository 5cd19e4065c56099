"""Lists of AsciiDoc: nesting and numbering of their items."""

import re

ITEM = re.compile(r"[ \t]*(?P<marker>\*{1,6}|-|\.{1,6}|\d{1,6}\.|[a-zA-Z]\.|<(?:\d{1,3}|\.)>)[ \t]+(?P<text>\S.*)$")
TERM = re.compile(r"[ \t]*(?P<term>\S.{0,300}?)(?P<marker>:{2,4}|;;)(?:[ \t]+(?P<text>.*))?$")
_NUMBERED = re.compile(r"\.|\d|[a-zA-Z]|<")
_INDENT = "   "
"""Enough indentation for below a bullet and below a number, and too little for code."""


def match_item(line: str) -> re.Match[str] | None:
    """Match a line as a list item, or as a term with a definition."""
    return ITEM.match(line) or TERM.match(line)


class ListNesting:
    """The open lists by their markers; a new marker opens a list inside the last one."""

    def __init__(self) -> None:
        self._open: list[tuple[str, int]] = []

    def close(self) -> None:
        """End all lists."""
        self._open.clear()

    def item_prefix(self, match: re.Match[str]) -> str:
        """Return the indentation and the marker of an item in Markdown."""
        marker = re.sub(r"\w+|(?<=<)\.", "1", match["marker"])
        depth = next((index for index, (known, _) in enumerate(self._open) if known == marker), len(self._open))
        number = self._open[depth][1] + 1 if depth < len(self._open) else 1
        self._open[depth:] = [(marker, number)]
        is_numbered = match.re is ITEM and _NUMBERED.match(marker)
        return _INDENT * depth + (f"{number}. " if is_numbered else "- ")
