"""Edits of YAML that add or remove one member of a block mapping and keep every other character.

ruamel.yaml would delete the comment above the next member too, and rewrite the spaces and indents of other lines.
"""

import json
from typing import Any

import yaml

MAX_CHARACTERS = 300_000
"""Configuration files have some thousands; the parser reads 100,000 in a second."""
MAX_VALUES = 50_000
"""Values of a file with those that its aliases repeat: nine aliases of nine aliases, and so on, are billions."""
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
    sizes, open_nodes = dict[str, int](), [("", 0)]
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        anchor, size = getattr(event, "anchor", None) or "", 1
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((anchor, 1))
            if len(open_nodes) > MAX_DEPTH:
                raise ValueError("it is nested too deeply")
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, size = open_nodes.pop()
        elif isinstance(event, yaml.AliasEvent):
            anchor, size = "", sizes.get(anchor, 1)
        elif not isinstance(event, yaml.ScalarEvent):
            continue
        sizes[anchor] = size
        name, inside = open_nodes[-1]
        open_nodes[-1] = name, inside + size
        if inside + size > MAX_VALUES:
            raise ValueError(f"it has more than {MAX_VALUES:,} values")


def put_entry(text: str, path: tuple[str, ...], value: dict[str, Any]) -> str:
    """Return the text with the entry at `path`, a mapping and a name in it, set to a value."""
    text = remove_entry(text, path)
    section, name = path
    newline = "\r\n" if "\r\n" in text else "\n"
    found = _find(text, section)
    if found is None:
        gap = "" if not text or text.endswith(("\n", "\r")) else newline
        return text + gap + newline.join([f"{section}:", *_block(name, value, "  "), ""])
    key, members = found
    if isinstance(members, yaml.MappingNode) and members.value and not members.flow_style:
        indent = " " * members.start_mark.column
    else:
        indent = " " * (key.start_mark.column + 2)
        text = _without_empty_value(text, members)
    lines = text.splitlines(keepends=True)
    at = key.end_mark.line + 1
    if not lines[at - 1].endswith(("\n", "\r")):
        lines[at - 1] += newline
    return "".join(lines[:at]) + newline.join([*_block(name, value, indent), ""]) + "".join(lines[at:])


def remove_entry(text: str, path: tuple[str, ...]) -> str:
    """Return the text without the entry at `path`, or the text itself if there is none."""
    section, name = path
    found = _find(text, section)
    if found is None or not isinstance(found[1], yaml.MappingNode):
        return text
    key = next((key for key, _ in found[1].value if key.value == name), None)
    if key is None:
        return text
    if found[1].flow_style:
        raise ValueError(f"{section} is written in braces")
    lines = text.splitlines(keepends=True)
    start = key.start_mark.line
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > key.start_mark.column):
        end += 1
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return "".join(lines[:start] + lines[end:])


def _find(text: str, section: str) -> tuple[yaml.Node, yaml.Node] | None:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        parse(text)
        raise
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode):
        raise ValueError("the file is not a mapping")
    return next(((key, value) for key, value in root.value if key.value == section), None)


def _without_empty_value(text: str, members: yaml.Node) -> str:
    is_null = isinstance(members, yaml.ScalarNode) and members.value in ("", "~", "null")
    if not (is_null or (isinstance(members, yaml.MappingNode) and not members.value)):
        raise ValueError("the section is not a block of entries")
    return (
        text[: members.start_mark.index].rstrip(" ") + text[members.end_mark.index :]
        if members.value or not is_null
        else text
    )


def _block(name: str, value: dict[str, Any], indent: str) -> list[str]:
    """Return an entry as lines. Strings and lists are written as in JSON, which is YAML too."""
    members = (f"{indent}  {key}: {json.dumps(item, ensure_ascii=False)}" for key, item in value.items())
    return [f"{indent}{name}:", *members]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
