"""Finding projects: by a folder, around a path, or all of them."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from dowse.errors import NotIndexed, StoreBusy
from dowse.indexes.index import ProjectIndex
from dowse.sources.roots import detect_root, is_too_wide
from dowse.store import storage_layout
from dowse.store.storage_layout import Project, list_projects
from dowse.system.platform import Lock, disk_errors, storage_root

__all__ = [
    "Project",
    "find_indexed",
    "find_project",
    "forget_index",
    "forget_project",
    "is_too_wide",
    "list_projects",
    "open_each",
    "open_or_find",
    "open_project",
    "unique_name",
]

FORGET_WAIT_SECONDS = 0.3
"""Longer than any process holds the lock just to test whether it is taken."""


def open_project(folder: Path | None) -> ProjectIndex:
    """Return the project in a folder or, without a folder, the one around the working directory."""
    return ProjectIndex(folder) if folder else _detect_project(Path.cwd())


def open_or_find(folder: Path | None) -> ProjectIndex:
    """Return the indexed project that contains a folder, else the project in the folder.

    Without a folder, return the project around the working directory.
    """
    if folder is None:
        return find_project(Path.cwd())
    if folder.is_relative_to(storage_root()):  # a clone is no part of a project around the storage root
        return ProjectIndex(folder)
    return find_indexed(folder) or ProjectIndex(folder)


def open_each(folders: Sequence[Path]) -> list[ProjectIndex]:
    """Return the projects of folders; each of several is a project of its own, even inside of one that is indexed."""
    if len(folders) > 1:
        return [ProjectIndex(folder) for folder in folders]
    return [open_or_find(folders[0] if folders else None)]


def find_project(path: Path) -> ProjectIndex:
    """Return the project that contains a path: the nearest indexed one, else the detected root."""
    start = path if os.path.isdir(path) else path.parent  # noqa: PTH112 - Path.is_dir raises without permission
    return find_indexed(start) or _detect_project(start)


def _detect_project(start: Path) -> ProjectIndex:
    root = detect_root(start)
    project = ProjectIndex(root.path)
    if root.marker is None:
        project.warnings.append(f"No project marker was found; using {root.path} as the project.")
    return project


def find_indexed(folder: Path) -> ProjectIndex | None:
    """Return the nearest indexed project at or above a folder."""
    indexed = storage_layout.nearest_indexed(folder)
    return ProjectIndex(indexed) if indexed else None


def unique_name(root: Path, taken: Collection[str]) -> str:
    """Return the name of a root among others, which is that of its folder if no other has it."""
    base = root.name or "root"
    names = [base, *(f"{base}-{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)


def forget_project(root: Path) -> Path:
    """Remove the indexes of a root, which may itself no longer exist; the project's files are not touched."""
    root = root.resolve()
    folders = [storage_layout.index_folder(root, kind) for kind in storage_layout.INDEX_KINDS]
    if not any(folder.is_dir() for folder in folders):
        raise NotIndexed(f"{root} is not indexed; there is nothing to forget.")
    for folder in filter(Path.is_dir, folders):
        forget_index(root, folder)
    storage_layout.remove_forgotten_folders()
    return root


def forget_index(root: Path, folder: Path) -> None:
    """Remove one index of a root."""
    turn = Lock(folder / "index.lock")
    try:
        turn.acquire(FORGET_WAIT_SECONDS)
    except StoreBusy as error:
        raise StoreBusy(f"{root} is being indexed by {turn.owner()}. Stop it, then try again.") from error
    try:
        from dowse.indexes.index_log import close_log

        close_log(folder)
        with disk_errors(folder):
            storage_layout.set_forgotten(folder)
    finally:
        turn.release()
