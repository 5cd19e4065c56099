"""Bytes to text, whatever they are: it never fails, and says what it did."""

import codecs
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dowse.reading.encoding_detection import guess_encoding
from dowse.types import Link, Reading

_WIDE_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HIGH_BYTES = bytes(range(0x80, 0x100))


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, and how it stands to the bytes it was made from (see `Reading`)."""

    text: str
    encoding: str
    text_start: int = 0
    is_verbatim: bool = False

    def reading(
        self, title: str, description: str = "", tags: tuple[str, ...] = (), links: tuple[Link, ...] = ()
    ) -> Reading:
        """This text together with what was found in it."""
        return Reading(self.text, title, description, tags, links, self.encoding, self.text_start, self.is_verbatim)


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """Text of any bytes; `declared` is the encoding the file itself claims, if it does."""
    decoded = _marked(data) or _wide(data) or _utf8(data)
    if decoded is not None:
        return decoded
    encoding = _as_browsers_read(declared) or guess_encoding(data, _encodings()["candidates"])
    return Decoded(*_text(data, _as_browsers_read(encoding) or encoding))


@cache
def _encodings() -> dict[str, Any]:
    import tomllib  # here because files in UTF-8 are read without it

    return tomllib.loads(Path(__file__).with_name("encodings.toml").read_text(encoding="utf-8"))


def _marked(data: bytes) -> Decoded | None:
    """Text that begins with a byte order mark."""
    if data.startswith(codecs.BOM_UTF8):
        start = len(codecs.BOM_UTF8)
        text = data[start:].decode("utf-8", "replace")
        return Decoded(text, "utf-8", start, data[start:] == text.encode("utf-8"))
    for mark, encoding in _WIDE_MARKS:
        if data.startswith(mark):
            return Decoded(data[len(mark) :].decode(encoding, "replace"), encoding)
    return None


def _wide(data: bytes) -> Decoded | None:
    """UTF-16 without a mark, when nearly every second byte is zero and no other one is."""
    sample = data[:4096]
    units = len(sample) // 2
    zeros = sample[0::2].count(0), sample[1::2].count(0)
    if units < 8 or min(zeros) or max(zeros) < 0.7 * units:
        return None
    encoding = "utf-16-le" if zeros[1] else "utf-16-be"
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError:
        return None


def _utf8(data: bytes) -> Decoded | None:
    """UTF-8, also where stray bytes are few beside the characters that are right."""
    try:
        return Decoded(data.decode("utf-8"), "utf-8", is_verbatim=True)
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    stray = text.count("\N{REPLACEMENT CHARACTER}")
    right = len(text) - len(data.translate(None, _HIGH_BYTES)) - stray
    # In other encodings a pair of high bytes is well-formed UTF-8 only by chance.
    return Decoded(text, "utf-8") if right >= 2 * stray else None


def _as_browsers_read(declared: str | None) -> str | None:
    """The encoding that a declared name stands for; None for a name that is not believed."""
    try:
        name = codecs.lookup(declared).name if declared else ""
    except (LookupError, ValueError):
        return None
    known: dict[str, str] = _encodings()["declared"]
    return known.get(name)


def _text(data: bytes, encoding: str) -> tuple[str, str]:
    if encoding != "cp1252":
        return data.decode(encoding, "replace"), encoding
    try:
        return data.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:  # five bytes mean nothing in cp1252, but all do in Latin-1
        return data.decode("latin-1"), "latin-1"
