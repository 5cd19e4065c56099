"""Title and description of plain text, and the title of prose in other markups."""

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
    """The first line as title, the next three as description."""
    # A line of signs above or below a heading is an ornament, not the heading.
    lines = (match[1] for match in _LINE.finditer(decoded.text[:_HEAD_CHARS]) if not _RULE.match(match[1]))
    title, *following = islice(lines, 4)
    return decoded.reading(shorten(title) or file_name(path), shorten(" ".join(following)))


def read_prose(decoded: Decoded, path: str, language: str) -> Reading:
    """The heading of a text in another markup language as title, else the file's name."""
    title = _TITLE_PATTERNS.get(language)
    match = title.search("\n".join(decoded.text[:_HEAD_CHARS].splitlines())) if title else None
    return decoded.reading(shorten(match["title"] if match else "") or file_name(path))
