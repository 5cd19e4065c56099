"""Real repositories for tests, and the decisions of a source in them."""

import os
import subprocess
from pathlib import Path

from dowse.settings import Settings
from dowse.sources import ProjectFiles
from dowse.types import Entry, Verdict

_SETUP = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org", "-c", "protocol.file.allow=always")


def git(folder: Path, *words: str, stdin: bytes = b"") -> bytes:
    """Return the output of a git command in a folder; exit 1 without output on stderr is a valid answer, too."""
    completed = subprocess.run(["git", *_SETUP, *words], cwd=folder, input=stdin, capture_output=True, check=False)
    assert completed.returncode == 0 or (completed.returncode == 1 and not completed.stderr), completed.stderr.decode()
    return completed.stdout


def make_repository(folder: Path) -> Path:
    """Create a repository with one commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def source(root: Path, **settings: object) -> ProjectFiles:
    """Return the files of a project, with the default settings except those given."""
    return ProjectFiles(root, Settings(**settings))  # type: ignore[arg-type]


def decisions(project: ProjectFiles) -> dict[str, Entry | Verdict]:
    """Return the decisions of the walk, by path."""
    return {item.path: item for item in project.entries()}


def visible_files(project: ProjectFiles) -> list[str]:
    """Return the files that may be indexed, in the order of the walk."""
    return [item.path for item in project.entries() if isinstance(item, Entry)]


def refusal(project: ProjectFiles, path: str) -> Verdict:
    """Return the walk's verdict on a path that it leaves out."""
    item = decisions(project)[path]
    assert isinstance(item, Verdict)
    return item


def can_make(folder: Path, name: str) -> bool:
    """Create a file with a name, and return whether the file system accepts it."""
    if "/" in name or ("\\" in name and os.name == "nt") or name in ("", ".", ".."):
        return False  # it is a path to another folder
    try:
        (folder / name).write_text("text", encoding="utf-8")
    except (OSError, ValueError):
        return False
    return name in os.listdir(folder)
