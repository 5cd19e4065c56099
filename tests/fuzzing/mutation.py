"""Damaged inputs, made of samples by a seeded random number: the same number always makes the same input."""

import random
from collections.abc import Callable, Sequence

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
        dice.choice(_CHANGES)(dice, data, samples, words)
        del data[max_bytes:]
    return bytes(data)


def _slice(dice: random.Random, data: Sequence[object]) -> tuple[int, int]:
    start = dice.randrange(len(data) + 1)
    return start, min(len(data), start + int(dice.expovariate(1 / 20)))


def _insert_token(dice: random.Random, data: bytearray, _samples: Sequence[bytes], words: Sequence[bytes]) -> None:
    at = dice.randrange(len(data) + 1)
    data[at:at] = dice.choice(words)


def _repeat_token(dice: random.Random, data: bytearray, _samples: Sequence[bytes], words: Sequence[bytes]) -> None:
    at = dice.randrange(len(data) + 1)
    data[at:at] = dice.choice(words) * dice.choice((2, 3, 7, 50, 300))


def _replace_by_token(dice: random.Random, data: bytearray, _samples: Sequence[bytes], words: Sequence[bytes]) -> None:
    start, end = _slice(dice, data)
    data[start:end] = dice.choice(words)


def _flip_bit(dice: random.Random, data: bytearray, _samples: Sequence[bytes], _words: Sequence[bytes]) -> None:
    if data:
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def _set_byte(dice: random.Random, data: bytearray, _samples: Sequence[bytes], _words: Sequence[bytes]) -> None:
    if data:
        data[dice.randrange(len(data))] = dice.randrange(256)


def _delete_slice(dice: random.Random, data: bytearray, _samples: Sequence[bytes], _words: Sequence[bytes]) -> None:
    start, end = _slice(dice, data)
    del data[start:end]


def _copy_slice(dice: random.Random, data: bytearray, _samples: Sequence[bytes], _words: Sequence[bytes]) -> None:
    start, end = _slice(dice, data)
    at = dice.randrange(len(data) + 1)
    data[at:at] = data[start:end] * dice.choice((1, 1, 2, 20, 100))


def _cut_off(dice: random.Random, data: bytearray, _samples: Sequence[bytes], _words: Sequence[bytes]) -> None:
    del data[dice.randrange(len(data) + 1) :]


def _splice(dice: random.Random, data: bytearray, samples: Sequence[bytes], _words: Sequence[bytes]) -> None:
    other = dice.choice(samples)
    start, end = _slice(dice, data)
    data[start:end] = other[dice.randrange(len(other) + 1) :]


def _exchange_lines(dice: random.Random, data: bytearray, _samples: Sequence[bytes], _words: Sequence[bytes]) -> None:
    lines = bytes(data).split(b"\n")
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    data[:] = b"\n".join(lines)


def _wrap(dice: random.Random, data: bytearray, _samples: Sequence[bytes], words: Sequence[bytes]) -> None:
    """Put a slice between many copies of two tokens, as nesting does."""
    start, end = _slice(dice, data)
    times = dice.choice((1, 3, 30, 200))
    data[start:end] = dice.choice(words) * times + data[start:end] + dice.choice(words) * times


_Change = Callable[[random.Random, bytearray, Sequence[bytes], Sequence[bytes]], None]
_CHANGES: tuple[_Change, ...] = (
    _insert_token, _insert_token, _repeat_token, _replace_by_token, _flip_bit, _set_byte, _delete_slice,
    _copy_slice, _cut_off, _splice, _exchange_lines, _wrap,
)  # fmt: skip
