"""The state of git's HEAD, read from files; it changes on commit, merge, rebase, checkout and reset.

This works in worktrees and submodules, whose `.git` is a file, and with packed references.
"""

import os
from pathlib import Path

from dowse.indexes.freshness.pending_paths import QUIET_SECONDS
from dowse.sources.repository import GitFolders, head_commit
from dowse.system.platform import open_beneath, read_at_most

Head = tuple[object, ...]
"""A fingerprint that differs after HEAD has moved."""

_MAX_BYTES = 1_000_000


def read_head(root: Path) -> Head | None:
    """Return the current state of HEAD; None outside of a repository."""
    folder = _find_git_folder(root)
    if folder is None:
        return None
    head = _read(folder / "HEAD")
    common = folder / (_read(folder / "commondir") or ".")
    commit = head_commit(GitFolders(folder, common))
    # A reset to the same commit changes only the log.
    return head, commit, _file_stamp(folder / "logs" / "HEAD"), _file_stamp(folder / "ORIG_HEAD")


def _find_git_folder(root: Path) -> Path | None:
    for folder in (root, *root.parents):
        marker = folder / ".git"
        if marker.is_dir():
            return marker
        if marker.is_file():
            return folder / _read(marker).removeprefix("gitdir: ")
    return None


def _read(file: Path) -> str:
    try:
        real = Path(os.path.realpath(file))
        with open_beneath(real.parent, real.name) as descriptor:  # a pipe is not waited for
            return read_at_most(descriptor, _MAX_BYTES).decode("utf-8", "surrogateescape").strip()
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return ""


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
        self._moved_at = -CHECKOUT_SECONDS

    def has_just_ended(self, now: float, last_event_at: float) -> bool:
        """Return whether HEAD moved a moment ago and no file changed since; git writes files before and after it."""
        head = read_head(self._root)
        if head != self._head:
            self._head, self._moved_at = head, now
        is_recent = now - self._moved_at <= CHECKOUT_SECONDS
        return is_recent and now - max(self._moved_at, last_event_at) >= QUIET_SECONDS
