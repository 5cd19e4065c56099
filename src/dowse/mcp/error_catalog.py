"""The catalogue of errors: for each code what a user reads and what a developer reads.

A user's message holds no absolute path and nothing technical.
"""

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import DiskFull, DowseError, UsageError
from dowse.sources.filenames import visible

if TYPE_CHECKING:
    from dowse.indexes.index import ProjectIndex

INDEX_SHARE = 1.5
"""Bytes of an index for each byte of text: 0.8 to 1.4 on projects of 1 to 13 MB, and not too little said."""
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
    "FAILED": ("The search could not be done. get_index_status says more.", "{detail}"),
    "UNEXPECTED": ("Something went wrong inside the search. Please try again, and report it if it stays.", "{detail}"),
}


_ABSOLUTE = re.compile(r"[/\\]|~[^/\\]*(?:[/\\]|$)|\w+:[/\\]")
"""Of any system, with a drive or a scheme, or from a home."""
_UNKNOWN = {"detail": "", "path": "it", "index": "", "needed": "?", "available": "?"}


class CatalogError(DowseError):
    """An error by its code, with what its messages have to name."""

    def __init__(self, code: str, **facts: Any) -> None:
        self.code = code
        self.facts = {**_UNKNOWN, **facts}
        super().__init__(user_message(code, self.facts))


def rendered(error: DowseError) -> dict[str, Any]:
    """An error as a client gets it."""
    if isinstance(error, UsageError):  # says itself what is wrong with which argument
        return {"code": error.code, "userMessage": str(error), "developerMessage": f"{error.code}: {error}"}
    if not isinstance(error, CatalogError):
        error = CatalogError(error.code if error.code in CATALOG else "FAILED", detail=str(error))
    developer = CATALOG[error.code][1].format(**error.facts).strip()
    return {"code": error.code, "userMessage": str(error), "developerMessage": f"{error.code}: {developer}"}


def of_project(error: DowseError, project: "ProjectIndex") -> DowseError:
    """An error with what its messages say of the project it is about."""
    if isinstance(error, CatalogError | UsageError) or error.code not in CATALOG:
        return error
    facts: dict[str, Any] = {"detail": str(error), "index": told(project.folder)}
    if error.code == DiskFull.code:
        facts |= {
            "needed": _needed_mb(project),
            "available": shutil.disk_usage(_existing(project.folder)).free // 10**6,
        }
    return CatalogError(error.code, **facts)


def user_message(code: str, facts: dict[str, Any]) -> str:
    """What a user reads; a path that was given as an absolute one is called by its last part."""
    shown = facts | {name: _shown(facts[name]) for name in ("path", "pattern") if name in facts}
    return CATALOG[code][0].format(**shown)


def _shown(path: object) -> str:
    text = str(path)
    if is_absolute(visible(text).strip()):
        text = text.replace("\\", "/").rstrip("/").rpartition("/")[2] or "it"
    text = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def is_absolute(path: str) -> bool:
    """Whether a path, as somebody wrote it, does not begin at the project."""
    return _ABSOLUTE.match(path) is not None


def _needed_mb(project: "ProjectIndex") -> int:
    try:
        return max(1, round(project.text_bytes() * INDEX_SHARE / 10**6))
    except DowseError:
        return 1


def told(folder: Path) -> str:
    """A folder as messages for developers name it."""
    home = Path.home()
    return f"~/{folder.relative_to(home)}/" if folder.is_relative_to(home) else f"{folder}/"


def _existing(folder: Path) -> Path:
    return next(candidate for candidate in (folder, *folder.parents) if candidate.exists())
