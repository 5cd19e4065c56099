"""Removal of markup and invisible characters from the text of an index, for tool descriptions and replies."""

import re
import unicodedata

from dowse import visible_text

_STRUCTURE = re.compile(r"""[<>{}\[\]`|#*~\\"“”„«»]+|--+|==+|__+""")
"""Markup, quotes and rules. With them, a name could look like the end of a description or the start of another."""


def one_line(text: str, max_characters: int) -> str:
    """Return a text on one line, without invisible characters, cut to a maximum length."""
    return visible_text.one_line(text, max_characters, "…")


def label(text: str, max_characters: int) -> str:
    """Return a text on one line, without invisible characters and without markup."""
    return one_line(_STRUCTURE.sub(" ", one_line(text, 4 * max_characters)), max_characters)


def remove_control_characters(text: str) -> str:
    """Remove control, direction, zero-width and private characters from a text of several lines: they can hide words."""
    if text.isprintable():
        return text
    return "".join(one for one in text if one in "\n\t" or one.isprintable() or unicodedata.category(one) == "Zs")
