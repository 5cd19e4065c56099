"""Detection of binary files, by the extension or by the first bytes."""

import codecs
from functools import cache
from pathlib import Path

HEAD_BYTES = 8192
_WIDE_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


@cache
def _suffixes() -> frozenset[str]:
    lines = Path(__file__).with_name("binary_suffixes.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(suffix for line in lines if not line.startswith("#") for suffix in line.split())


def binary_suffix(name: str) -> str | None:
    """Return the extension of a name if only binary files have it."""
    dot = name.rfind(".")
    suffix = name[dot:].lower() if dot > 0 else ""
    return suffix if suffix in _suffixes() else None


def has_wide_bom(data: bytes) -> bool:
    """Return whether a byte order mark declares UTF-16 or UTF-32, in which NUL bytes are normal."""
    return data.startswith(_WIDE_BOMS)


def find_nul_byte(data: bytes) -> int | None:
    """Return the position of a NUL byte in the first 8 KB; None also for UTF-16 and UTF-32 with a byte order mark."""
    if has_wide_bom(data):
        return None
    position = data.find(b"\0", 0, HEAD_BYTES)
    return position if position >= 0 else None
