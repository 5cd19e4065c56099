"""Which encoding bytes are in that are not Unicode."""

import re
from collections.abc import Sequence

WESTERN = "cp1252"

_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH_PAIR = re.compile(rb"[\x80-\xff]{2}")
_BETWEEN_CHARACTERS = re.compile(rb"[\x00-\x2f]")
"""Bytes that are never the second half of a character."""
_SAMPLE_BYTES = 4096
"""Guessing takes a few milliseconds for this much, and more text does not change its mind."""
_MAX_CHAOS = 0.4
"""Twice the usual, since tables and lists of one language look messier than its prose."""
_MAX_FEW_HIGH_BYTES = 8


def guess_encoding(data: bytes, candidates: Sequence[str]) -> str:
    """The likeliest of the candidates, judged by a sample; Western European when nothing speaks for another."""
    sample = _sample_lines(data)
    # A name or two with an accent: too little to judge by, and Western far more often than not.
    if len(_HIGH.findall(sample)) <= _MAX_FEW_HIGH_BYTES and not _HIGH_PAIR.search(sample):
        return WESTERN
    return _detect_encoding(sample, candidates)


def _detect_encoding(sample: bytes, candidates: Sequence[str]) -> str:
    # Imported here because it takes 80 ms, and most projects are all UTF-8.
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
    """Only lines that are not ASCII, since the others say nothing about the encoding."""
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
    """A line from shortly before its first high byte on, not cut within a character."""
    start = max(0, high - 100)
    stop = _BETWEEN_CHARACTERS.search(line, start + _SAMPLE_BYTES, start + 2 * _SAMPLE_BYTES)
    return line[start : stop.start() if stop else start + 2 * _SAMPLE_BYTES]
