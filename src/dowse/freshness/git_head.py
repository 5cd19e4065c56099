"""Where git's HEAD is: what changes on commit, merge, rebase, checkout and reset, by files alone.

Works in worktrees and submodules, whose `.git` is a file, and with packed references.
"""

import os
from pathlib import Path

Head = tuple[object, ...]
"""Something that is another one after HEAD was moved."""

_MAX_BYTES = 1_000_000


def read_head(root: Path) -> Head | None:
    """Where HEAD is now; None outside of a repository."""
    folder = _find_git_folder(root)
    if folder is None:
        return None
    head = _read(folder / "HEAD")
    common = folder / (_read(folder / "commondir") or ".")
    commit = _resolve_reference(folder, common, head.removeprefix("ref: ")) if head.startswith("ref: ") else head
    # A reset to the same commit moves nothing, but is written down.
    return head, commit, _file_stamp(folder / "logs" / "HEAD"), _file_stamp(folder / "ORIG_HEAD")


def _find_git_folder(root: Path) -> Path | None:
    for folder in (root, *root.parents):
        place = folder / ".git"
        if place.is_dir():
            return place
        if place.is_file():
            return folder / _read(place).removeprefix("gitdir: ")
    return None


def _resolve_reference(folder: Path, common: Path, reference: str) -> str:
    """What a reference points at: in a file of its own, or in the packed ones."""
    loose = _read(folder / reference) or _read(common / reference)
    if loose:
        return loose
    lines = (line.split(" ", 1) for line in _read(common / "packed-refs").splitlines() if " " in line)
    return next((commit for commit, name in lines if name == reference), "")


def _read(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(_MAX_BYTES).decode("utf-8", "surrogateescape").strip()
    except OSError:
        return ""


def _file_stamp(file: Path) -> tuple[int, int] | None:
    try:
        seen = os.stat(file)  # noqa: PTH116 - looked at every second
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_size
