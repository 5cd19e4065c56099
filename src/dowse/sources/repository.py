"""The git repository that a folder belongs to: where it begins, its submodules, its own excludes."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from dowse.platform import open_beneath, read_at_most
from dowse.sources.gitconfig import submodule_paths

MAX_RULE_BYTES = 1024 * 1024
"""As much as is read of a file of rules; who understands it sets narrower limits to what is costly."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository, seen from the root of a source.

    The root lies below the repository (`lead` is the way down to it) or above it (`cut` is what
    leads from the root to the repository); each ends in a slash, or is empty.
    """

    top: Path
    submodules: frozenset[str]
    lead: str = ""
    cut: str = ""

    def names_submodule(self, path: str) -> bool:
        """Whether a folder, named relative to the root, is a submodule of this repository."""
        return self.lead + path.removeprefix(self.cut) in self.submodules


def repository_at(top: Path, *, lead: str = "", cut: str = "") -> Repository:
    """The repository that begins at a folder."""
    return Repository(top, submodule_paths(read_rule_file(top, ".gitmodules").decode(errors="replace")), lead, cut)


def repository_around(root: Path) -> Repository | None:
    """The nearest repository that holds a folder, which may be its top."""
    for top in (root, *root.parents):
        if is_repository(top):
            below = root.relative_to(top).as_posix()
            return repository_at(top, lead="" if below == "." else f"{below}/")
    return None


def is_repository(folder: Path) -> bool:
    """Whether git takes a folder for the top of a repository: an empty `.git` makes none.

    A `.git` that is a symlink, or leads to another machine, is believed without a look.
    """
    marker = folder / ".git"
    mode = _file_mode(marker)
    if stat.S_ISDIR(mode):
        return _is_git_folder(marker)
    if not stat.S_ISREG(mode):
        return stat.S_ISLNK(mode)
    pointer = read_rule_file(folder, ".git").decode(errors="surrogateescape").rstrip("\r\n")
    named = pointer.removeprefix("gitdir: ")
    if not named or named == pointer:
        return False
    target = _resolve_named_folder(folder, named)
    return target is None or _is_git_folder(target)


def _is_git_folder(folder: Path) -> bool:
    """Whether a folder has what every repository has; a worktree has most of it in another place."""
    shared = read_rule_file(folder, "commondir").decode(errors="surrogateescape").strip()
    common = _resolve_named_folder(folder, shared) if shared else folder
    return os.path.lexists(folder / "HEAD") and (
        common is None or all(_is_folder(common / name) for name in ("objects", "refs"))
    )


def common_folder(top: Path) -> Path | None:
    """The folder with the `info/exclude` of a repository, also for a worktree or a submodule."""
    marker = top / ".git"
    if not stat.S_ISREG(_file_mode(marker)):
        return marker
    pointer = read_rule_file(top, ".git").decode(errors="surrogateescape").strip()
    folder = (
        _resolve_named_folder(top, pointer.removeprefix("gitdir:").strip()) if pointer.startswith("gitdir:") else None
    )
    if folder is None:
        return None
    shared = read_rule_file(folder, "commondir").decode(errors="surrogateescape").strip()
    return _resolve_named_folder(folder, shared) if shared else folder


def read_rule_file(folder: Path, name: str) -> bytes:
    """What a file of rules holds; nothing when it is absent, no file or a symlink.

    One byte more than the limit tells that it is larger.
    """
    try:
        with open_beneath(folder, name) as descriptor:
            return read_at_most(descriptor, MAX_RULE_BYTES + 1)
    except (OSError, ValueError):
        return b""


def read_user_rule_file(file: Path) -> bytes:
    """The same for the user's own file, which may well be a symlink to where it is kept."""
    try:
        real = file.resolve()
    except (OSError, RuntimeError):  # a loop of symlinks
        return b""
    return read_rule_file(real.parent, real.name)


def _resolve_named_folder(folder: Path, named: str) -> Path | None:
    """A folder that a file of git names; one on another machine would be asked over the network."""
    if "\0" in named or named.startswith(("//", "\\\\")):
        return None
    return Path(os.path.normpath(folder / named))


def _file_mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except (OSError, ValueError):
        return 0


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(_file_mode(path))
