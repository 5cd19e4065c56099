"""Attributes of AsciiDoc: what a document sets with `:name: value` and puts in with `{name}`."""

import re
import tomllib
from functools import cache
from pathlib import Path

_ENTRY = re.compile(r":!?(?P<name>\w[\w-]{0,80})!?:(?:[ \t]+(?P<value>.*))?$")
_REFERENCE = re.compile(r"(?<!\\)\{(?P<name>\w[\w-]{0,80})\}")
_MAX_ADDED_CHARS = 1_000_000
"""Attributes can be made to double again and again; they add no more characters than this."""


class Attributes:
    """What has been set so far."""

    def __init__(self) -> None:
        self._values = dict(_predefined_attributes())
        self._room = _MAX_ADDED_CHARS

    def is_entry(self, line: str) -> bool:
        """Whether a line sets an attribute."""
        return _ENTRY.match(line) is not None

    def take(self, line: str) -> None:
        """Set what a line sets."""
        if match := _ENTRY.match(line):
            self._values[match["name"].lower()] = self.put_in(match["value"] or "")

    def get(self, name: str) -> str:
        """The value of a name, empty when nobody set it."""
        return self._values.get(name, "")

    def put_in(self, text: str) -> str:
        """Text with values in place of names; names nobody set stay."""
        return _REFERENCE.sub(self._value, text) if "{" in text else text

    def _value(self, match: re.Match[str]) -> str:
        value = self._values.get(match["name"].lower())
        if value is None or len(value) > self._room:
            return match[0]
        self._room -= len(value)
        return value


@cache
def _predefined_attributes() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_name("characters.toml").read_text(encoding="utf-8"))
