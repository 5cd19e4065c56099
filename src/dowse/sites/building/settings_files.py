"""The settings file of a site generator: YAML, TOML, JSON, or the literal values of a JavaScript program."""

import json
import re
from typing import Any

from dowse.errors import UsageError
from dowse.reading.front_matter import parse_yaml
from dowse.small_files import parse_toml

_COMMENTS = re.compile(r"^[^\S\n]*//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL | re.MULTILINE)
_PROGRAM_SETTING = re.compile(
    r"""\b(title|tagline|description|url|baseUrl|site|base)\s*:\s*(['"`])((?:(?!\2)[^\\\n])*)\2"""
)
_PROGRAM_ROUTE = r"""\b{part}\s*:\s*\{{(?:[^{{}}]|\{{[^{{}}]*\}})*?\brouteBasePath\s*:\s*(['"`])([^'"`\n]*)\1"""


def parse_settings(file: str, text: str) -> dict[str, Any]:
    """Return the settings of a generator. Raise UsageError where the file is malformed."""
    if file.endswith((".js", ".ts", ".mjs", ".mts", ".cjs")):
        return _parse_program(text)
    try:
        if file.endswith(".toml"):
            return parse_toml(text)
        if file.endswith(".json"):
            value = json.loads(text)
            return value if isinstance(value, dict) else {}
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{file} cannot be read ({error}). Correct it, or name another generator with --generator."
        ) from error
    settings = parse_yaml(text) if text.strip() else {}
    if settings is None:
        raise UsageError(f"{file} cannot be read. Correct it, or name another generator with --generator.")
    return settings


def _parse_program(text: str) -> dict[str, Any]:
    """Return the literal values of settings written in JavaScript. The program is searched, never run."""
    text = _COMMENTS.sub("", text)
    settings: dict[str, Any] = {}
    for match in _PROGRAM_SETTING.finditer(text):
        settings.setdefault(match[1], match[3])
    for part in ("docs", "blog"):
        if route := re.search(_PROGRAM_ROUTE.format(part=part), text):
            settings[f"{part}Route"] = route[2].strip("/")
    settings["starlight"] = "starlight" in text
    return settings
