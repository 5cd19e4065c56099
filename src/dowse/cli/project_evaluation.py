"""The evaluation of search on a project: questions are made, the files are brought to where they have an answer, asked.

Everything happens in a temporary folder with indexes of its own; the project and its index are only read.
"""

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from dowse.errors import Failed
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import search, update_fully
from dowse.searching.history.git_objects import GitObjects, find_repository
from dowse.searching.history.project_history import paths_of_today
from dowse.searching.search import SearchOptions
from dowse.settings import read_settings
from dowse.store import storage_layout
from dowse.types import Progress

MAX_OUTPUT_BYTES = 20_000_000
"""Of a longer history the newest part is read."""


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
        output = self._git("log", "--no-merges", f"--max-count={limit}", "--format=%H%x00%P%x00%B%x01")
        for record in output.decode(errors="replace").split("\x01"):
            name, _, rest = record.strip().partition("\0")
            parent, _, message = rest.partition("\0")
            if parent and " " not in parent:
                yield Commit(name, parent, message.strip())

    def changed_files(self, commit: Commit) -> list[str]:
        """Return the old files that a commit changes or removes."""
        try:
            output = self._git(
                "diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=MD", commit.parent, commit.name
            )
        except Failed:  # it takes more memory or time than git has
            return []
        return [os.fsdecode(path) for path in output.split(b"\0") if path]

    def check_out(self, commit: str) -> None:
        """Make the files those of a commit; only files that differ are written."""
        self._git("checkout", "--quiet", "--force", "--detach", commit)

    def _git(self, *arguments: str) -> bytes:
        return self._objects.output(*arguments, max_bytes=MAX_OUTPUT_BYTES)[0]


MIN_WORDS = 4
"""Shorter texts (`fix typo`) say nothing about their answer."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_TRAILER = re.compile(
    r"^(?:signed-off-by|co-authored-by|reviewed-by|acked-by|tested-by|reported-by|change-id|fixes|closes|refs?|cc"
    r"|pr-url|reviewed-on|cherry.picked.from)\b.*$|^\(cherry picked from .*$|^git-svn-id:.*$",
    re.IGNORECASE | re.MULTILINE,
)
_ROUTINE = re.compile(
    r"^(?:merge\b|revert\b|bump\b|release\b|v?\d+\.\d+|prepare (?:for|release)|update (?:changelog|dependenc|version)"
    r"|\[?pre-commit|chore\(deps|build\(deps)",
    re.IGNORECASE,
)
_CHANGELOG = re.compile(
    r"(?:^|/)(?:change(?:s|log)?|history|news|releases?|release[-_]notes)[^/]*$|(?:^|/)changes?/", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Question:
    """A text to search for, and the files that answer it."""

    text: str
    answers: tuple[str, ...]
    commit: str
    """The commit before the change that the text describes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question was answered: the files that were found, and the place of the first right one."""

    question: Question
    paths: tuple[str, ...]

    @property
    def rank(self) -> int | None:
        return next((place for place, path in enumerate(self.paths, 1) if path in self.question.answers), None)


def commit_question(message: str) -> str:
    """Return a commit message without its trailers, or nothing if it is routine or too short."""
    text = _TRAILER.sub("", message).strip()
    subject = text.partition("\n")[0]
    return "" if _ROUTINE.match(subject) or len(_WORD.findall(subject)) < MIN_WORDS else text


def is_changelog(path: str) -> bool:
    """Return whether a file is a changelog, which every commit changes and which answers no question."""
    return bool(_CHANGELOG.search(path))


METHODS: dict[str, Literal["lexical", "hybrid"]] = {"words": "lexical", "table": "hybrid"}
"""The modes of search that are compared, by name: without and with the table of word vectors."""
DEPTH = 10
MAX_CHANGED_FILES = 5
"""A commit that changes more files has no single subject."""
LOOKED_AT = 40
"""So many commits are looked at for each question that is wanted."""


def evaluate(root: Path, count: int, progress: Progress) -> dict[str, list[Outcome]]:
    """Ask the messages of commits in the files before each of them; return how each method answers."""
    outcomes: dict[str, list[Outcome]] = {method: [] for method in METHODS}
    top = next((parent for parent in (root, *root.parents) if (parent / ".git").exists()), None)
    if top is None:
        return outcomes
    with tempfile.TemporaryDirectory(prefix="dowse-eval-") as work:
        clone, served = GitClone(top, Path(work, "history", top.name)), root.relative_to(top)
        with contextlib.closing(ProjectIndex(root)) as today:
            allows = paths_of_today(root, today.settings).allows
        questions = list(_commit_questions(clone, count, served, allows))
        with _own_storage(Path(work, "storage"), root):
            for done, question in enumerate(reversed(questions)):  # oldest first, as the files changed
                clone.check_out(question.commit)
                with contextlib.closing(ProjectIndex(clone.folder / served)) as project:
                    project.update()
                    for method, mode in METHODS.items():
                        options = SearchOptions(limit=DEPTH, mode=mode)
                        answer, _ = search(project, question.text, options, update=update_fully, encoder=None)
                        paths = tuple(hit.path for hit in answer.hits[:DEPTH] if allows(hit.path))
                        outcomes[method].append(Outcome(question, paths))
                progress(done + 1, len(questions))
    return outcomes


def _commit_questions(
    clone: GitClone, count: int, served: PurePath, allows: Callable[[str], bool]
) -> Iterator[Question]:
    """Yield questions about a folder that are spread over the history, newest first; none about files that are denied today."""
    worthwhile = [commit for commit in clone.commits(count * LOOKED_AT) if commit_question(commit.message)]
    step = max(1, len(worthwhile) // (2 * count))
    found = 0
    for commit in worthwhile[::step]:
        if found == count:
            return
        changed = [PurePath(path) for path in clone.changed_files(commit) if not is_changelog(path)]
        inside = tuple(
            own
            for path in changed
            if path.is_relative_to(served) and allows(own := path.relative_to(served).as_posix())
        )
        if inside and len(changed) <= MAX_CHANGED_FILES:
            found += 1
            yield Question(commit_question(commit.message), inside, commit.parent)


@contextlib.contextmanager
def _own_storage(home: Path, root: Path) -> Iterator[None]:
    """Keep indexes in a folder, with the settings of the user and of the project."""
    files = (storage_layout.global_settings_file(), storage_layout.index_folder(root) / "config.json")
    settings, _ = read_settings(*files)
    before = os.environ.get("DOWSE_HOME")
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    os.environ["DOWSE_HOME"] = str(home)
    try:
        yield
    finally:
        if before is None:
            del os.environ["DOWSE_HOME"]
        else:
            os.environ["DOWSE_HOME"] = before
