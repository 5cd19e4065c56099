"""The versions that matter in a report of a problem: of dowse, Python, the system and the libraries that do the work."""

import platform
import re
import sqlite3
from importlib.metadata import PackageNotFoundError, version

from dowse import __version__

LIBRARIES = (
    "mcp", "tantivy", "tree-sitter", "semble-grammars", "numpy", "onnxruntime", "watchfiles", "pypdfium2", "boto3",
)  # fmt: skip
"""The libraries whose version may explain a problem. Some are optional."""


def collect_versions() -> dict[str, str]:
    """Return every version by its name. The names of the machine and of its kernel's maker are not part of one."""
    number = re.match(r"[\d.]*\d", platform.release())
    words = [platform.system(), number[0] if number else "", platform.machine(), *platform.libc_ver()]
    return {
        "dowse": __version__,
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": " ".join(filter(None, words)),
        "SQLite": sqlite3.sqlite_version,
        **{library: _find_version(library) for library in LIBRARIES},
    }


def _find_version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def version_lines() -> list[str]:
    """Return the versions as text. Scripts read the first line."""
    first, *others = collect_versions().items()
    return [f"dowse, version {first[1]}", *(f"{name} {found}" for name, found in others)]
