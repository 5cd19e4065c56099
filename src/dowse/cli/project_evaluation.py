"""The evaluation of search on a project: questions are made, the files are brought to where they have an answer, asked.

Everything happens in a temporary folder with indexes of its own; the project and its index are only read.
"""

import contextlib
import json
import math
import os
import re
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Literal

from dowse.encoding_worker.encode_now import encode_now
from dowse.errors import Failed
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import search, update_fully
from dowse.indexes.query_vectors import InProcessEncoder
from dowse.searching.history.git_objects import GitObjects, find_repository
from dowse.searching.search import SearchOptions
from dowse.settings import read_settings
from dowse.store import storage_layout
from dowse.types import Progress

Lines = tuple[tuple[int, int], ...]
"""Ranges of lines, both ends included."""
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
    """A text to search for, and the lines that answer it, by path."""

    text: str
    answers: Mapping[str, Lines]
    commit: str = ""
    """The commit before the change that the text describes."""


def commit_question(message: str) -> str:
    """Return a commit message without its trailers, or nothing if it is routine or too short."""
    text = _TRAILER.sub("", message).strip()
    subject = text.partition("\n")[0]
    return "" if _ROUTINE.match(subject) or len(_WORD.findall(subject)) < MIN_WORDS else text


def is_changelog(path: str) -> bool:
    """Return whether a file is a changelog, which every commit changes and which answers no question."""
    return bool(_CHANGELOG.search(path))


BUDGETS = (500, 1000, 2000, 4000)
DEPTH = 10
CHARACTERS_PER_TOKEN = 4
"""As in the budget of a reply."""


@dataclass(frozen=True, slots=True)
class ShownLines:
    """Lines of a file that a reply shows, and the characters that they take."""

    path: str
    lines: tuple[int, int]
    characters: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question was answered by one method."""

    question: Question
    paths: tuple[str, ...]
    rank: int | None
    ndcg: float
    recall: tuple[float, ...]
    """The share of the right lines within each budget."""


def judge(question: Question, paths: Sequence[str], shown: Sequence[ShownLines]) -> Outcome:
    """Return the scores of an answer."""
    places = [place for place, path in enumerate(paths[:DEPTH], 1) if path in question.answers]
    gained = sum(1 / math.log2(place + 1) for place in places)
    possible = sum(1 / math.log2(place + 2) for place in range(min(len(question.answers), DEPTH)))
    return Outcome(
        question, tuple(paths[:DEPTH]), places[0] if places else None, gained / possible,
        tuple(_recall(question.answers, shown, budget) for budget in BUDGETS),
    )  # fmt: skip


def _recall(answers: Mapping[str, Lines], shown: Sequence[ShownLines], budget: int) -> float:
    wanted = {
        (path, line) for path, ranges in answers.items() for first, last in ranges for line in range(first, last + 1)
    }
    seen: set[tuple[str, int]] = set()
    spent = 0
    for one in shown:
        spent += one.characters
        if spent > budget * CHARACTERS_PER_TOKEN:
            break
        seen.update((one.path, line) for line in range(one.lines[0], one.lines[1] + 1))
    return len(wanted & seen) / len(wanted)


def summarize(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the means over questions, by the name of the measure."""
    found = {f"hit@{k}": statistics.mean(o.rank is not None and o.rank <= k for o in outcomes) for k in (1, 5, 10)}
    found["nDCG@10"] = statistics.mean(outcome.ndcg for outcome in outcomes)
    for place, budget in enumerate(BUDGETS):
        found[f"lines@{budget}"] = statistics.mean(outcome.recall[place] for outcome in outcomes)
    return found


Method = Literal["words", "table", "model"]
MAX_CHANGED_FILES = 5
"""A commit that changes more files has no single subject."""
LOOKED_AT = 40
"""So many commits are looked at for each question that is wanted."""


@dataclass(slots=True)
class Evaluation:
    """The outcomes by method, and what was left out and why."""

    outcomes: dict[Method, list[Outcome]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def evaluate(root: Path, methods: Sequence[Method], count: int, progress: Progress) -> Evaluation:
    """Ask questions of a project's history, and judge the answers of each method."""
    with tempfile.TemporaryDirectory(prefix="dowse-eval-") as work:
        evaluator = _Evaluator(root, Path(work), methods, progress)
        evaluator.ask_history(count)
        return evaluator.result


class _Evaluator:
    """Asks the questions of one project in a folder of its own."""

    def __init__(self, root: Path, work: Path, methods: Sequence[Method], progress: Progress) -> None:
        self.result = Evaluation({method: [] for method in methods})
        self._root, self._work, self._progress = root, work, progress
        without_model = tuple(method for method in methods if method != "model")
        with_model = tuple(method for method in methods if method == "model")
        self._passes = [one for one in (without_model, with_model) if one]
        """The methods that can use the same index; vectors of the model would change the answers of the others."""

    def ask_history(self, count: int) -> None:
        """Ask the messages of commits in the files before each of them."""
        top = next((parent for parent in (self._root, *self._root.parents) if (parent / ".git").exists()), None)
        if top is None:
            self.result.notes.append(f"{self._root} is not in a git repository: no questions from its history.")
            return
        clone = GitClone(top, self._work / "history" / top.name)
        served = self._root.relative_to(top)
        questions = list(_commit_questions(clone, count, served))
        if not questions:
            self.result.notes.append("No commit has a message of several words and changes one to five files.")
            return
        questions.reverse()  # oldest first, as the files changed
        for methods in self._passes:
            with _own_storage(self._work / f"history-{methods[0]}", self._root):
                for done, question in enumerate(questions):
                    clone.check_out(question.commit)
                    with contextlib.closing(ProjectIndex(clone.folder / served)) as project:
                        self._ask(project, question, methods)
                    self._progress(done + 1, len(questions))

    def _ask(self, project: ProjectIndex, question: Question, methods: Sequence[Method]) -> None:
        project.update()
        encoder = None
        if "model" in methods:
            encode_now(project, lambda _done, _total: None, lambda _text: None)
            encoder = InProcessEncoder(project.settings)
        for method in methods:
            options = SearchOptions(limit=DEPTH, mode="lexical" if method == "words" else "hybrid")
            answer, _ = search(project, question.text, options, update=update_fully, encoder=encoder)
            passages = [(hit.path, passage) for hit in answer.hits for passage in hit.passages]
            shown = [
                ShownLines(path, (number, number), len(line) + 1)
                for path, passage in passages
                for number, line in passage.numbered_lines
                if number
            ]
            self.result.outcomes[method].append(judge(question, [hit.path for hit in answer.hits], shown))


def _commit_questions(clone: GitClone, count: int, served: PurePath) -> Iterator[Question]:
    """Yield questions about a folder that are spread over the history, newest first."""
    worthwhile = [commit for commit in clone.commits(count * LOOKED_AT) if commit_question(commit.message)]
    step = max(1, len(worthwhile) // (2 * count))
    found = 0
    for commit in worthwhile[::step]:
        if found == count:
            return
        changed = {path: lines for path, lines in clone.changed_lines(commit).items() if not is_changelog(path)}
        inside = {PurePath(path): lines for path, lines in changed.items() if PurePath(path).is_relative_to(served)}
        if inside and len(changed) <= MAX_CHANGED_FILES:
            found += 1
            answers = {path.relative_to(served).as_posix(): lines for path, lines in inside.items()}
            yield Question(commit_question(commit.message), answers, commit.parent)


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
