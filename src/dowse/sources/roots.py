"""Where a project begins: the nearest folder upwards with a marker; and which folder none may be."""

import os
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import PathRefused, ProjectNotDetected
from dowse.platform import storage_root
from dowse.sources.denylist import rule_against_root
from dowse.sources.filenames import printable_path

MARKERS = (".git", "package.json", "pyproject.toml", "Cargo.toml", "go.mod")


@dataclass(frozen=True, slots=True)
class DetectedRoot:
    """A project's root and what it was recognised by; no marker: it is where we were started."""

    path: Path
    marker: str | None


def detect_root(start: Path) -> DetectedRoot:
    """The project that a folder belongs to.

    Never the file system's root, a drive or the home folder: these have to be named. Without a
    marker it is the folder itself, unless the home folder lies in it.
    """
    here, home = start.resolve(), _home_folder()
    for folder in (here, *here.parents):
        if folder in (home, folder.parent):
            break
        if marker := next((name for name in MARKERS if os.path.lexists(folder / name)), None):
            return DetectedRoot(folder, marker)
    if is_too_wide(here):
        raise ProjectNotDetected(
            f"Could not detect project root: no {', '.join(MARKERS[:-1])} or {MARKERS[-1]} from here upwards, and the "
            "home directory or a whole disk is only searched when it is named. Please choose a directory."
        )
    return DetectedRoot(here, None)


def is_too_wide(folder: Path) -> bool:
    """Whether a folder is a whole disk, the home folder or above it: these are served only when named."""
    here, home = folder.resolve(), _home_folder()
    return here == here.parent or (home is not None and home.is_relative_to(here))


def require_allowed_root(root: Path) -> None:
    """Refuse a root that is, or lies in, a folder that is never read; by its name and where that leads."""
    storage = resolve_storage()
    for path in (os.path.abspath(root), os.path.realpath(root)):  # noqa: PTH100 - Path.absolute keeps the dots
        if rule := rule_against_root(Path(path), storage):
            raise PathRefused(
                f"{printable_path(path)} is never read: {printable_path(rule.pattern)} ({rule.origin}). Name another folder."
            )


def resolve_storage() -> Path:
    """Where dowse's own files really lie; a loop of symlinks stays as it is written."""
    return Path(os.path.realpath(storage_root()))


def _home_folder() -> Path | None:
    try:
        return Path.home().resolve()
    except RuntimeError:
        return None
