"""Detection of a project's root, the nearest folder upwards with a marker, and the folders that cannot be a root."""

import os
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import PathRefused, ProjectNotDetected
from dowse.sources.denylist import rule_against_root
from dowse.system.platform import storage_root
from dowse.visible_text import printable_path

MARKERS = (".git", "package.json", "pyproject.toml", "Cargo.toml", "go.mod")


@dataclass(frozen=True, slots=True)
class DetectedRoot:
    """A project's root and the marker that identifies it; without a marker it is the start folder."""

    path: Path
    marker: str | None


def detect_root(start: Path) -> DetectedRoot:
    """Return the root of the project that contains a folder.

    It is never the root of the file system, a drive or the home folder: the user has to name these.
    Without a marker it is the folder itself, unless that contains the home folder.
    """
    here, home = start.resolve(), _home_folder()
    for folder in (here, *here.parents):
        if folder in (home, folder.parent):
            break
        if marker := next((name for name in MARKERS if _is_marker(folder / name)), None):
            return DetectedRoot(folder, marker)
    if is_too_wide(here):
        raise ProjectNotDetected(
            f"Could not detect project root: no {', '.join(MARKERS[:-1])} or {MARKERS[-1]} from here upwards, and the "
            "home directory or a whole disk is only searched when you name it. Please choose a directory."
        )
    return DetectedRoot(here, None)


def _is_marker(path: Path) -> bool:
    """Return whether a path is a marker: `.git` may be a file or a folder, a manifest has to be a file."""
    return (os.path.lexists if path.name == ".git" else os.path.isfile)(path)  # False where the system refuses access


def is_too_wide(folder: Path) -> bool:
    """Return whether a folder is a whole disk, the home folder or above it; the user has to name such a root."""
    here, home = folder.resolve(), _home_folder()
    return here == here.parent or (home is not None and home.is_relative_to(here))


def require_allowed_root(root: Path) -> None:
    """Raise PathRefused for a root that is or lies in a folder that is never read, before or after resolving symlinks."""
    storage = resolve_storage()
    for path in (os.path.abspath(root), os.path.realpath(root)):  # noqa: PTH100 - Path.absolute keeps the dots
        if rule := rule_against_root(Path(path), storage):
            raise PathRefused(
                f"{printable_path(path)} is never read: {printable_path(rule.pattern)} ({rule.origin}). Choose another folder."
            )


def resolve_storage() -> Path:
    """Return the real path of dowse's own files; a loop of symlinks stays as it is written."""
    return Path(os.path.realpath(storage_root()))


def _home_folder() -> Path | None:
    try:
        return Path.home().resolve()
    except RuntimeError:
        return None
