"""The evaluation of search on a project: questions are made, the files are brought to where they have an answer, asked.

Everything happens in a temporary folder with indexes of its own; the project and its index are only read.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Literal

from dowse.encoding_worker.encode_now import encode_now
from dowse.evaluation.git_clone import GitClone
from dowse.evaluation.measures import DEPTH, Outcome, Question, ShownLines, commit_question, is_changelog, judge
from dowse.indexes.index import ProjectIndex
from dowse.indexes.project_search import search
from dowse.indexes.query_vectors import InProcessEncoder
from dowse.searching.search import SearchOptions
from dowse.settings import read_settings
from dowse.store import storage_layout
from dowse.types import Progress

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
            answer, _ = search(project, question.text, options, waits=True, encoder=encoder)
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
