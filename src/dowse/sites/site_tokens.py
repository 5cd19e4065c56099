"""A tokenizer in numpy. It processes 50 MB a second and more; Python code processes 5.

A word is a run of ASCII letters and digits and of non-ASCII characters except common punctuation. The vocabulary, which
has far fewer words than the text, splits non-ASCII words further. `C++` and `C#` are words.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Offsets = NDArray[np.int64]

_FACTOR = 0x9E3779B97F4A7C15 | 1
_WINDOW_BYTES = 1 << 16
"""Bytes hashed at once. The powers of the factor for one window take 0.5 MB."""


def _byte_table(*ranges: tuple[int, int]) -> NDArray[np.bool_]:
    table = np.zeros(256, np.bool_)
    for first, last in ranges:
        table[first : last + 1] = True
    return table


_LATIN_SIGNS = _byte_table((0x80, 0xA9), (0xAB, 0xB1), (0xB4, 0xB4), (0xB6, 0xB8), (0xBB, 0xBB), (0xBF, 0xBF))
_CJK_SIGNS = _byte_table((0x80, 0x84), (0x88, 0xA0))
_WIDE_SIGNS = _byte_table((0x81, 0x8F), (0x9A, 0xA0))
"""The last UTF-8 byte of typographic signs and spaces after C2, E3 80 and EF BC. After E2 80 and E2 81, all are signs."""


class TextWords(NamedTuple):
    """The words of a text: their hashes and their byte offsets."""

    hashes: Hashes
    starts: Offsets
    ends: Offsets


_LOWERCASE = bytes(
    byte if byte >= 0x80 else ord(chr(byte).lower()) if chr(byte).isalnum() else 0 for byte in range(256)
)
"""Each byte of a word in lower case; 0 for bytes between words."""


def _powers(factor: int) -> Hashes:
    powers = np.full(_WINDOW_BYTES, factor, np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)


class SiteTokenizer:
    """Splits text into words. Its tables are large, so create one instance and share it."""

    def __init__(self) -> None:
        self._powers = _powers(_FACTOR)
        self._inverse = _powers(pow(_FACTOR, -1, 1 << 64))

    def tokenize(self, text: bytes) -> TextWords:
        """Return all words of a text; a word longer than a window is cut."""
        if len(text) <= _WINDOW_BYTES:
            return self._tokenize_window(text)
        parts, start = [], 0
        while start < len(text):
            end = _break_before(text, start + _WINDOW_BYTES)
            hashes, starts, ends = self._tokenize_window(text[start:end])
            parts.append(TextWords(hashes, starts + start, ends + start))
            start = end
        return TextWords(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _tokenize_window(self, text: bytes) -> TextWords:
        padding = b"\0\0\0"  # lookups reach past the end
        lowered = np.frombuffer(text.translate(_LOWERCASE) + padding, np.uint8).copy()
        _clear_signs(lowered)
        length = len(text)
        is_word = np.zeros(length + 2, np.bool_)
        np.not_equal(lowered[:length], 0, out=is_word[1:-1])
        edges = np.flatnonzero(is_word[1:] != is_word[:-1])
        starts, ends = edges[::2], edges[1::2]
        sums = np.zeros(length + 1, np.uint64)
        np.cumsum(lowered[:length] * self._powers[:length], out=sums[1:])
        hashes = (sums[ends] - sums[starts]) * self._inverse[starts]
        ends = _include_signs(text, lowered, starts, ends)
        hashes += (ends - starts).astype(np.uint64) * np.uint64(_FACTOR)
        return TextWords(hashes, starts, ends)


def _clear_signs(lowered: NDArray[np.uint8]) -> None:
    """Clear typographic signs, so that they separate words as ASCII signs do."""
    leads = np.flatnonzero(lowered >= 0xC2)
    if not len(leads):
        return
    lead, second, third = lowered[leads], lowered[leads + 1], lowered[leads + 2]
    is_short = (lead == 0xC2) & _LATIN_SIGNS[second]
    is_long = (lead == 0xE2) & ((second == 0x80) | (second == 0x81))
    is_long |= (lead == 0xE3) & (second == 0x80) & _CJK_SIGNS[third]
    is_long |= (lead == 0xEF) & (second == 0xBC) & _WIDE_SIGNS[third]
    for byte in range(3):
        lowered[leads[is_long] + byte] = 0
        lowered[leads[is_short] + min(byte, 1)] = 0


def _include_signs(text: bytes, lowered: NDArray[np.uint8], starts: Offsets, ends: Offsets) -> Offsets:
    """Extend the ends of words over signs that belong to them: `C++`, `C#`."""
    if b"+" not in text and b"#" not in text:
        return ends
    codes = np.frombuffer(text + b"   ", np.uint8)
    single = np.flatnonzero((ends - starts == 1) & (codes[starts] > ord("9")) & (codes[starts] < 0x80))
    after = ends[single]
    is_plus = (codes[after] == ord("+")) & (codes[after + 1] == ord("+")) & (lowered[after + 2] == 0)
    is_sharp = (codes[after] == ord("#")) & (lowered[after + 1] == 0)
    ends = ends.copy()
    ends[single] += 2 * is_plus + is_sharp
    return ends


def _break_before(text: bytes, end: int) -> int:
    """Return the last position at or before `end` that cuts no word, if there is one near."""
    if end >= len(text):
        return len(text)
    at = max(text.rfind(b" ", end - 10_000, end), text.rfind(b"\n", end - 10_000, end))
    return at if at > 0 else end
