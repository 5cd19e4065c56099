"""Readers of plain text, and of prose in other markup languages."""

import re
from itertools import islice

from dowse.reading.decoding import Decoded
from dowse.reading.shorten import file_name, shorten
from dowse.types import Reading

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_RULE = re.compile(r"\s*([=\-~^#*+_.:\"'`])\1{2,}\s*$")
_HEAD_CHARS = 64 * 1024
_TITLE_PATTERNS = {
    "rst": re.compile(r"^(?P<title>[^\s.=~^#*+-].*)\n([=\-~^#*+_])\2{2,}[ \t]*$", re.MULTILINE),
    "asciidoc": re.compile(r"^=[ \t]+(?P<title>.+)", re.MULTILINE),
    "org": re.compile(r"^(?:#\+TITLE:|\*)[ \t]+(?P<title>.+)", re.MULTILINE | re.IGNORECASE),
}


def read_plain(decoded: Decoded, path: str) -> Reading:
    """Read plain text: the first line is the title, the next three are the description."""
    # A line of signs above or below a heading is a decoration, not the heading.
    lines = (match[1] for match in _LINE.finditer(decoded.text[:_HEAD_CHARS]) if not _RULE.match(match[1]))
    title, *following = islice(lines, 4)
    return decoded.to_reading(shorten(title) or file_name(path), shorten(" ".join(following)))


def read_prose(decoded: Decoded, path: str, language: str) -> Reading:
    """Read a text in another markup language: its heading is the title, else the file name."""
    pattern = _TITLE_PATTERNS.get(language)
    match = pattern.search("\n".join(decoded.text[:_HEAD_CHARS].splitlines())) if pattern else None
    return decoded.to_reading(shorten(match["title"] if match else "") or file_name(path))
