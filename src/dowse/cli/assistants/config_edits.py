"""Edits of a configuration file in its own format, each compared with what the file has to say afterwards."""

from pathlib import PurePath
from typing import Any

from dowse.cli.assistants import json_edits, toml_edits, yaml_edits

_FORMATS: dict[str, Any] = {".toml": toml_edits, ".yaml": yaml_edits, ".yml": yaml_edits}
"""The module that parses a format, and puts and removes an entry of it. Any other file is JSON."""


def entry_of(file: PurePath, text: str, path: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the entry at `path`, or None. Raise ValueError if the text is not of its format."""
    value = _parse(file, text)
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None


def put_entry(file: PurePath, text: str, path: tuple[str, ...], entry: dict[str, Any]) -> str:
    """Return the text with an entry set. Raise ValueError if nothing else would stay as it is."""
    expected = _parse(file, text) or {}
    holder = expected
    for name in path[:-1]:
        if isinstance(holder, dict) and holder.get(name) is None:
            holder[name] = {}
        holder = holder[name] if isinstance(holder, dict) else None
    if not isinstance(holder, dict):
        raise ValueError(f"{'.'.join(path[:-1])} is not an object")
    holder[path[-1]] = entry
    mark, body = _split_mark(text)
    return _checked(file, mark + _format(file).put_entry(body, path, entry), [expected])


def remove_entry(file: PurePath, text: str, path: tuple[str, ...]) -> str:
    """Return the text without an entry, which has to be there. Raise ValueError if nothing else would stay as it is."""
    expected, without, empty = (_parse(file, text) for _ in range(3))
    del _holder(expected, path)[path[-1]]
    allowed = [expected]
    if not _holder(expected, path):  # TOML has no table left then, and YAML one without a value
        del _holder(without, path[:-1])[path[-2]]
        _holder(empty, path[:-1])[path[-2]] = None
        allowed += [without, without or None, empty]
    mark, body = _split_mark(text)
    return _checked(file, mark + _format(file).remove_entry(body, path), allowed)


def _holder(value: Any, path: tuple[str, ...]) -> Any:
    """Return the object that has the last of some names."""
    for name in path[:-1]:
        value = value[name]
    return value


def _format(file: PurePath) -> Any:
    return _FORMATS.get(file.suffix, json_edits)


def _parse(file: PurePath, text: str) -> Any:
    _, body = _split_mark(text)
    return _format(file).parse(body) if body.strip() else None


def _split_mark(text: str) -> tuple[str, str]:
    """Return the byte order mark of a text, if it has one, and the rest."""
    return ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)


def _checked(file: PurePath, text: str, allowed: list[Any]) -> str:
    """Return a text if it says one of the things that it may say."""
    try:
        is_right = _parse(file, text) in allowed
    except (ValueError, RecursionError):
        is_right = False
    if not is_right:
        raise ValueError("the entry is written in a way that dowse cannot edit")
    return text
