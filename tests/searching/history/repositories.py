"""Repositories whose commits are imported, which takes one process for all of them."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Changes = Mapping[str, str | bytes | None]


@dataclass(frozen=True)
class Change:
    """A commit to make: the files that it writes, or removes where there is None, and those that it renames."""

    message: str | bytes
    files: Changes = field(default_factory=dict)
    renames: Mapping[str, str] = field(default_factory=dict)
    time: int = 1_700_000_000


def git(root: Path, *arguments: str, given: bytes | None = None) -> str:
    """Run git and return what it prints."""
    person = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    command = ["git", "-C", str(root), *person, *arguments]
    done = subprocess.run(command, input=given, capture_output=True, check=True)
    return done.stdout.decode(errors="replace").strip()


def make_repository(root: Path, changes: Sequence[Change], branch: str = "main") -> Path:
    """Make a repository with these commits, oldest first; its files are not checked out."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", branch)
    add_commits(root, changes, branch)
    return root


def add_commits(root: Path, changes: Sequence[Change], branch: str = "main") -> None:
    """Add commits to a branch."""
    has_commits = bool(git(root, "for-each-ref", f"refs/heads/{branch}"))
    stream = bytearray()
    for number, change in enumerate(changes):
        stream += f"commit refs/heads/{branch}\ncommitter Ada <ada@example.org> {change.time} +0000\n".encode()
        stream += _data(change.message)
        if has_commits and number == 0:
            stream += f"from refs/heads/{branch}^0\n".encode()
        for old, new in change.renames.items():
            stream += f"R {old} {new}\n".encode()
        for path, content in change.files.items():
            if content is None:
                stream += f"D {path}\n".encode()
            else:
                stream += f"M 100644 inline {path}\n".encode() + _data(content)
    if changes:
        git(root, "fast-import", "--quiet", given=bytes(stream))


def _data(content: str | bytes) -> bytes:
    raw = content if isinstance(content, bytes) else content.encode()
    return f"data {len(raw)}\n".encode() + raw + b"\n"
