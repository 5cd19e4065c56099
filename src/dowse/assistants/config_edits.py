"""Edits of a configuration file in its own format, each compared with what the file has to say afterwards."""

import tomllib
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from dowse.assistants import json_edits, toml_edits, yaml_edits

_Put = Callable[[str, tuple[str, ...], dict[str, Any]], str]
_Remove = Callable[[str, tuple[str, ...]], str]


@dataclass(frozen=True, slots=True)
class _Format:
    """How a format is parsed and edited."""

    parse: Callable[[str], Any]
    put: _Put
    remove: _Remove


_JSON = _Format(json_edits.parse_json, json_edits.put_member, json_edits.remove_member)
_TOML = _Format(tomllib.loads, toml_edits.put_table, toml_edits.remove_table)
_YAML = _Format(yaml_edits.parse_yaml, yaml_edits.put_entry, yaml_edits.remove_entry)
_FORMATS = {".toml": _TOML, ".yaml": _YAML, ".yml": _YAML}


def entry_of(file: PurePath, text: str, path: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the entry at `path`, or None. Raise ValueError if the text is not of its format."""
    value = _parse(file, text)
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None


def put_entry(file: PurePath, text: str, path: tuple[str, ...], entry: dict[str, Any]) -> str:
    """Return the text with an entry set. Raise ValueError if nothing else would stay as it is."""
    expected = deepcopy(_parse(file, text)) or {}
    holder = expected
    for name in path[:-1]:
        if isinstance(holder, dict) and holder.get(name) is None:
            holder[name] = {}
        holder = holder[name] if isinstance(holder, dict) else None
    if not isinstance(holder, dict):
        raise ValueError(f"{'.'.join(path[:-1])} is not an object")
    holder[path[-1]] = entry
    return _checked(file, _format(file).put(text, path, entry), expected)


def remove_entry(file: PurePath, text: str, path: tuple[str, ...]) -> str:
    """Return the text without an entry, which has to be there. Raise ValueError if nothing else would stay as it is."""
    expected = deepcopy(_parse(file, text))
    holder = expected
    for name in path[:-1]:
        holder = holder[name]
    del holder[path[-1]]
    return _checked(file, _format(file).remove(text, path), expected)


def _format(file: PurePath) -> _Format:
    return _FORMATS.get(file.suffix, _JSON)


def _parse(file: PurePath, text: str) -> Any:
    body = text.removeprefix("\ufeff")
    return _format(file).parse(body) if body.strip() else None


def _checked(file: PurePath, text: str, expected: Any) -> str:
    try:
        is_right = _without_empty(_parse(file, text)) == _without_empty(expected)
    except (ValueError, RecursionError):
        is_right = False
    if not is_right:
        raise ValueError("the entry is written in a way that dowse cannot edit")
    return text


def _without_empty(value: Any) -> Any:
    """Return a value without empty mappings: TOML and YAML have no table left when its last entry goes."""
    if not isinstance(value, dict):
        return value
    kept = {name: _without_empty(item) for name, item in value.items()}
    return {name: item for name, item in kept.items() if item not in ({}, None)}
