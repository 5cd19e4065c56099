"""Detection of private key files by their content, whatever their name.

A file is a private key when unquoted keys make up most of it. A key is unquoted when its
`-----BEGIN … PRIVATE KEY-----` is a whole line, real base64 follows, and the lines around it have no
quote mark, fence, bracket or here-document. Source code, tests and guides show keys in strings or
fences, so they are not denied. Certificates count as part of the key that they come with. Comments
and blank lines do not count.
"""

import re
from itertools import pairwise

from dowse.sources.binary import has_wide_bom

_KEY_MARKERS = (b"PRIVATE KEY", b"AGE-SECRET-KEY-1", b"PuTTY-User-Key-File-")
"""Every key contains one of these. Searching for each takes a twentieth of the time of one expression for all."""

_BEGIN = re.compile(rb"-{4,5} ?BEGIN ([A-Z0-9 ]+?) ?-{4,5}")
_END = re.compile(rb"-{4,5} ?END [A-Z0-9 ]+? ?-{4,5}")
_HEADER = re.compile(rb"[A-Za-z][A-Za-z0-9-]*: .*")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]+={0,2}|=[A-Za-z0-9+/]{4}")
_MIN_KEY_LINE_CHARACTERS = 32
"""The length that at least one line of a key has; a whole Ed25519 key has 64 characters."""

_AGE = re.compile(rb"AGE-SECRET-KEY-1[0-9A-Z]{50,}")
_PUTTY = re.compile(rb"PuTTY-User-Key-File-\d+:")

_OPENS_QUOTE = re.compile(rb"""["'`(\[{]\\?$|^(?:```|~~~|-{4,}$|<pre|<code)|<<""")
_CLOSES_QUOTE = re.compile(rb"""["'`)\]}~]|-{4,}$|</(?:pre|code)""")


def find_private_key(data: bytes) -> str | None:
    """Return the line that identifies a file as a private key, or None. It is never a part of the key itself."""
    if has_wide_bom(data):
        data = data.replace(b"\0", b"")[2:]
    if not any(mention in data for mention in _KEY_MARKERS):
        return None
    lines = [line.rstrip() for line in data.removeprefix(b"\xef\xbb\xbf").splitlines()]
    if _PUTTY.match(next(filter(None, lines), b"")):
        return "PuTTY-User-Key-File-…"
    marker, key_bytes = None, 0
    for start, end in _find_blocks(lines):
        begin = _BEGIN.fullmatch(lines[start])
        if begin is None:
            marker = marker or "AGE-SECRET-KEY-1…"
        elif b"PRIVATE KEY" in begin[1]:
            marker = marker or lines[start].decode()
        key_bytes += _count_bytes(lines[start:end])
    return marker if key_bytes * 2 > _count_bytes(lines) else None


def _find_blocks(lines: list[bytes]) -> list[tuple[int, int]]:
    """Return the first line of each unquoted key and certificate, and the line after its last."""
    starts = [at for at, line in enumerate(lines) if _BEGIN.fullmatch(line) or _AGE.fullmatch(line)]
    found = []
    for start, following in pairwise([*starts, len(lines)]):
        end = start + 1 if _AGE.fullmatch(lines[start]) else _find_block_end(lines, start, following)
        if end and not _is_quoted(lines, start, end):
            found.append((start, end))
    return found


def _find_block_end(lines: list[bytes], start: int, limit: int) -> int | None:
    """Return the line after a block, which the end of the file may cut short; None where no key follows."""
    longest = 0
    for at in range(start + 1, limit):
        line = lines[at].strip()
        if _END.fullmatch(line):
            return at + 1 if longest >= _MIN_KEY_LINE_CHARACTERS else None
        if _BASE64.fullmatch(line):
            longest = max(longest, len(line))
        elif line and not _HEADER.fullmatch(line):
            return None
    return limit if longest >= _MIN_KEY_LINE_CHARACTERS else None


def _is_quoted(lines: list[bytes], start: int, end: int) -> bool:
    before = lines[start - 1].strip() if start else b""
    after = lines[end].strip() if end < len(lines) else b""
    return bool(_OPENS_QUOTE.search(before) or _CLOSES_QUOTE.match(after))


def _count_bytes(lines: list[bytes]) -> int:
    return sum(len(line) for line in lines if not line.startswith(b"#"))
