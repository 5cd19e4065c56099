"""What the directives and roles are, by their names."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def directive_tables() -> dict[str, Any]:
    """The table of `directive_names.toml`."""
    return tomllib.loads(Path(__file__).with_name("directive_names.toml").read_text(encoding="utf-8"))


@cache
def directive_kinds() -> dict[str, str]:
    """Of each directive that is not an admonition, what becomes of it."""
    return {name: kind for kind, members in directive_tables()["directives"].items() for name in members}
