"""A clone of a repository in a folder of its own, in which commits can be checked out one after the other.

The clone shares the objects of the repository and none of its settings: no hook, filter or program of the repository
runs, and nothing is fetched.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import Failed
from dowse.evaluation.measures import Lines
from dowse.history.git_objects import GitObjects, find_repository

MAX_OUTPUT_BYTES = 20_000_000
"""Of a longer history the newest part is read; a commit with a larger difference moves or generates files."""
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, the one before it, and its message."""

    name: str
    parent: str
    message: str


class GitClone:
    """A clone of a repository."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self._objects = GitObjects(find_repository(repository), folder / ".git", work_tree=folder)

    def commits(self, limit: int) -> Iterator[Commit]:
        """Yield commits with one parent, newest first."""
        output, _ = self._git("log", "--no-merges", f"--max-count={limit}", "--format=%H%x00%P%x00%B%x01")
        for record in output.decode(errors="replace").split("\x01"):
            name, _, rest = record.strip().partition("\0")
            parent, _, message = rest.partition("\0")
            if parent and " " not in parent:
                yield Commit(name, parent, message.strip())

    def changed_lines(self, commit: Commit) -> dict[str, Lines]:
        """Return the lines of the old files that a commit changes. A new file has none, an insertion has its neighbours."""
        found: dict[str, Lines] = {}
        try:
            output, is_cut = self._git(
                "diff-tree", "-r", "-p", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
                commit.parent, commit.name,
            )  # fmt: skip
        except Failed:  # it takes more memory or time than git has
            return found
        if is_cut:
            return found
        for part in re.split(rb"^diff --git .*\n", output, flags=re.MULTILINE)[1:]:
            header, _, hunks = part.partition(b"\n@@")
            old = re.search(rb"^--- a/(.*?)\t?$", header + b"\n", re.MULTILINE)
            if old and hunks:
                found[old[1].decode(errors="replace")] = _old_lines(b"@@" + hunks)
        return found

    def check_out(self, commit: str) -> None:
        """Make the files those of a commit; only files that differ are written."""
        self._git("checkout", "--quiet", "--force", "--detach", commit)

    def _git(self, *arguments: str) -> tuple[bytes, bool]:
        return self._objects.output(*arguments, max_bytes=MAX_OUTPUT_BYTES)


def _old_lines(hunks: bytes) -> Lines:
    ranges = []
    for found in _HUNK.finditer(hunks):
        start, count = int(found[1]), int(found[2] or 1)
        ranges.append((start, start + count - 1) if count else (max(start, 1), start + 1))
    return tuple(ranges)
