"""A clone of a repository in a folder of its own, in which commits can be checked out one after the other.

The clone shares the objects of the repository and none of its settings: no hook, filter or program of the repository
runs, and nothing is fetched.
"""

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dowse.errors import Failed
from dowse.evaluation.questions import Lines

MAX_OUTPUT_BYTES = 20_000_000
"""Of a longer history the newest part is read; a commit with a larger difference moves or generates files."""
GIT_SECONDS = 300.0
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.symlinks=false",
    "core.autocrlf=false",
    "protocol.allow=never",
    "protocol.file.allow=always",
    "advice.detachedHead=false",
    "gc.auto=0",
    "diff.external=",
    "log.showSignature=false",
)
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
        folder.parent.mkdir(parents=True)
        _run_git("clone", "--quiet", "--shared", "--no-checkout", "--no-tags", str(repository), str(folder))

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
        output, is_cut = self._git(
            "diff-tree", "-r", "-p", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
            commit.parent, commit.name,
        )  # fmt: skip
        found: dict[str, Lines] = {}
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
        return _run_git("-C", str(self.folder), *arguments)


def _old_lines(hunks: bytes) -> Lines:
    ranges = []
    for found in _HUNK.finditer(hunks):
        start, count = int(found[1]), int(found[2] or 1)
        ranges.append((start, start + count - 1) if count else (max(start, 1), start + 1))
    return tuple(ranges)


def _run_git(*arguments: str) -> tuple[bytes, bool]:
    """Return the output of git, and whether it was cut at the maximum."""
    program = shutil.which("git")
    if program is None:
        raise Failed("git is not installed, and questions from the history need it. Use --from docs.")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {
        **kept, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C",
    }  # fmt: skip
    command = [program, *(word for setting in _SETTINGS for word in ("-c", setting)), *arguments]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=environment)  # noqa: S603 - our own arguments
        limit = threading.Timer(GIT_SECONDS, process.kill)
        limit.start()
        with process:
            output = process.stdout.read(MAX_OUTPUT_BYTES + 1) if process.stdout else b""
            is_cut = len(output) > MAX_OUTPUT_BYTES
            if is_cut:
                process.kill()
        limit.cancel()
        if process.returncode and not is_cut:
            errors.seek(0)
            problem = errors.read(MAX_OUTPUT_BYTES).decode(errors="replace").strip().splitlines()
            reason = (
                problem[-1].removeprefix("fatal: ") if problem else f"it took longer than {GIT_SECONDS:.0f} seconds"
            )
            raise Failed(f"git cannot read the history: {reason}.")
    return output[:MAX_OUTPUT_BYTES], is_cut
