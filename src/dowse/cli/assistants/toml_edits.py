"""Edits of TOML that add or remove one table and keep every other character.

tomlkit would delete the comment above the next table together with the table before it.
"""

import json
import re
import tomllib
from typing import Any

MAX_DOTS = 100
"""Dots of one key: the parser takes quadratic time for thousands."""

_HEADER = re.compile(r"^[ \t]*\[")
_PART = r"(?:{0}|\"{0}\"|'{0}')"


def parse(text: str) -> dict[str, Any]:
    """Return the value of a TOML document. Raise ValueError with the line."""
    if any(line.partition("=")[0].count(".") > MAX_DOTS for line in text.splitlines()):
        raise ValueError("it is nested too deeply")
    return tomllib.loads(text)


def put_entry(text: str, path: tuple[str, ...], value: dict[str, Any]) -> str:
    """Return the text with the table at `path` set to a value; its subtables stay. A new table goes to the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(path)}]", *(f"{name} = {_format(item)}" for name, item in value.items())]
    block = newline.join(lines) + newline
    found = _table_lines(text, path)
    if found is None:
        gap = "" if not text.strip() else newline if text.endswith(("\n", "\r")) else newline * 2
        return text + gap + block
    before, after = found
    kept = text.splitlines(keepends=True)
    return "".join(kept[:before]) + block + "".join(kept[after:])


def remove_entry(text: str, path: tuple[str, ...]) -> str:
    """Return the text without the table at `path` and its subtables."""
    while found := _table_lines(text, path, with_subtables=True):
        lines = text.splitlines(keepends=True)
        before, after = found
        while before and not lines[before - 1].strip() and (after == len(lines) or not lines[after].strip()):
            before -= 1
        text = "".join(lines[:before] + lines[after:])
    return text


def _table_lines(text: str, path: tuple[str, ...], *, with_subtables: bool = False) -> tuple[int, int] | None:
    """Return the lines of a table, from its header to its last key."""
    dotted = r"\s*\.\s*".join(_PART.format(re.escape(part)) for part in path)
    below = r"(?:\.[^]]*)?" if with_subtables else ""
    header = re.compile(rf"^[ \t]*\[\s*{dotted}\s*{below}\]")
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if header.match(line)), None)
    if start is None:
        return None
    end = next((number for number in range(start + 1, len(lines)) if _HEADER.match(lines[number])), len(lines))
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1  # blank lines and comments belong to what follows
    return start, end


def _format(value: Any) -> str:
    """Return a string, boolean, number, list or object as TOML, in which strings are written as in JSON."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_format, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(name)} = {_format(item)}" for name, item in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
