"""Titles and keywords that a program may have put into a file by itself."""

import re

_PLACEHOLDER = re.compile(
    r"(?:microsoft )?(?:word|powerpoint|excel)(?: (?:document|presentation|-.*))?|document ?\d*|presentation ?\d*"
    r"|(?:powerpoint|slide) .{0,20}|unti?t?led.*|no title|titel|title|\(?anonymous\)?|print|layout \d+"
    r"|.*\.(?:docx?|dotx?|rtf|odt|pptx?|xlsx?|pdf|indd|qxd|fm|tex|dvi|ps|eps|html?|txt|pages|md|graffle|svg|cdr|ai)",
    re.IGNORECASE,
)
_PRINTED = re.compile(r"Microsoft (?:Word|PowerPoint|Excel) - (?P<title>.*)")


def clean_title(title: str) -> str:
    """A title from a file's properties, empty where nobody gave it: `Word Document`, `report_v2.docx`."""
    title = " ".join(title.split())
    printed = _PRINTED.fullmatch(title)
    title = printed["title"] if printed else title
    return "" if _PLACEHOLDER.fullmatch(title[:300]) else title


def split_keywords(keywords: str) -> tuple[str, ...]:
    """Keywords, which are separated by semicolons or commas."""
    words = (" ".join(word.split()) for word in re.split(r"[;,]", keywords[:2000]))
    return tuple(dict.fromkeys(filter(None, words)))
