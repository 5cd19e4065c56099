"""Edits of JSON with comments that change one member of an object and keep every other character.

No package on PyPI does this without Node.js or a parser generator. Comments and trailing commas are blanked out for
Python's own decoder, so that its positions are those of the text.
"""

import json
import re
from typing import Any, NamedTuple

_STRING = r'"(?:[^"\\\r\n]|\\.)*"'
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[\]}}])")
_BLANK = re.compile(r"\s*")
_DEFAULT_INDENT = "  "
_decode = json.JSONDecoder(strict=False).raw_decode


class _Member(NamedTuple):
    """A member of an object: the place where it begins, and the places of its value."""

    start: int
    value_start: int
    end: int


class _Json:
    """A text, and the same text with the comments blanked out, and with the trailing commas blanked out too."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.bare = _blank(_COMMENT, text)
        self.plain = _blank(_TRAILING_COMMA, self.bare)
        self.newline = "\r\n" if "\r\n" in text else "\n"

    def value(self) -> Any:
        try:
            return json.loads(self.plain, strict=False, object_pairs_hook=_object)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {error.lineno}: {error.msg}") from None

    def skip(self, position: int) -> int:
        return found.end() if (found := _BLANK.match(self.plain, position)) else position

    def members(self, opening: int) -> tuple[dict[str, _Member], int]:
        """Return the members of the object at a brace by their names, and the place of its closing brace."""
        members, position = dict[str, _Member](), self.skip(opening + 1)
        while self.plain[position] != "}":
            name, end = _decode(self.plain, position)
            value_start = self.skip(self.skip(end) + 1)
            _, end = _decode(self.plain, value_start)
            members[name] = _Member(position, value_start, end)
            position = self.skip(end)
            if self.plain[position] == ",":
                position = self.skip(position + 1)
        return members, position

    def indent(self, position: int) -> str:
        """Return the white space that begins the line of a place."""
        line = self.text[self.text.rfind("\n", 0, position) + 1 : position]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def format(self, value: Any, indent: str | None) -> str:
        """Return a value as JSON: the members of objects in lines that begin with an indent, or all in one line."""
        if indent is None or not isinstance(value, dict) or not value:
            return json.dumps(value, ensure_ascii=False)
        inner = indent + self.indent_unit()
        members = (f"{inner}{json.dumps(name)}: {self.format(item, inner)}" for name, item in value.items())
        return f"{{{self.newline}{f',{self.newline}'.join(members)}{self.newline}{indent}}}"

    def indent_unit(self) -> str:
        """Return the indent of the first member of the file that has one."""
        members, _ = self.members(self.skip(0)) if self.plain.strip() else ({}, 0)
        return next(filter(None, (self.indent(member.start) for member in members.values())), _DEFAULT_INDENT)


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise ValueError for a key that stands in it twice, because readers disagree on which one counts."""
    found = dict[str, Any]()
    for name, value in members:
        if name in found:
            raise ValueError(f"the key {name!r} stands in it twice")
        found[name] = value
    return found


def parse(text: str) -> Any:
    """Return the value of JSON that may have comments and trailing commas. Raise ValueError with the line."""
    return _Json(text).value()


def put_entry(text: str, path: tuple[str, ...], value: Any) -> str:
    """Return the text with the member at `path` set to a value. Objects on the way are created.

    Raise ValueError if the text is not JSON, or if something on the way is not an object.
    """
    source = _Json(text)
    if not source.plain.strip():
        before = text.rstrip() + (source.newline if text.strip() else "")
        return before + source.format(_nested(path, value), "") + source.newline
    source.value()  # raises if it is not JSON
    opening = source.skip(0)
    for depth, name in enumerate(path):
        if source.plain[opening] != "{":
            raise ValueError(f"{'.'.join(path[:depth]) or 'the file'} is not an object")
        members, closing = source.members(opening)
        found = members.get(name)
        if found is None:
            return _append(source, opening, members, closing, (name, _nested(path[depth + 1 :], value)))
        if depth == len(path) - 1:
            indent = source.indent(found.start) if "\n" in text[opening:closing] else None
            return text[: found.value_start] + source.format(value, indent) + text[found.end :]
        opening = found.value_start
    raise ValueError("the path is empty")


def remove_entry(text: str, path: tuple[str, ...]) -> str:
    """Return the text without the member at `path`, which has to be there, and without the comma that it needed."""
    source = _Json(text)
    holder = source.skip(0)
    for name in path[:-1]:
        holder = source.members(holder)[0][name].value_start
    member = source.members(holder)[0][path[-1]]
    line = len(text[: member.start].rstrip(" \t"))  # the line break before it goes too, unless others stand in its line
    has_own_line = text[:line].endswith("\n") and line > holder
    start = line - (2 if text[:line].endswith("\r\n") else 1) if has_own_line else member.start
    following = len(source.bare) - len(source.bare[member.end :].lstrip())
    if source.bare[following] == ",":
        rest = text[following + 1 :]
        return text[:start] + (rest if has_own_line else rest.lstrip(" \t"))
    comma = len(source.bare[: member.start].rstrip()) - 1
    if source.bare[comma] == ",":
        return text[:comma] + text[comma + 1 : start].rstrip(" \t") + text[member.end :]
    return text[:start] + text[member.end :]


def _append(source: _Json, opening: int, members: dict[str, _Member], closing: int, new: tuple[str, Any]) -> str:
    """Return the text with a member more at the end of an object."""
    text, (name, value) = source.text, new
    before = source.bare[:closing].rstrip()  # up to the last member, its comma, or the brace
    comma, trailing = "" if before[-1] in "{," else ",", "," if before[-1] == "," else ""
    inside_end = len(text[:closing].rstrip())
    has_lines = "\n" in text[opening:closing]
    if has_lines or (not members and "\n" in text):
        outer = source.indent(closing if has_lines else opening)
        last = next(reversed(members.values()), None)
        inner = source.indent(last.start) if last else outer + source.indent_unit()
        member = f"{inner}{json.dumps(name)}: {source.format(value, inner)}{trailing}"
        member = f"{source.newline}{member}{source.newline}{outer}"
    else:
        member = f"{' ' if members else ''}{json.dumps(name)}: {source.format(value, None)}{trailing}"
        member += text[inside_end:closing]
    return text[: len(before)] + comma + text[len(before) : inside_end] + member + text[closing:]


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """Return the text with spaces in place of what matches, but for strings."""
    return pattern.sub(lambda found: found[1] or re.sub(r"[^\r\n]", " ", found[0]), text)


def _nested(path: tuple[str, ...], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value
