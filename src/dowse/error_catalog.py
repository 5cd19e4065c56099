"""The error catalog: for each code, the message for a user and the message for a developer.

A user's message holds no absolute path and nothing technical.
"""

import re
from collections.abc import Mapping
from typing import Any

from dowse.visible_text import strip_invisible

MAX_SHOWN = 100
"""Characters of a path or pattern that a message repeats."""

CATALOG = {
    "INDEX_NOT_FOUND": (
        "This project hasn't been indexed yet. Would you like to index it now?",
        "No index at {index}. Call create_index.",
    ),
    "DOCS_INDEX_NOT_FOUND": (
        "No documentation has been indexed yet. Run create_index to index your project.",
        "No docs index at {index}. {detail}",
    ),
    "MODEL_DOWNLOAD_FAILED": (
        "Couldn't set up the search engine. Please check your internet connection and try again.",
        "{detail}",
    ),
    "INDEX_CORRUPT": (
        "The search index seems corrupted. Rebuilding it now...",
        "Catalog read error - {detail}",
    ),
    "FILE_LIMIT_WARNING": (
        "This project is very large ({count} files). Indexing may take several minutes. Continue?",
        "{count} files exceeds soft limit of {limit:,}",
    ),
    "PERMISSION_DENIED": (
        "Can't access some files in this project. Check folder permissions.",
        "EACCES reading {path}",
    ),
    "DISK_FULL": (
        "Not enough disk space to create the search index. Free up some space and try again.",
        "ENOSPC - need ~{needed}MB, have {available}MB",
    ),
    "NOT_WRITABLE": (
        "The search index cannot be written: its folder is read-only, or permission was denied. "
        "Make it writable and try again.",
        "{detail}",
    ),
    "FILE_NOT_FOUND": ("The file '{path}' doesn't exist or isn't indexed.", "{path} not in index ({detail})"),
    "INVALID_PATTERN": ("The search pattern '{pattern}' is invalid. Please check the syntax.", "{detail}"),
    "PROJECT_NOT_DETECTED": (
        "Could not detect project root. Please choose a directory.",
        "No markers found in path hierarchy. {detail}",
    ),
    "SYMLINK_NOT_ALLOWED": (
        "Symbolic links are not allowed for security reasons.",
        "Symlink detected at path: {path}",
    ),
    "INDEX_BUSY": ("The index is in use by another program. Try again in a moment.", "{detail}"),
    "INDEX_TOO_NEW": (
        "The index was made by a newer version of dowse. Upgrade dowse, or delete the index and create it again.",
        "{detail}",
    ),
    "INVALID_CONFIG": ("A settings file cannot be used. Correct it or remove it.", "{detail}"),
    "NO_HISTORY": ("The history of this project cannot be searched. {detail}", "{detail}"),
    "FAILED": ("The search could not be done. get_index_status says more.", "{detail}"),
    "UNEXPECTED": ("Something went wrong inside the search. Please try again, and report it if it stays.", "{detail}"),
}

UNKNOWN_FACTS = {"detail": "", "path": "it", "index": "", "needed": "?", "available": "?"}
"""Values for the facts that an error does not give."""

_ABSOLUTE = re.compile(r"[/\\]|~[^/\\]*(?:[/\\]|$)|\w+:[/\\]")
"""The beginning of an absolute path on any system: a slash, a home, a drive or a scheme."""


def user_message(code: str, facts: Mapping[str, Any]) -> str:
    """Return the message for a user; an absolute path is shown by its last part alone."""
    shown = {**facts, **{name: _shown(facts[name]) for name in ("path", "pattern") if name in facts}}
    return CATALOG[code][0].format(**shown)


def developer_message(code: str, facts: Mapping[str, Any]) -> str:
    """Return the message for a developer, which begins with the code."""
    return f"{code}: {CATALOG[code][1].format(**facts).strip()}"


def is_absolute(path: str) -> bool:
    """Return whether a path, as a user wrote it, does not begin at the project."""
    return _ABSOLUTE.match(path) is not None


def _shown(path: object) -> str:
    text = str(path)
    if is_absolute(strip_invisible(text).strip()):
        text = text.replace("\\", "/").rstrip("/").rpartition("/")[2] or "it"
    text = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
