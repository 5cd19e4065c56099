"""Text of an index where it must not be more than text: in the description of a tool, and on a line of a reply."""

import re
import unicodedata

_SPACES = re.compile(r"\s+")
_STRUCTURE = re.compile(r"""[<>{}\[\]`|#*~\\"“”„«»]+|--+|==+|__+""")
"""What marks up, quotes and draws lines: with it a name could look like the end of a description, or a new one."""


def one_line(text: str, most: int) -> str:
    """A text on one line, without characters that nobody sees, cut where it is longer."""
    line = _SPACES.sub(" ", text[: 4 * most])
    if not line.isprintable():  # which is quick to tell, and rare
        line = _SPACES.sub(" ", "".join(character if _is_visible(character) else " " for character in line))
    line = line.strip()
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def label(text: str, most: int) -> str:
    """The same without anything that has a meaning beside its words."""
    return one_line(_STRUCTURE.sub(" ", one_line(text, 4 * most)), most)


def remove_control_characters(text: str) -> str:
    """A text of many lines without control characters."""
    if text.isprintable():
        return text
    return "".join(character for character in text if character in "\n\t" or _is_visible(character))


def _is_visible(character: str) -> bool:
    """Not control, direction, zero width, private or half a character; these can hide words from people."""
    return character.isprintable() or unicodedata.category(character) == "Zs"
