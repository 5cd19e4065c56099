"""Damaged inputs, made of samples by a seeded random number: the same number always makes the same input."""

import random
from collections.abc import Sequence

MAX_BYTES = 4096
"""Longer inputs take longer and find nothing more; large inputs are the business of the bombs."""

_INTERESTING = (
    b"\0", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
    b"\r", b"\r\n", b"\n\n", b"\t", b" ", b"\x1b[2J", b"\x85", "\u2028".encode(), "\u202e".encode(), "\u200b".encode(),
    "é".encode(), "İ".encode(), "ﬀ".encode(), "日本".encode(), "👩‍👩‍👧".encode(), b"\\", b'"', b"'", b"`", b"<", b">",
    b"(", b")", b"[", b"]", b"{", b"}", b"&#0;", b"&#x110000;", b"\\ud800", b"-1", b"0", b"1e309", b"9" * 40, b"NaN", b"null",
)  # fmt: skip
"""Bytes at which parsers stumble."""


def make_input(
    seed: object, samples: Sequence[bytes], tokens: Sequence[bytes] = (), max_bytes: int = MAX_BYTES
) -> bytes:
    """Return a sample with a few random changes; some inputs are samples as they are, or nothing but tokens."""
    dice = random.Random(str(seed))
    data = bytearray(dice.choice(samples))
    words = tokens if tokens and dice.random() < 0.7 else _INTERESTING
    if tokens and dice.random() < 0.1:
        data = bytearray(dice.choice((b" ", b"\n", b"")).join(dice.choices(tokens, k=dice.randrange(1, 200))))
    for _ in range(dice.choice((0, 1, 1, 2, 3, 5, 8, 16))):
        _change(dice, data, samples, words)
        del data[max_bytes:]
    return bytes(data)


def _change(dice: random.Random, data: bytearray, samples: Sequence[bytes], words: Sequence[bytes]) -> None:
    """Make one change of a random kind."""
    at, start = dice.randrange(len(data) + 1), dice.randrange(len(data) + 1)
    end = min(len(data), start + int(dice.expovariate(1 / 20)))
    match dice.randrange(12):
        case 0 | 1:
            data[at:at] = dice.choice(words)
        case 2:
            data[at:at] = dice.choice(words) * dice.choice((2, 3, 7, 50, 300))
        case 3:
            data[start:end] = dice.choice(words)
        case 4 if at < len(data):
            data[at] ^= 1 << dice.randrange(8)
        case 5 if at < len(data):
            data[at] = dice.randrange(256)
        case 6:
            del data[start:end]
        case 7:
            data[at:at] = data[start:end] * dice.choice((1, 1, 2, 20, 100))
        case 8:
            del data[at:]
        case 9:
            other = dice.choice(samples)
            data[start:end] = other[dice.randrange(len(other) + 1) :]
        case 10:
            lines = bytes(data).split(b"\n")
            one, another = dice.randrange(len(lines)), dice.randrange(len(lines))
            lines[one], lines[another] = lines[another], lines[one]
            data[:] = b"\n".join(lines)
        case 11:  # a slice between many copies of two tokens, as nesting does
            times = dice.choice((1, 3, 30, 200))
            data[start:end] = dice.choice(words) * times + data[start:end] + dice.choice(words) * times
