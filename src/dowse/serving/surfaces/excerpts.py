"""A few words around what was found, on one line."""

import re
from collections.abc import Mapping

from dowse.searching.passages import matches_in

CHARACTERS = 150

_SPACE = re.compile(r"\s+")


def excerpt(text: str, terms: Mapping[str, float], most: int = CHARACTERS) -> str:
    """The part of a passage around its first match, cut at words, with dots where it was cut."""
    line = _SPACE.sub(" ", text).strip()
    if len(line) <= most:
        return line
    spans = matches_in(line, terms)
    start = max(0, min(spans[0][0] - most // 3, len(line) - most)) if spans else 0
    end = start + most
    if start:
        start = line.find(" ", start, start + 20) + 1 or start
    if end < len(line):
        end = max(line.rfind(" ", end - 20, end), 0) or end
    return ("..." if start else "") + line[start:end] + ("..." if end < len(line) else "")
