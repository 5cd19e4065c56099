"""Attributes of AsciiDoc, which a document sets with `:name: value` and refers to with `{name}`."""

import re
import tomllib
from functools import cache
from pathlib import Path

_ENTRY = re.compile(r":!?(?P<name>\w[\w-]{0,80})!?:(?:[ \t]+(?P<value>.*))?$")
_REFERENCE = re.compile(r"(?<!\\)\{(?P<name>\w[\w-]{0,80})\}")
_MAX_ADDED_CHARS = 1_000_000
"""The maximum number of characters that attributes add; attributes can refer to each other and grow exponentially."""


class Attributes:
    """The attributes set so far."""

    def __init__(self) -> None:
        self._values = dict(_predefined_attributes())
        self._chars_left = _MAX_ADDED_CHARS

    def is_entry(self, line: str) -> bool:
        """Return whether a line sets an attribute."""
        return _ENTRY.match(line) is not None

    def set_from(self, line: str) -> None:
        """Set the attribute that a line sets."""
        if match := _ENTRY.match(line):
            self._values[match["name"].lower()] = self.substitute(match["value"] or "")

    def get(self, name: str) -> str:
        """Return the value of an attribute; empty if it is not set."""
        return self._values.get(name, "")

    def substitute(self, text: str) -> str:
        """Replace references with the values of attributes; references to unset attributes stay."""
        return _REFERENCE.sub(self._value, text) if "{" in text else text

    def _value(self, match: re.Match[str]) -> str:
        value = self._values.get(match["name"].lower())
        if value is None or len(value) > self._chars_left:
            return match[0]
        self._chars_left -= len(value)
        return value


@cache
def _predefined_attributes() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_name("characters.toml").read_text(encoding="utf-8"))
