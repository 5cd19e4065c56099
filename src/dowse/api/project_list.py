"""The projects that are indexed on this machine: they are listed, and forgotten."""

import os
from pathlib import Path

from dowse.indexes.project_lookup import forget_project, list_projects
from dowse.store.storage_layout import Project


def projects() -> list[Project]:
    """Return every indexed folder and archive, sorted by path."""
    return list_projects()


def forget(location: str | os.PathLike[str]) -> Path:
    """Delete the index of a folder, or of a repository by its address with its clone, and return the folder.

    The files of a folder stay as they are, and the folder need not exist any more.
    """
    if "://" in (text := os.fspath(location)):
        from dowse.indexes.cloned_repositories import forget_clone, parse_address

        return forget_clone(parse_address(text))
    return forget_project(Path(text).expanduser().absolute())
