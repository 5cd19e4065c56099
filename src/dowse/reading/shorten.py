"""Shortening of titles and descriptions to a length that fits a list."""

import re
from pathlib import PurePosixPath

_DESCRIPTION_CHARS = 150
MAX_TITLE_CHARS = 300
"""Longer than any real heading: the whole title is searchable, so only abuse is cut."""


def shorten(text: str, limit: int = _DESCRIPTION_CHARS) -> str:
    """Return text on one line, cut at a word and ended with `…` if it is longer than the limit."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[:limit]
    at_word = cut.rpartition(" ")[0]
    # A language without spaces, or one very long word, is cut at the limit.
    kept = at_word if len(at_word) > limit // 2 else cut[:-1]
    return kept.rstrip(" ,;:.-") + "…"


def file_name(path: str) -> str:
    """Return the last part of a path."""
    return PurePosixPath(path).name


def file_stem(path: str) -> str:
    """Return the last part of a path, without its extension."""
    return PurePosixPath(path).stem


_PLACEHOLDER = re.compile(
    r"(?:microsoft )?(?:word|powerpoint|excel)(?: (?:document|presentation|-.*))?|document ?\d*|presentation ?\d*"
    r"|(?:powerpoint|slide) .{0,20}|unti?t?led.*|no title|titel|title|\(?anonymous\)?|print|layout \d+"
    r"|.*\.(?:docx?|dotx?|rtf|odt|pptx?|xlsx?|pdf|indd|qxd|fm|tex|dvi|ps|eps|html?|txt|pages|md|graffle|svg|cdr|ai)",
    re.IGNORECASE,
)
_PRINTED = re.compile(r"Microsoft (?:Word|PowerPoint|Excel) - (?P<title>.*)")


def clean_title(title: str) -> str:
    """Return a title from file properties; empty for a placeholder such as `Word Document` or `report_v2.docx`."""
    title = " ".join(title.split())
    printed = _PRINTED.fullmatch(title)
    title = printed["title"] if printed else title
    return "" if _PLACEHOLDER.fullmatch(title[:300]) else title


def split_keywords(keywords: str) -> tuple[str, ...]:
    """Split keywords at semicolons and commas."""
    words = (" ".join(word.split()) for word in re.split(r"[;,]", keywords[:2000]))
    return tuple(dict.fromkeys(filter(None, words)))
