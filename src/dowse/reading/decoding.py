"""Decoding of bytes to text, which never fails and reports the encoding that it used."""

import codecs
import re
from functools import cache
from pathlib import Path
from typing import Any

from dowse.types import Reading

_WIDE_BOMS = (  # UTF-32 first: its little-endian mark begins with the mark of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HIGH_BYTES = bytes(range(0x80, 0x100))


def decode(data: bytes, declared: str | None = None) -> Reading:
    """Return any bytes as text, without a title; `declared` is the encoding that the file itself declares, if any."""
    decoded = _decode_with_bom(data) or _decode_utf8(data)
    if decoded is not None:
        return decoded
    encoding = _web_encoding(declared) or _guess_encoding(data)
    encoding = _web_encoding(encoding) or encoding
    try:
        return _converted(data.decode(encoding, "strict" if encoding == _WESTERN else "replace"), encoding)
    except UnicodeDecodeError:  # five bytes are undefined in cp1252; all are defined in Latin-1
        return _converted(data.decode("latin-1"), "latin-1")


def decode_without_guessing(data: bytes) -> Reading:
    """Decode any bytes in linear time; what is neither marked nor UTF-8 counts as Latin-1."""
    decoded = _decode_with_bom(data) or _decode_utf8(data)
    return decoded or _converted(data.decode("latin-1"), "latin-1")


def _converted(text: str, encoding: str) -> Reading:
    return Reading(text, "", encoding=encoding, is_verbatim=False)


@cache
def _encoding_tables() -> dict[str, Any]:
    import tomllib  # imported here because files in UTF-8 do not need it

    return tomllib.loads(Path(__file__).with_name("encodings.toml").read_text(encoding="utf-8"))


def _decode_with_bom(data: bytes) -> Reading | None:
    """Decode bytes that begin with a byte order mark."""
    if data.startswith(codecs.BOM_UTF8):
        start = len(codecs.BOM_UTF8)
        text = data[start:].decode("utf-8", "replace")
        return Reading(text, "", text_start=start, is_verbatim=data[start:] == text.encode("utf-8"))
    for mark, encoding in _WIDE_BOMS:
        if data.startswith(mark):
            return _converted(data[len(mark) :].decode(encoding, "replace"), encoding)
    return None


def _decode_utf8(data: bytes) -> Reading | None:
    """Decode UTF-8, also with stray bytes if they are few compared to the valid characters."""
    try:
        return Reading(data.decode("utf-8"), "")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    stray = text.count("\N{REPLACEMENT CHARACTER}")
    valid = len(text) - len(data.translate(None, _HIGH_BYTES)) - stray
    # In other encodings a pair of high bytes is well-formed UTF-8 only by chance.
    return _converted(text, "utf-8") if valid >= 2 * stray else None


def _web_encoding(declared: str | None) -> str | None:
    """Return the encoding that browsers use for a declared name, or None for a name that is not trusted."""
    try:
        name = codecs.lookup(declared).name if declared else ""
    except (LookupError, ValueError):
        return None
    known: dict[str, str] = _encoding_tables()["declared"]
    return known.get(name)


_WESTERN = "cp1252"

_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH_PAIR = re.compile(rb"[\x80-\xff]{2}")
_BETWEEN_CHARACTERS = re.compile(rb"[\x00-\x2f]")
"""Bytes that are never the second byte of a character."""
_SAMPLE_BYTES = 4096
"""Detection takes a few milliseconds for this much text, and more text does not change the result."""
_MAX_CHAOS = 0.4
"""Twice the default of charset_normalizer, since tables and lists look messier than prose of the same language."""
_MAX_FEW_HIGH_BYTES = 8


def _guess_encoding(data: bytes) -> str:
    """Return the most likely candidate, judged by a sample; Western European if there is no evidence for another."""
    sample = _sample_lines(data)
    # A name or two with an accent is too little evidence, and is Western in most cases.
    if len(_HIGH.findall(sample)) <= _MAX_FEW_HIGH_BYTES and not _HIGH_PAIR.search(sample):
        return _WESTERN
    # Imported here because it takes 80 ms, and most projects use only UTF-8.
    from charset_normalizer import from_bytes

    candidates: list[str] = list(_encoding_tables()["candidates"])
    matches = list(from_bytes(sample, cp_isolation=candidates, threshold=_MAX_CHAOS, preemptive_behaviour=False))
    best = min(((match.chaos, -match.coherence) for match in matches), default=None)
    equals = {
        name
        for match in matches
        if (match.chaos, -match.coherence) == best
        for name in (match.encoding, *match.could_be_from_charset)
    }
    return next((name for name in candidates if name in equals), _WESTERN)


def _sample_lines(data: bytes) -> bytes:
    """Return a sample of the lines that are not ASCII, since others say nothing about the encoding."""
    pieces: list[bytes] = []
    size = 0
    for line in data.split(b"\n"):
        if size >= _SAMPLE_BYTES:
            break
        if high := _HIGH.search(line):
            pieces.append(_cut_line(line, high.start()))
            size += len(pieces[-1])
    return b"\n".join(pieces)


def _cut_line(line: bytes, high: int) -> bytes:
    """Return a line from shortly before its first high byte on, not cut within a character."""
    start = max(0, high - 100)
    stop = _BETWEEN_CHARACTERS.search(line, start + _SAMPLE_BYTES, start + 2 * _SAMPLE_BYTES)
    return line[start : stop.start() if stop else start + 2 * _SAMPLE_BYTES]
