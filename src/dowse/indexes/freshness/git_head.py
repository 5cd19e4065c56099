"""The state of git's HEAD, read from files; it changes on commit, merge, rebase, checkout and reset."""

import math
import os
from pathlib import Path

from dowse.sources.repository import find_git_folders, head_commit, named_git_folder, repository_around

Head = tuple[object, ...]
"""A fingerprint that differs after HEAD has moved."""


def read_head(root: Path) -> Head | None:
    """Return the current state of HEAD; None outside of a repository."""
    repository = repository_around(root)
    folder = named_git_folder(repository.top) if repository else None
    if repository is None or folder is None:
        return None
    folders = find_git_folders(repository.top)
    # A reset to the same commit changes only the log. Nothing is read in a folder that does not name this one in turn.
    names = ("HEAD", "logs/HEAD", "ORIG_HEAD")
    return head_commit(folders) if folders else "", *(_file_stamp(folder / name) for name in names)


def _file_stamp(file: Path) -> tuple[int, int] | None:
    try:
        seen = os.stat(file)  # noqa: PTH116 - runs every second
    except (OSError, ValueError):
        return None
    return seen.st_mtime_ns, seen.st_size


CHECKOUT_SECONDS = 5.0
"""Files that change this soon after HEAD moved belong to the checkout; one of 2,000 files takes a second."""


class CheckoutDetector:
    """Watches git's HEAD of one root."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._head: Head | None = read_head(root)
        self._until = -math.inf

    def last_change(self, now: float) -> float:
        """Return the time up to which a change belongs to the last commit or checkout."""
        head = read_head(self._root)
        if head != self._head:
            self._head, self._until = head, now + CHECKOUT_SECONDS
        return self._until
