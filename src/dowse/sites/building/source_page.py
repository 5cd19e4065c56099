"""A page as its file has it, in Markdown or HTML."""

import re
from dataclasses import dataclass

from dowse.sites.building.plain_text import clean_text, first_paragraph

ABSTRACT_CHARACTERS = 200
"""Maximum length of an abstract that is taken from the beginning of the page."""


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page as its file has it. Its fields are values of JSON."""

    url: str
    """The path that the page states, or that its file has."""
    title: str
    abstract: str
    day: str
    """YYYY-MM-DD; empty if the page has no date."""
    topics: tuple[str, ...]
    text: str
    """The plain text, in paragraphs."""
    host: str = ""
    """The host of the canonical URL; empty if the page states none."""
    is_draft: bool = False
    warnings: tuple[str, ...] = ()


def make_abstract(stated: str, text: str, heading: str) -> str:
    """Return the abstract that a page states, or else the beginning of its text without the heading."""
    first, _, rest = text.partition("\n\n")
    opening = rest if rest and " ".join(first.split()) == heading else text
    return clean_text(stated) or first_paragraph(opening, ABSTRACT_CHARACTERS)


def title_from_path(path: str) -> str:
    """Make a title from the file name of a page that has none."""
    words = re.sub(r"[-_]+", " ", path.rpartition("/")[2].rpartition(".")[0]).strip()
    return words[:1].upper() + words[1:] or "Untitled"
