"""The parts of git's configuration that dowse needs. Nothing in it is executed."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)\s*+(?:"((?:[^"\\\n]|\\.)*)"\s*)?\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*)?")
_VALUE_PIECE = re.compile(r"""\\.|[^\\"#;]+|.""", re.DOTALL)
_GIT_TIMEOUT_SECONDS = 2.0


def submodule_paths(text: str) -> frozenset[str]:
    """Return the paths of the submodules in a `.gitmodules` file, relative to its folder."""
    values = (value for section, key, value in _parse_values(text) if (section, key) == ("submodule", "path"))
    return frozenset(os.path.normpath(value).replace(os.sep, "/") for value in values if value)


def worktree_path(text: str) -> str:
    """Return the path of the working tree that the configuration of a submodule names, relative to its folder; empty without one."""
    values = [value for section, key, value in _parse_values(text) if (section, key) == ("core", "worktree")]
    return values[-1] if values else ""


def _parse_values(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield every section, key and value in order, with names in lower case."""
    section = ""
    for line in re.sub(r"\\\r?\n", "", text).split("\n"):
        rest = line.strip()
        if heading := _SECTION.match(rest):
            section = heading[1].lower()
            rest = rest[heading.end() :].strip()
        if key := _KEY.match(rest):
            yield section, key[1].lower(), _unquote_value(rest[key.end() :])


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
