"""Tables of directives and roles of reStructuredText."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def directive_tables() -> dict[str, Any]:
    """Return the contents of `directive_names.toml`."""
    return tomllib.loads(Path(__file__).with_name("directive_names.toml").read_text(encoding="utf-8"))


@cache
def directive_kinds() -> dict[str, str]:
    """Return the kind of each directive that is not an admonition; it decides how the directive is shown."""
    return {name: kind for kind, members in directive_tables()["directives"].items() for name in members}
