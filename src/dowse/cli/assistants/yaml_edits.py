"""Edits of YAML that add or remove one member of a block mapping and keep every other character.

ruamel.yaml would delete the comment above the next member too, and rewrite the spaces and indents of other lines.
"""

import json
from typing import Any

import yaml

MAX_CHARACTERS = 300_000
"""Configuration files have some thousands; the parser reads 100,000 in a second."""
MAX_DEPTH = 100
"""Levels of nesting; the parser takes quadratic time for thousands."""


def parse(text: str) -> Any:
    """Return the value of one YAML document. Raise ValueError with the line."""
    try:
        _require_bounds(text)
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise ValueError(f"{where}{getattr(error, 'problem', None) or 'this is not YAML'}") from error


def _require_bounds(text: str) -> None:
    """Raise ValueError for a text that would take long to parse or to compare; events come in linear time."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"it has more than {MAX_CHARACTERS:,} characters")
    depth = 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.AliasEvent):  # a few lines of them can say a billion values
            raise ValueError("it has aliases")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError("it is nested too deeply")


def put_entry(text: str, path: tuple[str, ...], value: dict[str, Any]) -> str:
    """Return the text with the entry at `path`, a mapping and a name in it, set to a value."""
    section, name = path
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = remove_entry(text, path).splitlines(keepends=True)
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += newline
    at = _find(lines, section)
    if at is None:
        at = len(lines)
        lines.append(f"{section}:{newline}")
    head, _, rest = lines[at].partition(":")
    bare, mark, comment = rest.partition("#")
    if bare.strip():  # an empty one, which gives way
        lines[at] = f"{head}: #{comment}" if mark else f"{head}:{newline}"
    indent = " " * (_member_indent(lines, at) or 2)
    # Strings and lists are written as in JSON, which is YAML too.
    members = (f"{indent}  {key}: {json.dumps(item, ensure_ascii=False)}{newline}" for key, item in value.items())
    return "".join([*lines[: at + 1], f"{indent}{name}:{newline}", *members, *lines[at + 1 :]])


def remove_entry(text: str, path: tuple[str, ...]) -> str:
    """Return the text without the entry at `path`, or the text itself if there is none."""
    section, name = path
    lines = text.splitlines(keepends=True)
    at = _find(lines, section)
    start = _find(lines, name, at + 1, _member_indent(lines, at)) if at is not None else None
    if start is None:
        return text
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > _indent(lines[start])):
        end += 1
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return "".join(lines[:start] + lines[end:])


def _find(lines: list[str], key: str, first: int = 0, indent: int = 0) -> int | None:
    """Return the line of a key that has a block of members, or none, from a line on up to one that is less indented."""
    for at, line in enumerate(lines[first:], first):
        name, colon, value = line.partition(":")
        if colon and name.strip().strip("'\"") == key and value.partition("#")[0].strip() in ("", "{}", "~", "null"):
            if _indent(line) == indent:
                return at
        elif _indent(line) < indent and not _is_blank(line):
            break
    return None


def _member_indent(lines: list[str], at: int) -> int:
    """Return the indent of the members of the section at a line; 0 if it has none."""
    return _indent(next((line for line in lines[at + 1 :] if not _is_blank(line)), ""))


def _is_blank(line: str) -> bool:
    """Return whether a line is empty or a comment."""
    return line.lstrip()[:1] in ("", "#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
