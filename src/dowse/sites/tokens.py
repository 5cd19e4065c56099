"""Words in text, found by numpy in a few passes over its bytes: 50 MB a second and more, where Python does five.

A word is a run of letters and digits of ASCII in either case, or of other characters but the common signs; what is
not ASCII is looked at more closely where words are few, in the vocabulary. `C++` and `C#` are words.
"""

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]

_FACTOR = 0x9E3779B97F4A7C15 | 1
_WINDOW = 1 << 19
"""Bytes that are hashed at once; the powers of the factor for them are kept, 4 MB."""


_PUNCTUATION = re.compile(
    rb"\xc2[\x80-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf]|\xe2[\x80-\x81][\x80-\xbf]|\xe3\x80[\x80-\x84\x88-\xa0]|\xef\xbc[\x81-\x8f\x9a-\xa0]"
)
"""Typographic signs and spaces in UTF-8: they stand between words as their kin in ASCII do."""


class Words(NamedTuple):
    """The words of a text: what they are and where, in bytes."""

    hashes: Hashes
    starts: Places
    ends: Places


_LOWERED = bytes(byte if byte >= 0x80 else ord(chr(byte).lower()) if chr(byte).isalnum() else 0 for byte in range(256))
"""Bytes of words as they are compared; 0 for what stands between words."""


def _powers(factor: int) -> Hashes:
    powers = np.full(_WINDOW, factor, np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)


class Tokenizer:
    """Finds words; one for all that is read at a time."""

    def __init__(self) -> None:
        self._powers = _powers(_FACTOR)
        self._inverse = _powers(pow(_FACTOR, -1, 1 << 64))

    def words(self, text: bytes) -> Words:
        """All words of a text; of one without end, pieces."""
        if len(text) <= _WINDOW:
            return self._window(text)
        parts, start = [], 0
        while start < len(text):
            end = _break_before(text, start + _WINDOW)
            hashes, starts, ends = self._window(text[start:end])
            parts.append(Words(hashes, starts + start, ends + start))
            start = end
        return Words(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _window(self, text: bytes) -> Words:
        if not text.isascii():
            text = _PUNCTUATION.sub(_blank, text)
        lowered = np.frombuffer(text.translate(_LOWERED), np.uint8)
        is_word = np.zeros(len(lowered) + 2, np.bool_)
        np.not_equal(lowered, 0, out=is_word[1:-1])
        edges = np.flatnonzero(is_word[1:] != is_word[:-1])
        starts, ends = edges[::2], edges[1::2]
        sums = np.zeros(len(lowered) + 1, np.uint64)
        np.cumsum(lowered * self._powers[: len(lowered)], out=sums[1:])
        hashes = (sums[ends] - sums[starts]) * self._inverse[starts]
        ends = _with_signs(text, starts, ends)
        hashes += (ends - starts).astype(np.uint64) * np.uint64(_FACTOR)
        return Words(hashes, starts, ends)


def _blank(sign: re.Match[bytes]) -> bytes:
    return b" " * len(sign[0])


def _with_signs(text: bytes, starts: Places, ends: Places) -> Places:
    """The ends of words with the signs that belong to some: `C++`, `C#`."""
    if b"+" not in text and b"#" not in text:
        return ends
    codes = np.frombuffer(text + b"   ", np.uint8)
    single = np.flatnonzero((ends - starts == 1) & (codes[starts] > ord("9")) & (codes[starts] < 0x80))
    after = ends[single]
    is_plus = (codes[after] == ord("+")) & (codes[after + 1] == ord("+")) & ~_in_word(codes[after + 2])
    is_sharp = (codes[after] == ord("#")) & ~_in_word(codes[after + 1])
    ends = ends.copy()
    ends[single] += 2 * is_plus + is_sharp
    return ends


def _in_word(codes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.frombuffer(codes.tobytes().translate(_LOWERED), np.uint8) != 0
    return found


def _break_before(text: bytes, end: int) -> int:
    """A place at or before this one where no word is cut, if there is one near."""
    if end >= len(text):
        return len(text)
    at = max(text.rfind(b" ", end - 10_000, end), text.rfind(b"\n", end - 10_000, end))
    return at if at > 0 else end
