"""The lines of a passage as a reply shows them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from dowse.mcp.reply_budget import present
from dowse.searching.passages import Passage, first_match
from dowse.text.excerpts import cut_line


def passage_text(passage: Passage, terms: Mapping[str, float], max_line_characters: int) -> str:
    """Return the lines of a passage; a longer line is cut around its first match."""
    lines = passage.text.split("\n")
    if max(map(len, lines)) <= max_line_characters:
        return passage.text
    first = partial(first_match, terms=terms)
    return "\n".join(cut_line(line, max_line_characters, first) for line in lines)


def content_warnings(passage: Passage) -> dict[str, Any]:
    """Return the kinds of secrets that are masked in a passage, and its content warnings with their lines."""
    return present(masked=list(passage.masked), flags=list(passage.flags), flaggedLines=list(passage.flagged_lines))
