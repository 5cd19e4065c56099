"""The JSON of an index, page by page: as one value it would take several times the memory of the file."""

import codecs
import json
import re
from collections.abc import Callable
from json.decoder import JSONDecodeError
from typing import Any

from dowse.errors import NotASiteIndex

_STEP_BYTES = 1 << 20
"""Bytes that are decoded at once; doubled where a single value is longer."""
_SPACE = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode

OnPage = Callable[[int, Any], None]


def parse_index(
    data: bytes | bytearray, on_page: OnPage, on_restart: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """The root of an index, where `pages` is the number of pages if it was a list; each page is handed on.

    A key that comes twice counts as it came last, as everywhere; the pages seen before are then taken back.
    """
    try:
        return _IndexReader(data).root(on_page, on_restart)
    except (ValueError, RecursionError):
        on_restart()
    root = _parse_whole(data)  # says where it is wrong; reading it in pieces does not know the line
    if isinstance(root.get("pages"), list):
        for number, page in enumerate(root["pages"]):
            on_page(number, page)
        root["pages"] = len(root["pages"])
    return root


def _parse_whole(data: bytes | bytearray) -> dict[str, Any]:
    try:
        root = json.loads(data.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        raise NotASiteIndex(f"It is not UTF-8: byte {error.start:,} begins no character. Save it as UTF-8.") from error
    except JSONDecodeError as error:
        raise NotASiteIndex(
            f"It is not JSON: {error.msg}, line {error.lineno:,} column {error.colno:,}. Write it again, whole."
        ) from error
    except (RecursionError, ValueError) as error:  # thousands of brackets; a number of thousands of digits
        raise NotASiteIndex(
            "It is JSON of a kind that nobody writes: nested too deep, or with endless numbers."
        ) from error
    if not isinstance(root, dict):
        raise NotASiteIndex("It is JSON, but no object. An index begins with {.")
    return root


class _IndexReader:
    """Reads one object, decoding as much of it at a time as is needed."""

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = data
        self._text = ""
        self._at = 0
        """In the text."""
        self._end = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
        """Of the bytes that were decoded."""

    def root(self, on_page: OnPage, on_restart: Callable[[], None]) -> dict[str, Any]:
        root: dict[str, Any] = {}
        for key in self._keys():
            if key == "pages":
                if "pages" in root:
                    on_restart()
                root["pages"] = self._pages(on_page)
            else:
                root[key] = self._value()
        if self._peek():
            raise ValueError("more than one value")
        return root

    def _keys(self) -> Any:
        self._take("{")
        if self._peek() == "}":
            self._at += 1
            return
        while True:
            key = self._value()
            if not isinstance(key, str):
                raise ValueError("a key that is no text")
            self._take(":")
            yield key
            if self._peek() != ",":
                break
            self._at += 1
        self._take("}")

    def _pages(self, on_page: OnPage) -> Any:
        if self._peek() != "[":
            return self._value()
        self._at += 1
        count = 0
        if self._peek() == "]":
            self._at += 1
            return count
        while True:
            on_page(count, self._value())
            count += 1
            if self._peek() != ",":
                break
            self._at += 1
        self._take("]")
        return count

    def _take(self, expected: str) -> None:
        if self._peek() != expected:
            raise ValueError(f"{expected} is missing")
        self._at += 1

    def _peek(self) -> str:
        """The next character that is not space, at which we then stand; empty at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(_STEP_BYTES):
                return ""

    def _value(self) -> Any:
        self._peek()
        size = _STEP_BYTES
        while True:
            try:
                value, end = _decode(self._text, self._at)
            except (ValueError, StopIteration):
                if not self._more(size):
                    raise ValueError("no value") from None
                size *= 2
                continue
            if end == len(self._text) and self._more(size):  # a number may go on
                continue
            self._at = end
            return value

    def _more(self, size: int) -> bool:
        """Forget what was read and decode more of what follows; False where nothing follows."""
        if self._end >= len(self._data):
            return False
        rest = self._text[self._at :]
        decoder = codecs.getincrementaldecoder("utf-8")()
        piece = self._data[self._end : self._end + size]
        is_last = self._end + size >= len(self._data)
        text = decoder.decode(piece, is_last)
        kept = len(decoder.getstate()[0])
        self._end += len(piece) - kept
        self._text, self._at = rest + text, 0
        return True
