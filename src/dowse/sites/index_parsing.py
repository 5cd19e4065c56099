"""Parsing of an index page by page. Parsed as one value, it would take several times the memory of the file."""

import codecs
import json
import re
from collections.abc import Callable
from json.decoder import JSONDecodeError
from typing import Any

from dowse.errors import NotASiteIndex

_STEP_BYTES = 1 << 20
"""Bytes decoded at once; doubled while a single value is longer."""
_SPACE = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode

OnPage = Callable[[int, Any], object]


def parse_index(
    data: bytes | bytearray, on_page: OnPage, on_restart: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """Parse an index, call `on_page` for each page and return the root object.

    In the root, `pages` is the number of pages if it is a list. If the key `pages` occurs twice, the last one counts,
    as in other JSON parsers: `on_restart` tells the caller to drop the pages passed before.
    """
    try:
        return _IndexReader(data).read_root(on_page, on_restart)
    except (ValueError, RecursionError):
        on_restart()
    root = _parse_whole(data)  # its errors name the line, which the piecewise reader does not know
    if isinstance(root.get("pages"), list):
        for number, page in enumerate(root["pages"]):
            on_page(number, page)
        root["pages"] = len(root["pages"])
    return root


def _parse_whole(data: bytes | bytearray) -> dict[str, Any]:
    try:
        root = json.loads(data.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        raise NotASiteIndex(
            f"It is not UTF-8: the byte at position {error.start:,} is invalid. Save it as UTF-8."
        ) from error
    except JSONDecodeError as error:
        raise NotASiteIndex(
            f"It is not JSON: {error.msg}, line {error.lineno:,} column {error.colno:,}. Generate the file again."
        ) from error
    except (RecursionError, ValueError) as error:  # thousands of brackets, or a number with thousands of digits
        raise NotASiteIndex(
            "It is nested too deeply, or has a number with thousands of digits. Generate the file again."
        ) from error
    if not isinstance(root, dict):
        raise NotASiteIndex("It is JSON, but not an object. An index begins with {.")
    return root


class _IndexReader:
    """Reads the root object, decoding only as much at a time as it needs."""

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = data
        self._text = ""
        self._at = 0
        """The position in the text."""
        self._end = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
        """The end of the decoded bytes."""

    def read_root(self, on_page: OnPage, on_restart: Callable[[], None]) -> dict[str, Any]:
        root: dict[str, Any] = {}
        for key in self._read_keys():
            if key == "pages":
                if "pages" in root:
                    on_restart()
                root["pages"] = self._read_pages(on_page)
            else:
                root[key] = self._read_value()
        if self._peek():
            raise ValueError("more than one value")
        return root

    def _read_keys(self) -> Any:
        self._expect("{")
        if self._peek() == "}":
            self._at += 1
            return
        while True:
            key = self._read_value()
            if not isinstance(key, str):
                raise ValueError("a key that is no text")
            self._expect(":")
            yield key
            if self._peek() != ",":
                break
            self._at += 1
        self._expect("}")

    def _read_pages(self, on_page: OnPage) -> Any:
        if self._peek() != "[":
            return self._read_value()
        self._at += 1
        count = 0
        if self._peek() == "]":
            self._at += 1
            return count
        while True:
            on_page(count, self._read_value())
            count += 1
            if self._peek() != ",":
                break
            self._at += 1
        self._expect("]")
        return count

    def _expect(self, expected: str) -> None:
        if self._peek() != expected:
            raise ValueError(f"{expected} is missing")
        self._at += 1

    def _peek(self) -> str:
        """Skip whitespace and return the next character without consuming it; empty at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._decode_more(_STEP_BYTES):
                return ""

    def _read_value(self) -> Any:
        self._peek()
        size = _STEP_BYTES
        while True:
            try:
                value, end = _decode(self._text, self._at)
            except (ValueError, StopIteration):
                if not self._decode_more(size):
                    raise ValueError("no value") from None
                size *= 2
                continue
            if end == len(self._text) and self._decode_more(size):  # a number may continue
                continue
            self._at = end
            return value

    def _decode_more(self, size: int) -> bool:
        """Drop the text already read and decode more; return False if there is no more."""
        if self._end >= len(self._data):
            return False
        rest = self._text[self._at :]
        decoder = codecs.getincrementaldecoder("utf-8")()
        piece = self._data[self._end : self._end + size]
        is_last = self._end + size >= len(self._data)
        text = decoder.decode(piece, is_last)
        undecoded = len(decoder.getstate()[0])
        self._end += len(piece) - undecoded
        self._text, self._at = rest + text, 0
        return True
