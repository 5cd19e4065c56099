"""The git repository that contains a folder: its top folder, its submodules, its excludes, and what of git's configuration counts."""

import os
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dowse.system.platform import open_beneath, read_at_most

_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)\s*+(?:"((?:[^"\\\n]|\\.)*)"\s*)?\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*)?")
_VALUE_PIECE = re.compile(r"""\\.|[^\\"#;]+|.""", re.DOTALL)
_GIT_TIMEOUT_SECONDS = 2.0


def submodule_paths(text: str) -> frozenset[str]:
    """Return the paths of the submodules in a `.gitmodules` file, relative to its folder."""
    values = filter(None, _values_of(text, "submodule", "path"))
    return frozenset(os.path.normpath(value).replace(os.sep, "/") for value in values)


def _values_of(text: str, wanted_section: str, wanted_key: str) -> Iterator[str]:
    """Yield every value of a key in order; names are in lower case."""
    section = ""
    for line in re.sub(r"\\\r?\n", "", text).split("\n"):
        rest = line.strip()
        if heading := _SECTION.match(rest):
            section = heading[1].lower()
            rest = rest[heading.end() :].strip()
        if (key := _KEY.match(rest)) and (section, key[1].lower()) == (wanted_section, wanted_key):
            yield _unquote_value(rest[key.end() :])


def _unquote_value(raw: str) -> str:
    """Return a value without its quotes, escapes and comment."""
    pieces: list[str] = []  # joined at the end: adding to a text of a megabyte takes half a minute
    is_quoted, escapes = False, {"n": "\n", "t": "\t", "b": "\b"}
    for piece in _VALUE_PIECE.findall(raw):
        if piece == '"':
            is_quoted = not is_quoted
        elif piece in ("#", ";") and not is_quoted:
            return "".join(pieces).rstrip()
        elif piece[0] == "\\" and len(piece) > 1:
            pieces.append(escapes.get(piece[1], piece[1]))
        else:
            pieces.append(piece)
    value = "".join(pieces)
    return value if raw.endswith('"') else value.rstrip()


def global_excludes_file() -> Path | None:
    """Return the path of the user's own ignore file, whether or not it exists.

    Only the user's and the system's configuration count, so that a repository cannot make dowse
    read a file.
    """
    for scope, value in reversed(_read_git_setting("core.excludesFile")):
        if scope in ("global", "system"):
            return Path(value) if Path(value).is_absolute() else None
    try:
        home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    except RuntimeError:
        return None
    return Path(home) / "git" / "ignore"


def _read_git_setting(key: str) -> list[tuple[str, str]]:
    """Return the scope and the value of every setting of a path key; the last one takes precedence."""
    git = shutil.which("git")
    if git is None or not Path(git).is_absolute():  # Windows searches the current folder first
        return []
    import subprocess  # a search in a user's usual environment does not need it

    command = [git, "config", "--show-scope", "-z", "--type=path", "--get-all", key]
    try:
        # Run at the top of the file system, outside of any repository.
        completed = subprocess.run(  # noqa: S603 - fixed words, no shell, a program from the user's PATH
            command,
            cwd=Path(git).anchor,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    fields = os.fsdecode(completed.stdout).split("\0")
    return list(zip(fields[0::2], fields[1::2], strict=False))


MAX_RULE_BYTES = 1024 * 1024
"""The largest rule file that is read; the parser has lower limits for rules that are costly."""
_CONFIG_FILES = ("config", "config.worktree")
_MAX_REFERENCE_BYTES = 64 * 1024 * 1024
"""The largest list of references that is read: it has a line for each of many branches."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository, seen from the root of a source.

    When the root lies below the repository, `lead` is the path from the repository to the root. When it
    lies above, `cut` is the path from the root to the repository. Each ends in a slash, or is empty.
    """

    top: Path
    submodules: frozenset[str]
    lead: str = ""
    cut: str = ""

    def names_submodule(self, path: str) -> bool:
        """Return whether a folder, relative to the root, is a submodule of this repository."""
        return self.lead + path.removeprefix(self.cut) in self.submodules


def repository_at(top: Path, *, lead: str = "", cut: str = "") -> Repository:
    """Return the repository whose top is a folder."""
    return Repository(top, submodule_paths(read_rule_file(top, ".gitmodules").decode(errors="replace")), lead, cut)


def repository_around(root: Path) -> Repository | None:
    """Return the nearest repository that contains a folder; the folder may be its top."""
    for top in (root, *root.parents):
        if is_repository(top):
            below = root.relative_to(top).as_posix()
            return repository_at(top, lead="" if below == "." else f"{below}/")
    return None


def is_repository(folder: Path) -> bool:
    """Return whether git treats a folder as the top of a repository; an empty `.git` is not enough.

    A `.git` that is a symlink, or that points to another machine, counts without a check.
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
    """Return whether a folder has the files of a repository; a worktree keeps most of them in another folder."""
    shared = _read_path(folder, "commondir")
    common = _resolve_named_folder(folder, shared) if shared else folder
    return os.path.lexists(folder / "HEAD") and (
        common is None or all(stat.S_ISDIR(_file_mode(common / name)) for name in ("objects", "refs"))
    )


@dataclass(frozen=True, slots=True)
class GitFolders:
    """The folders of a repository: its own with `HEAD`, and the one with objects and references, which worktrees share."""

    own: Path
    common: Path


def named_git_folder(top: Path) -> Path | None:
    """Return the folder that `.git` is or names. It may be a stranger's: read nothing in it unless `find_git_folders` has it."""
    marker = top / ".git"
    mode = _file_mode(marker)
    if not stat.S_ISREG(mode):
        return marker if stat.S_ISDIR(mode) or stat.S_ISLNK(mode) else None
    pointer = _read_path(top, ".git")
    return (
        _resolve_named_folder(top, pointer.removeprefix("gitdir:").strip()) if pointer.startswith("gitdir:") else None
    )


def find_git_folders(top: Path) -> GitFolders | None:
    """Return the folders of the repository with this top; None if its `.git` leads to a stranger's repository.

    The `.git` file of a worktree or a submodule names another folder. That folder counts only if it names the worktree
    or the submodule in turn, as git writes it, so that a downloaded `.git` file cannot lead to a stranger's repository.
    """
    marker, folder = top / ".git", named_git_folder(top)
    if folder is None or folder == marker:
        return GitFolders(marker, marker) if stat.S_ISDIR(_file_mode(marker)) else None
    if _is_same(_resolve_named_folder(folder, _read_path(folder, "gitdir")), marker):
        common = _resolve_named_folder(folder, _read_path(folder, "commondir"))
        is_shared = common is not None and _is_same(common / "worktrees", folder.parent)
        return GitFolders(folder, common) if common and is_shared else None
    settings = "".join(read_rule_file(folder, name).decode(errors="surrogateescape") for name in _CONFIG_FILES)
    worktrees = list(_values_of(settings, "core", "worktree"))
    is_own = bool(worktrees) and _is_same(_resolve_named_folder(folder, worktrees[-1]), top)
    return GitFolders(folder, folder) if is_own else None


def head_commit(folders: GitFolders) -> str:
    """Return the commit that `HEAD` names; empty if there is none. Links are not followed."""
    head = _read_path(folders.own, "HEAD")
    if not head.startswith("ref: "):
        return head
    reference = head.removeprefix("ref: ").strip()
    if loose := _read_path(folders.own, reference) or _read_path(folders.common, reference):
        return loose
    packed = "\n" + _read_path(folders.common, "packed-refs", _MAX_REFERENCE_BYTES) + "\n"
    end = packed.find(f" {reference}\n")
    return packed[packed.rfind("\n", 0, end) + 1 : end] if end >= 0 else ""


def _read_path(folder: Path, name: str, max_bytes: int = MAX_RULE_BYTES) -> str:
    """Return the path in a file of git, or its whole text."""
    return read_rule_file(folder, name, max_bytes).decode(errors="surrogateescape").strip()


def _is_same(one: Path | None, other: Path) -> bool:
    return one is not None and os.path.realpath(one) == os.path.realpath(other)


def read_rule_file(folder: Path, name: str, max_bytes: int = MAX_RULE_BYTES) -> bytes:
    """Return the content of a rule file; empty when it is missing, a symlink or not a regular file.

    A larger file gives one byte more than the limit.
    """
    try:
        with open_beneath(folder, name) as descriptor:
            return read_at_most(descriptor, max_bytes + 1)
    except (OSError, ValueError):
        return b""


def read_user_rule_file(file: Path) -> bytes:
    """Return the content of the user's own rule file, which may be a symlink."""
    try:
        real = file.resolve()
    except (OSError, RuntimeError):  # a loop of symlinks
        return b""
    return read_rule_file(real.parent, real.name)


def _resolve_named_folder(folder: Path, named: str) -> Path | None:
    """Return the folder that a file of git names; None for none, and for one on another machine (no network access)."""
    if not named or "\0" in named or named.startswith(("//", "\\\\")):
        return None
    return Path(os.path.normpath(folder / named))


def _file_mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except (OSError, ValueError):
        return 0
