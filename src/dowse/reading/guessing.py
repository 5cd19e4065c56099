"""Which encoding bytes are in that are not Unicode."""

import re
from collections.abc import Sequence

WESTERN = "cp1252"

_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH_PAIR = re.compile(rb"[\x80-\xff]{2}")
_SAMPLE_BYTES = 4096
"""Guessing takes 1 ms for this much, and more text does not change its mind."""
_FEW = 8


def guess_encoding(data: bytes, candidates: Sequence[str]) -> str:
    """The likeliest of the candidates, judged by a sample; Western European when nothing speaks for another."""
    sample = _sample(data)
    # A name or two with an accent: too little to judge by, and Western far more often than not.
    if len(_HIGH.findall(sample)) <= _FEW and not _HIGH_PAIR.search(sample):
        return WESTERN
    return _likeliest(sample, candidates)


def _likeliest(sample: bytes, candidates: Sequence[str]) -> str:
    # Imported here because it takes 80 ms, and most projects are all UTF-8.
    from charset_normalizer import from_bytes

    matches = list(from_bytes(sample, cp_isolation=list(candidates), preemptive_behaviour=False))
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


def _sample(data: bytes) -> bytes:
    """Only lines that are not ASCII, since the others say nothing about the encoding."""
    pieces: list[bytes] = []
    room = _SAMPLE_BYTES
    for line in data.split(b"\n"):
        high = _HIGH.search(line)
        if high:
            start = max(0, high.start() - 100)
            pieces.append(line[start : start + room])
            room -= len(pieces[-1])
        if room <= 0:
            break
    return b"\n".join(pieces)
