"""Which project is meant: the one a user named, the one around a path, all of them."""

import contextlib
import os
import shutil
from pathlib import Path
from secrets import token_hex

from dowse.errors import NotIndexed, StoreBusy
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_log import close_log
from dowse.platform import Lock
from dowse.sources.roots import detect_root, is_too_wide
from dowse.store import storage_layout
from dowse.store.storage_layout import Project

__all__ = [
    "Project",
    "find_indexed",
    "find_project",
    "forget_project",
    "is_too_wide",
    "list_projects",
    "open_or_find",
    "open_project",
]

FORGET_WAIT_SECONDS = 0.3
"""Longer than anybody looks whether the lock is taken."""


def open_project(folder: Path | None) -> ProjectIndex:
    """The project in a folder the user named, or the one around the working directory."""
    return ProjectIndex(folder) if folder else _detect_project(Path.cwd())


def open_or_find(folder: Path | None) -> ProjectIndex:
    """The project in a folder or, where the folder lies in an indexed one, that; else the one around us."""
    return find_project(Path.cwd()) if folder is None else find_indexed(folder) or ProjectIndex(folder)


def list_projects() -> list[storage_layout.Project]:
    """Every indexed project, by path."""
    return storage_layout.list_projects()


def find_project(path: Path) -> ProjectIndex:
    """The project that holds a path: the nearest one that is indexed, else the detected root."""
    start = path if os.path.isdir(path) else path.parent  # noqa: PTH112 - unlike Path's, False where we may not look
    return find_indexed(start) or _detect_project(start)


def _detect_project(start: Path) -> ProjectIndex:
    root = detect_root(start)
    project = ProjectIndex(root.path)
    if root.marker is None:
        project.warnings.append(f"No project marker was found; taking {root.path} itself.")
    return project


def find_indexed(folder: Path) -> ProjectIndex | None:
    """The nearest indexed project at or above a folder."""
    for candidate in (folder, *folder.resolve().parents):
        if (storage_layout.index_folder(candidate) / "catalog.sqlite").exists():
            return ProjectIndex(candidate)
    return None


def forget_project(root: Path) -> Path:
    """Remove the index of a root, which itself may be gone; the files are not touched."""
    root = root.resolve()
    folder = storage_layout.index_folder(root)
    if not folder.is_dir():
        raise NotIndexed(f"{root} is not indexed; there is nothing to forget.")
    held = [where for where in (folder, folder / storage_layout.DOCUMENTS_FOLDER) if where.is_dir()]
    with contextlib.ExitStack() as turns:
        for where in held:
            turn = Lock(where / "index.lock")
            try:
                turn.acquire(FORGET_WAIT_SECONDS)
            except StoreBusy as error:
                raise StoreBusy(f"{root} is being indexed by {turn.owner()}. Stop it, then try again.") from error
            turns.callback(turn.release)
            close_log(where)
        doomed = folder.with_name(f"{folder.name}.forgotten-{token_hex(4)}")
        folder.rename(doomed)  # at once, so that nobody finds half of it
    shutil.rmtree(doomed)
    return root
