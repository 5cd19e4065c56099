"""Detection of private key files by their content, whatever their name and their encoding.

A file is a private key when unquoted keys make up most of it. A key is unquoted when real base64 follows its
`-----BEGIN … PRIVATE KEY-----`, and the text around it has no quote mark, fence, bracket or here-document. Source
code, tests and guides show keys in strings or fences, so they are not denied. Certificates count as part of the key
that they come with. Comments, blank lines, indentation and the marks of a quoted mail do not count.
"""

import re
from itertools import pairwise

from dowse.visible_text import strip_invisible

_KEY_MARKERS = (b"PRIVATE KEY", b"AGE-SECRET-KEY-1", b"PuTTY-User-Key-File-", b"BEGIN PKCS12", b"OpenVPN Static key")
"""Every key contains one of these. Searching for each takes a twentieth of the time of one expression for all."""

_WIDE_ENCODINGS = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
"""The encodings that put NUL bytes between the letters, and the bytes of a letter in each."""

_ARMOR = re.compile(r"(-{4,5} ?(?:BEGIN|END) [A-Za-z0-9 ]{1,60}-{4,5})")
_BEGIN = re.compile(r"-{4,5} ?BEGIN ([A-Za-z0-9 ]{1,60}?) ?-{4,5}")
_END = re.compile(r"-{4,5} ?END [A-Za-z0-9 ]{1,60}-{4,5}")
_KEY_LABEL = re.compile(r"PRIVATE KEY|PKCS12|OpenVPN Static key")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*: .*")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}|=[A-Za-z0-9+/]{4}")
_MIN_KEY_LINE_CHARACTERS = 32
"""The length that at least one line of a key has; a whole Ed25519 key has 64 characters."""

_AGE = re.compile(r"AGE-SECRET-KEY-1[0-9A-Z]{50,}")
_PUTTY = re.compile(r"PuTTY-User-Key-File-\d+:.*")
_START = re.compile(f"{_BEGIN.pattern}|{_AGE.pattern}|{_PUTTY.pattern}")

_LINE_PREFIXES = " \t>|*\ufffd"
"""Characters that may stand before a line of a key: indentation, the mark of a quoted mail, an unreadable byte."""
_COMMENT_MARKS = ("#", "//", ";")
_OPENS_QUOTE = re.compile(r"""["'`(\[{]\\?$|^(?:```|~~~|-{4,}$|<pre|<code)|<<""")
_CLOSES_QUOTE = re.compile(r"""["'`)\]}~]|-{4,}$|</(?:pre|code)""")


def find_private_key(data: bytes) -> str | None:
    """Return the line that identifies a file as a private key, or None. It is never a part of the key itself."""
    encoding = _find_encoding(data)
    if encoding is None:
        return None
    lines = _split_lines(data.decode(encoding, "replace"))
    marker, key_characters = None, 0
    for start, end in _find_blocks(lines):
        marker = marker or _key_marker(lines[start])
        key_characters += _count_characters(lines[start:end])
    return marker if key_characters * 2 > _count_characters(lines) else None


def _find_encoding(data: bytes) -> str | None:
    """Return the encoding in which a key may be in a file, with or without a byte order mark; None without a key."""
    if any(marker in data for marker in _KEY_MARKERS):
        return "utf-8"
    if b"\0" not in data:
        return None
    for encoding, width in _WIDE_ENCODINGS.items():
        found = (data.find(marker.decode().encode(encoding)) for marker in _KEY_MARKERS)
        # The bytes of one encoding are in the other, too, but not where a letter begins.
        if any(at >= 0 and at % width == 0 for at in found):
            return encoding
    return None


def _split_lines(text: str) -> list[str]:
    """Return the lines of a text without what may stand around them; each armor becomes a line of its own."""
    found: list[str] = []
    for line in strip_invisible(text).splitlines():
        if "----" in line:
            found += filter(None, map(_strip, _ARMOR.split(line)))
        else:
            found.append(line and _strip(line))
    return found


def _strip(line: str) -> str:
    line = line.strip().lstrip(_LINE_PREFIXES)
    return "" if line == "-" else line.removeprefix("- ").lstrip()  # the mark of a list


def _key_marker(line: str) -> str | None:
    """Return the marker of the key that begins with a line; None for a certificate."""
    if begin := _BEGIN.fullmatch(line):
        return line if _KEY_LABEL.search(begin[1]) else None
    return "AGE-SECRET-KEY-1…" if _AGE.fullmatch(line) else "PuTTY-User-Key-File-…"


def _find_blocks(lines: list[str]) -> list[tuple[int, int]]:
    """Return the first line of each unquoted key and certificate, and the line after its last."""
    starts = [at for at, line in enumerate(lines) if line and _START.fullmatch(line)]
    found = []
    for start, following in pairwise([*starts, len(lines)]):
        end = start + 1 if _AGE.fullmatch(lines[start]) else _find_block_end(lines, start, following)
        if end and not _is_quoted(lines, start, end):
            found.append((start, end))
    return found


def _find_block_end(lines: list[str], start: int, limit: int) -> int | None:
    """Return the line after a block, which the end of the file may cut short; None where no key follows."""
    longest, end = 0, limit
    for at in range(start + 1, limit):
        if _END.fullmatch(lines[at]):
            end = at + 1
            break
        if _BASE64.fullmatch(lines[at]):
            longest = max(longest, len(lines[at]))
        elif lines[at] and not _HEADER.fullmatch(lines[at]):
            if not _PUTTY.fullmatch(lines[start]):  # it has no last line
                return None
            end = at
            break
    return end if longest >= _MIN_KEY_LINE_CHARACTERS else None


def _is_quoted(lines: list[str], start: int, end: int) -> bool:
    before = lines[start - 1] if start else ""
    after = lines[end] if end < len(lines) else ""
    return bool(_OPENS_QUOTE.search(before) or _CLOSES_QUOTE.match(after))


def _count_characters(lines: list[str]) -> int:
    return sum(len(line) for line in lines if not line.startswith(_COMMENT_MARKS))
