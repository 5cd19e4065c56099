"""Detection of the encoding of bytes that are not Unicode."""

import re
from collections.abc import Sequence

WESTERN = "cp1252"

_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH_PAIR = re.compile(rb"[\x80-\xff]{2}")
_BETWEEN_CHARACTERS = re.compile(rb"[\x00-\x2f]")
"""Bytes that are never the second byte of a character."""
_SAMPLE_BYTES = 4096
"""Detection takes a few milliseconds for this much text, and more text does not change the result."""
_MAX_CHAOS = 0.4
"""Twice the default of charset_normalizer, since tables and lists look messier than prose of the same language."""
_MAX_FEW_HIGH_BYTES = 8


def guess_encoding(data: bytes, candidates: Sequence[str]) -> str:
    """Return the most likely candidate, judged by a sample; Western European if there is no evidence for another."""
    sample = _sample_lines(data)
    # A name or two with an accent is too little evidence, and is Western in most cases.
    if len(_HIGH.findall(sample)) <= _MAX_FEW_HIGH_BYTES and not _HIGH_PAIR.search(sample):
        return WESTERN
    return _detect_encoding(sample, candidates)


def _detect_encoding(sample: bytes, candidates: Sequence[str]) -> str:
    # Imported here because it takes 80 ms, and most projects use only UTF-8.
    from charset_normalizer import from_bytes

    matches = list(from_bytes(sample, cp_isolation=list(candidates), threshold=_MAX_CHAOS, preemptive_behaviour=False))
    if not matches:
        return WESTERN
    best = min((match.chaos, -match.coherence) for match in matches)
    equals = {
        name
        for match in matches
        if (match.chaos, -match.coherence) == best
        for name in (match.encoding, *match.could_be_from_charset)
    }
    return next((name for name in candidates if name in equals), WESTERN)


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
