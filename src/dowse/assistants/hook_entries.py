"""The entry in the settings of an assistant that makes it run the hook after its own searches."""

import shlex
import sys
from copy import deepcopy
from pathlib import PurePath
from typing import Any

from dowse.assistants import search_hook
from dowse.assistants.json_edits import add_item, parse_json, remove_item

_PATH = ("hooks", "PostToolUse")
_TIMEOUT_SECONDS = 5
"""The assistant's own limit; the hook ends by itself long before."""


def hook_entry(matcher: str) -> dict[str, Any]:
    """Return the entry that runs the hook of this dowse after the tools that a matcher names."""
    program = shlex.join([sys.executable, "-I", "-S", search_hook.__file__])
    command = f"{program} 2>/dev/null || true"  # a dowse that was deleted is no error
    return {"matcher": matcher, "hooks": [{"type": "command", "command": command, "timeout": _TIMEOUT_SECONDS}]}


def put_hook(text: str, entry: dict[str, Any]) -> str:
    """Return the text of a settings file with the hook, in place of an earlier one or as the last."""
    without = remove_hook(text)
    if without is not None and entry in _entries(_parse(text)):
        return text
    text = text if without is None else without
    expected = deepcopy(_parse(text)) or {}
    holder = expected.setdefault("hooks", {}) if isinstance(expected, dict) else None
    if not isinstance(holder, dict) or not isinstance(holder.setdefault(_PATH[1], []), list):
        raise ValueError(f"{'.'.join(_PATH)} is not a list")
    holder[_PATH[1]].append(entry)
    return _checked(add_item(text, _PATH, entry), expected)


def remove_hook(text: str) -> str | None:
    """Return the text of a settings file without the hook; None if it has none."""
    expected = deepcopy(_parse(text))
    entries = _entries(expected)
    places = [at for at, entry in enumerate(entries) if _is_ours(entry)]
    if not places:
        return None
    for at in reversed(places):
        text = remove_item(text, _PATH, at)
        del entries[at]
    return _checked(text, expected)


def _entries(value: Any) -> list[Any]:
    for name in _PATH:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, list) else []


def _is_ours(entry: Any) -> bool:
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    commands = [hook.get("command") for hook in hooks if isinstance(hook, dict)] if isinstance(hooks, list) else []
    name = PurePath(search_hook.__file__).name
    return len(commands) == 1 and isinstance(commands[0], str) and f"dowse/assistants/{name}" in commands[0]


def _parse(text: str) -> Any:
    return parse_json(text) if text.removeprefix("\ufeff").strip() else None


def _checked(text: str, expected: Any) -> str:
    if _parse(text) != expected:
        raise ValueError("the hook is written in a way that dowse cannot edit")
    return text
