"""A storage root with an index of every kind, and the commands that use each of its files."""

import contextlib
import io
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from dowse.cli import main
from dowse.indexes.index import ProjectIndex
from tests.sample_data import write_tree

FRUITS = ("apple", "banana", "cherry", "date", "elder", "fig")
PROJECT = {
    "pyproject.toml": "[project]\nname = 'fruit'\n",
    **{
        f"src/{fruit}.py": f"def peel_{fruit}():\n    return 'the {fruit} is peeled'\n\n\ndef eat_{fruit}():\n    pass\n"
        for fruit in FRUITS
    },
    "docs/guide.md": "# Guide\n\nHow to peel an apple.\n\n## Later\n\nEat the banana after it.\n",
    "docs/page.html": "<html><title>Page</title><body><h1>Page</h1><p>Peel a cherry with care.</p></body></html>",
}
"""The project, with a page whose text is kept because it is converted."""
LATER = {
    "src/grape.py": "def peel_grape():\n    return 'the grape is peeled'\n",
    "src/apple.py": "def peel_apple():\n    pass\n",
}
"""Files that are written after the older copy is made."""
ARCHIVE = {
    "report.md": "# Report\n\nPeeling fruit is studied in [another report](other.md).\n",
    "other.md": "# Other\n\nPeeling takes time.\n",
}


@dataclass(frozen=True)
class Outcome:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Storage:
    """A storage root with an older copy of it, and the files that it was made from."""

    home: Path
    older: Path
    root: Path
    archive: Path
    documents_lexical: str = "lexical-"
    """The name of the folder with the lexical index of the documents."""

    expected: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    """The results of each question while the storage is whole."""

    def files(self) -> list[str]:
        """Return every file of the storage root, sorted, without the compiled grammars."""
        files = [file.relative_to(self.home) for file in self.home.rglob("*") if file.is_file()]
        return sorted(str(file) for file in files if file.parts[0] != "grammars")

    def copy_to(self, home: Path) -> None:
        """Replace a storage root by a copy of this one."""
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(self.home, home)

    def questions(self) -> dict[str, list[str]]:
        """Return a command for each kind of index that asks it something."""
        home = os.environ["DOWSE_HOME"]
        return {
            "project": ["search", "peel apple", str(self.root), "--json"],
            "documents": ["docs", "search", "peel", str(self.root), "--json"],
            "archive": ["archive", "search", "peeling", "--db", f"{home}/search.db", "--json"],
            "notes": ["notes", "search", "fruit", "peel", "--json"],
        }

    def kind_of(self, file: str) -> str:
        """Return the kind of index that a file of the storage root belongs to."""
        if file.startswith("notes/"):
            return "notes"
        if file.startswith(("search.db", "archives/")):
            return "archive"
        return "documents" if self.documents_lexical in file else "project"

    def repair(self, kind: str) -> list[str]:
        """Return the command that repairs an index."""
        if kind == "archive":
            return ["archive", "index", str(self.archive), "--db", f"{os.environ['DOWSE_HOME']}/search.db"]
        if kind == "notes":
            return ["notes", "list"]
        return ["doctor", "--fix", str(self.root)]


def make_storage(base: Path, monkeypatch: pytest.MonkeyPatch) -> Storage:
    """Build all indexes as they are after a server was killed: with their journals, and with removed documents."""
    storage = Storage(base / "whole", base / "older", write_tree(base / "fruit", PROJECT), base / "archive")
    write_tree(storage.archive, ARCHIVE)
    monkeypatch.setenv("DOWSE_HOME", str(storage.home))
    monkeypatch.setenv("SEARCH_DB_PATH", str(storage.home / "search.db"))
    run("notes", "create", "fruit")
    _update(storage, "apple")
    _copy_open(storage, storage.older)
    write_tree(storage.root, LATER)
    (storage.root / "src/fig.py").unlink()
    write_tree(storage.archive, {"third.md": "# Third\n\nPeeling a third time.\n"})
    _update(storage, "grape")
    _copy_open(storage, base / "copy")
    shutil.rmtree(storage.home)
    (base / "copy").rename(storage.home)
    storage.copy_to(base / "asked")  # a question closes the databases, and with that removes their journals
    monkeypatch.setenv("DOWSE_HOME", str(base / "asked"))
    with contextlib.closing(ProjectIndex(storage.root)) as index:
        storage = replace(storage, documents_lexical=index.whole.catalog.fact("lexical_documents") or "")
    storage.expected.update({kind: results(run(*question)) for kind, question in storage.questions().items()})
    return storage


def _update(storage: Storage, note: str) -> None:
    write_tree(storage.home, {"config.json": json.dumps({"maxFiles": 1000})})
    assert run("index", "--wait", storage.root).code == 0
    assert run("docs", "list", storage.root).code == 0
    assert run(*storage.repair("archive")).code == 0
    assert run("notes", "add", "fruit", f"note-{note}", f"How to peel a {note}.").code == 0


def _copy_open(storage: Storage, target: Path) -> None:
    """Copy the storage root while its databases are open, so that the copy has their journals."""
    with contextlib.ExitStack() as opened:
        index = ProjectIndex(storage.root)
        opened.callback(index.close)
        index.whole.set_fact("copied", "yes")
        shutil.copytree(storage.home, target)


def run(*arguments: object) -> Outcome:
    """Run a command in this process; an error that escapes it is part of its output."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments])
        except BaseException as error:
            code = -1
            err.write(f"Traceback: {type(error).__name__}: {error}")
    return Outcome(code, out.getvalue(), err.getvalue())


def results(outcome: Outcome) -> list[tuple[Any, ...]]:
    """Return the results of a search in order, without scores."""
    found = json.loads(outcome.out).get("results") or json.loads(outcome.out).get("hits") or []
    keys = ("path", "id", "url", "name", "doc_id", "uri", "title", "startLine", "kind")
    return [tuple(hit.get(key) for key in keys) for hit in found]


def is_incomplete(outcome: Outcome) -> bool:
    """Return whether a search says that it has not searched everything yet."""
    coverage = json.loads(outcome.out).get("coverage", {}) if outcome.out.startswith("{") else {}
    return not coverage.get("complete", True)


@contextlib.contextmanager
def native_output(file: Path) -> Iterator[None]:
    """Write everything that native code prints to stderr into a file."""
    kept = os.dup(2)
    target = os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(target, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(target)
