"""Titles and keywords from the properties of a file, without placeholders of the program that made it."""

import re

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
