"""Real repositories for tests, and what a source decides in them."""

import os
import subprocess
from pathlib import Path

from dowse.settings import Settings
from dowse.sources import ProjectFiles
from dowse.types import Entry, Verdict

_SETUP = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org", "-c", "protocol.file.allow=always")


def git(folder: Path, *words: str, given: bytes = b"") -> bytes:
    """What git answers in a folder; a bare no (exit 1, nothing on stderr) is an answer too."""
    done = subprocess.run(["git", *_SETUP, *words], cwd=folder, input=given, capture_output=True, check=False)
    assert done.returncode == 0 or (done.returncode == 1 and not done.stderr), done.stderr.decode()
    return done.stdout


def make_repository(folder: Path) -> Path:
    """A new repository with one commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def source(root: Path, **settings: object) -> ProjectFiles:
    """A project with the settings of a new index, but for those named."""
    return ProjectFiles(root, Settings(**settings))  # type: ignore[arg-type]


def decisions(project: ProjectFiles) -> dict[str, Entry | Verdict]:
    """What the walk says, by path."""
    return {item.path: item for item in project.entries()}


def seen(project: ProjectFiles) -> list[str]:
    """The files that may be indexed, in the walk's order."""
    return [item.path for item in project.entries() if isinstance(item, Entry)]


def refused(project: ProjectFiles, path: str) -> Verdict:
    """The walk's verdict on a path that it leaves out."""
    item = decisions(project)[path]
    assert isinstance(item, Verdict)
    return item


def can_make(folder: Path, name: str) -> bool:
    """Whether the file system takes a name; if so there is a file of that name now."""
    if "/" in name or ("\\" in name and os.name == "nt") or name in ("", ".", ".."):
        return False  # never written: it would be a path that leads elsewhere
    try:
        (folder / name).write_text("text", encoding="utf-8")
    except (OSError, ValueError):
        return False
    return name in os.listdir(folder)
