"""Removal of markup and invisible characters from the text of an index, for tool descriptions and replies."""

import re
import unicodedata

_SPACES = re.compile(r"\s+")
_STRUCTURE = re.compile(r"""[<>{}\[\]`|#*~\\"“”„«»]+|--+|==+|__+""")
"""Markup, quotes and rules. With them, a name could look like the end of a description or the start of another."""


def one_line(text: str, max_characters: int) -> str:
    """Return a text on one line, without invisible characters, cut to a maximum length."""
    line = _SPACES.sub(" ", text[: 4 * max_characters])
    if not line.isprintable():  # quick to check, and rare
        line = _SPACES.sub(" ", "".join(character if _is_visible(character) else " " for character in line))
    line = line.strip()
    return line if len(line) <= max_characters else line[: max_characters - 1].rstrip() + "…"


def label(text: str, max_characters: int) -> str:
    """Return a text on one line, without invisible characters and without markup."""
    return one_line(_STRUCTURE.sub(" ", one_line(text, 4 * max_characters)), max_characters)


def remove_control_characters(text: str) -> str:
    """Remove control characters from a text of several lines."""
    if text.isprintable():
        return text
    return "".join(character for character in text if character in "\n\t" or _is_visible(character))


def _is_visible(character: str) -> bool:
    """Return whether a character is visible.

    Control, direction, zero-width and private characters and lone surrogates are not: they can hide words from people.
    """
    return character.isprintable() or unicodedata.category(character) == "Zs"
