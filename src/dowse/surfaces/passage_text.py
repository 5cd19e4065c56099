"""The lines of a passage as a reply shows them."""

from collections.abc import Mapping
from typing import Any

from dowse.mcp.reply_budget import present
from dowse.searching.passages import Passage, first_match


def passage_text(passage: Passage, terms: Mapping[str, float], max_line_characters: int) -> str:
    """Return the lines of a passage; a longer line is cut around its first match."""
    return "\n".join(_cut_line(line, terms, max_line_characters) for line in passage.text.split("\n"))


def _cut_line(line: str, terms: Mapping[str, float], max_characters: int) -> str:
    if len(line) <= max_characters:
        return line
    start = max(0, (first_match(line, terms) or 0) - max_characters // 4)
    end = start + max_characters
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def content_warnings(passage: Passage) -> dict[str, Any]:
    """Return the kinds of secrets that are masked in a passage, and its content warnings with their lines."""
    return present(masked=list(passage.masked), flags=list(passage.flags), flaggedLines=list(passage.flagged_lines))
