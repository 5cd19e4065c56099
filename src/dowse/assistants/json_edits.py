"""Edits of JSON with comments that change one member of an object and keep every other character."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

_BLANK = re.compile(r"(?:\s|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\r\n]|\\.)*"')
_SCALAR = re.compile(r"[^\s,\]}:/\"]+")
_DEFAULT_INDENT = "  "
_MAX_DEPTH = 100


@dataclass(slots=True)
class _Value:
    """A value of the text: its place, and its members if it is an object or an array."""

    start: int
    end: int
    value: Any
    members: "list[_Member]" = field(default_factory=list)


@dataclass(slots=True)
class _Member:
    """A member of an object or an item of an array: its place, its value, and the end of the comma behind it, or 0."""

    name: str | None
    start: int
    value: _Value
    comma_end: int = 0

    @property
    def end(self) -> int:
        return self.comma_end or self.value.end


def parse_json(text: str) -> Any:
    """Return the value of JSON that may have comments and trailing commas. Raise ValueError with the line."""
    return _parse(text).value


def put_member(text: str, path: tuple[str, ...], value: Any) -> str:
    """Return the text with the member at `path` set to a value. Objects on the way are created.

    Raise ValueError if the text is not JSON, or if something on the way is not an object.
    """
    if not _BLANK.sub("", text.removeprefix("\ufeff")):
        before = text.rstrip() + ("\n" if text.removeprefix("\ufeff").strip() else "")
        return before + _with_newlines_of(text, _format(_nested(path, value), "", _DEFAULT_INDENT) + "\n")
    root = _parse(text)
    unit = _indent_unit(text, root)
    holder = root
    for depth, name in enumerate(path):
        if not isinstance(holder.value, dict):
            raise ValueError(f"{'.'.join(path[:depth]) or 'the file'} is not an object")
        member = _last_of_name(holder, name)
        if member is None:
            return _append(text, holder, name, _nested(path[depth + 1 :], value), unit)
        if depth == len(path) - 1:
            indent = _line_indent(text, member.start)
            written = _format(value, indent, unit) if _spans_lines(text, holder) else json.dumps(value)
            return text[: member.value.start] + _with_newlines_of(text, written) + text[member.value.end :]
        holder = member.value
    raise ValueError("the path is empty")


def remove_member(text: str, path: tuple[str, ...]) -> str:
    """Return the text without the member at `path`, or the text itself if there is none."""
    holder = _parse(text)
    for name in path[:-1]:
        member = _last_of_name(holder, name)
        if member is None:
            return text
        holder = member.value
    member = _last_of_name(holder, path[-1])
    return text if member is None else _cut(text, holder, member)


def add_item(text: str, path: tuple[str, ...], item: Any) -> str:
    """Return the text with an item more in the array at `path`, which is created if it is not there."""
    holder = _find(text, path)
    if holder is None:
        return put_member(text, path, [item])
    if not isinstance(holder.value, list):
        raise ValueError(f"{'.'.join(path)} is not a list")
    return _append(text, holder, None, item, _indent_unit(text, _parse(text)))


def remove_item(text: str, path: tuple[str, ...], place: int) -> str:
    """Return the text without the item at a place of the array at `path`, which has to be there."""
    holder = _find(text, path)
    if holder is None:
        return text
    return _cut(text, holder, holder.members[place])


def _find(text: str, path: tuple[str, ...]) -> _Value | None:
    """Return the value at `path`, or None."""
    if not _BLANK.sub("", text.removeprefix("\ufeff")):
        return None
    value: _Value | None = _parse(text)
    for name in path:
        member = _last_of_name(value, name) if value else None
        value = member.value if member else None
    return value


def _cut(text: str, holder: _Value, member: _Member) -> str:
    """Return the text without a member, and without the comma that it needed."""
    place = holder.members.index(member)
    start, end = _start_of_line(text, member.start), member.end
    if start < holder.start:  # it stands behind the brace
        start = member.start
    if not member.comma_end and place > 0:
        before = holder.members[place - 1]
        cut = text[: before.comma_end - 1] + text[before.comma_end : start].rstrip(" \t")
        return cut + text[end:]
    if start == member.start and member.comma_end:  # others follow in the same line
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    return text[:start] + text[end:]


def _parse(text: str) -> _Value:
    start = 1 if text.startswith("\ufeff") else 0
    value = _parse_value(text, _skip(text, start), 0)
    end = _skip(text, value.end)
    if end != len(text):
        raise _error(text, end, "nothing may follow the value")
    return value


def _parse_value(text: str, start: int, depth: int) -> _Value:
    if depth > _MAX_DEPTH:
        raise _error(text, start, "it is nested too deeply")
    opening = text[start : start + 1]
    if opening == "{":
        return _parse_object(text, start, depth)
    if opening == "[":
        return _parse_array(text, start, depth)
    found = _STRING.match(text, start) if opening == '"' else _SCALAR.match(text, start)
    if not found:
        raise _error(text, start, "a value is missing")
    try:
        return _Value(start, found.end(), json.loads(found[0], strict=False))
    except ValueError:
        raise _error(text, start, "this is not a value of JSON") from None


def _parse_object(text: str, start: int, depth: int) -> _Value:
    members: list[_Member] = []
    position = _skip(text, start + 1)
    while text[position : position + 1] != "}":
        found = _STRING.match(text, position)
        if not found:
            raise _error(text, position, "a name in double quotes is missing")
        colon = _skip(text, found.end())
        if text[colon : colon + 1] != ":":
            raise _error(text, colon, "a colon is missing")
        value = _parse_value(text, _skip(text, colon + 1), depth + 1)
        members.append(_Member(json.loads(found[0], strict=False), position, value))
        position = _skip(text, value.end)
        if text[position : position + 1] == ",":
            members[-1].comma_end = position + 1
            position = _skip(text, position + 1)
        elif text[position : position + 1] != "}":
            raise _error(text, position, "a comma or a closing brace is missing")
    return _Value(start, position + 1, {str(member.name): member.value.value for member in members}, members)


def _parse_array(text: str, start: int, depth: int) -> _Value:
    items: list[_Member] = []
    position = _skip(text, start + 1)
    while text[position : position + 1] != "]":
        item = _parse_value(text, position, depth + 1)
        items.append(_Member(None, position, item))
        position = _skip(text, item.end)
        if text[position : position + 1] == ",":
            items[-1].comma_end = position + 1
            position = _skip(text, position + 1)
        elif text[position : position + 1] != "]":
            raise _error(text, position, "a comma or a closing bracket is missing")
    return _Value(start, position + 1, [item.value.value for item in items], items)


def _append(text: str, holder: _Value, name: str | None, value: Any, unit: str) -> str:
    """Return the text with a member more in an object, or without a name an item more in an array."""
    label = "" if name is None else f"{json.dumps(name)}: "
    closing = holder.end - 1
    inside_end = len(text[:closing].rstrip())
    is_spread = _spans_lines(text, holder) or not (holder.members or text.count("\n") == 0)
    last = holder.members[-1] if holder.members else None
    outer = _line_indent(text, closing) if _spans_lines(text, holder) else _line_indent(text, holder.start)
    inner = _line_indent(text, last.start) if last and is_spread else outer + unit
    if is_spread:
        member = f"\n{inner}{label}{_format(value, inner, unit)}"
        tail = f"\n{outer}"
    else:
        member = f"{' ' if last else ''}{label}{json.dumps(value)}"
        tail = text[inside_end:closing]
    if last and last.comma_end:
        member += ","
    comma = "," if last and not last.comma_end else ""
    split = last.value.end if last else inside_end
    return text[:split] + comma + text[split:inside_end] + _with_newlines_of(text, member + tail) + text[closing:]


def _nested(path: tuple[str, ...], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _last_of_name(holder: _Value, name: str) -> _Member | None:
    """Return the member that counts: of two with one name, readers take the last."""
    return next((member for member in reversed(holder.members) if member.name == name), None)


def _format(value: Any, indent: str, unit: str) -> str:
    """Return a value as JSON; lists without objects stay on one line."""
    if isinstance(value, dict) and value:
        inner = indent + unit
        members = (f"{inner}{json.dumps(name)}: {_format(item, inner, unit)}" for name, item in value.items())
        return "{\n" + ",\n".join(members) + f"\n{indent}}}"
    return json.dumps(value, ensure_ascii=False)


def _spans_lines(text: str, value: _Value) -> bool:
    return "\n" in text[value.start : value.end]


def _indent_unit(text: str, root: _Value) -> str:
    indents = (_line_indent(text, member.start) for member in root.members)
    return next(filter(None, indents), _DEFAULT_INDENT)


def _line_indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _start_of_line(text: str, position: int) -> int:
    """Return the end of the line before, if only white space stands between; else the position itself."""
    start = len(text[:position].rstrip(" \t"))
    if not text[:start].endswith("\n"):
        return position
    return start - (2 if text[:start].endswith("\r\n") else 1)


def _with_newlines_of(text: str, written: str) -> str:
    return written.replace("\n", "\r\n") if "\r\n" in text else written


def _skip(text: str, position: int) -> int:
    return found.end() if (found := _BLANK.match(text, position)) else position


def _error(text: str, position: int, problem: str) -> ValueError:
    return ValueError(f"line {text.count(chr(10), 0, position) + 1}: {problem}")
