"""The history follows HEAD, reads what it can, and says what it lacks."""

import contextlib
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from dowse.errors import NoHistory, StoreBusy, StoreTooNew
from dowse.searching.history import project_history
from dowse.searching.history.commit_reading import MAX_MESSAGE_BYTES, CommitRecord, read_commits
from dowse.searching.history.git_objects import GitObjects
from dowse.searching.history.history_database import HISTORY_FILE, read_commit_counts
from dowse.searching.history.project_history import MAX_COMMIT_FILES, History, open_history
from dowse.settings import Settings
from dowse.system.platform import Lock
from tests.sample_data import open_indexed
from tests.searching.history.conftest import OpenHistory, subjects
from tests.searching.history.repositories import Change, add_commits, git, make_repository

CHANGES = [Change(f"Commit {number}", {"a.py": f"def a():\n    return {number}\n"}) for number in range(4)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "shop", CHANGES)


def files(history: History) -> dict[str, int]:
    query = "SELECT paths.path, COUNT(*) FROM changes JOIN paths ON paths.id = changes.path GROUP BY 1"
    return dict(history.database.rows(query))


def test_a_new_commit_is_added_and_nothing_is_read_again(
    root: Path, opened: OpenHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert subjects(opened(root)) == ["Commit 3", "Commit 2", "Commit 1", "Commit 0"]
    read: list[str] = []

    def read_and_count(git: GitObjects, names: list[str], *how: Any) -> Iterator[CommitRecord]:
        read.extend(names)
        return read_commits(git, names, *how)

    monkeypatch.setattr(project_history, "read_commits", read_and_count)
    add_commits(root, [Change("Commit 4", {"b.py": "x\n"})])
    assert subjects(opened(root))[0] == "Commit 4"
    assert len(read) == 1
    monkeypatch.setattr(project_history, "open_objects", None)
    assert opened(root).coverage().is_complete, "without news, git is not started"


def test_a_reset_another_branch_and_a_rewritten_history_are_followed(root: Path, opened: OpenHistory) -> None:
    opened(root)
    git(root, "update-ref", "refs/heads/main", "main~2")
    assert subjects(opened(root)) == ["Commit 1", "Commit 0"]
    git(root, "branch", "side", "main~1")
    add_commits(root, [Change("On the side", {"b.py": "x\n"})], "side")
    git(root, "symbolic-ref", "HEAD", "refs/heads/side")
    assert subjects(opened(root)) == ["On the side", "Commit 0"]
    git(root, "symbolic-ref", "HEAD", "refs/heads/main")
    assert subjects(opened(root)) == ["Commit 1", "Commit 0"]
    git(root, "update-ref", "-d", "refs/heads/main")
    add_commits(root, [Change("All anew", {"c.py": "x\n"})])
    git(root, "branch", "-D", "side")
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "-q", "--prune=now")
    assert subjects(opened(root)) == ["All anew"]


def test_a_subfolder_has_the_commits_that_change_it(root: Path, opened: OpenHistory) -> None:
    add_commits(root, [Change("Inside", {"sub/b.py": "def peel():\n    pass\n", "top.py": "x\n"})])
    (root / "sub").mkdir()
    history = opened(root / "sub")
    assert (subjects(history), files(history)) == (["Inside"], {"b.py": 1})
    assert history.database.rows("SELECT names FROM symbols") == [("peel",)]


def test_a_shallow_clone_says_so(tmp_path: Path, root: Path, opened: OpenHistory) -> None:
    subprocess.run(["git", "clone", "-q", "--no-local", "--depth=2", root, tmp_path / "shallow"], check=True)
    history = opened(tmp_path / "shallow")
    assert subjects(history) == ["Commit 3", "Commit 2"]
    assert history.coverage().notes() == ["The repository is a shallow clone: it does not have older commits."]


def test_commits_whose_objects_were_away_are_read_once_they_are_back(root: Path, opened: OpenHistory) -> None:
    """git packs and removes objects while others read; what was missing then was once missing for ever."""
    git(root, "gc", "-q")
    folder = root / ".git" / "objects" / "pack"
    packed = list(folder.iterdir())
    add_commits(root, [Change(f"Later {number}", {"b.py": f"x{number}\n"}) for number in range(3)])
    for file in packed:
        file.rename(root / file.name)
    history = opened(root)
    assert not history.coverage().is_complete
    for file in packed:
        (root / file.name).rename(file)
    assert history.update(60).is_complete
    assert subjects(history)[2:] == ["Later 0", "Commit 3", "Commit 2", "Commit 1", "Commit 0"]


@pytest.mark.parametrize("kept", ["tree", "commit"])
def test_what_a_partial_clone_lacks_is_not_fetched(root: Path, opened: OpenHistory, kept: str) -> None:
    """Without its contents a commit has its files, without its lists of files it has its message."""
    git(root, "config", "remote.origin.url", "/nowhere")
    git(root, "config", "remote.origin.promisor", "true")
    git(root, "config", "extensions.partialClone", "origin")
    listed = git(root, "cat-file", "--batch-check", "--batch-all-objects").splitlines()
    for line in listed:
        name, kind, _ = line.split(" ")
        if kind == "blob" or (kind == "tree" and kept == "commit"):
            (root / ".git" / "objects" / name[:2] / name[2:]).unlink()
    history = opened(root)
    assert len(subjects(history)) == 4
    assert files(history) == ({"a.py": 4} if kept == "tree" else {})
    assert history.coverage().is_complete


def test_commits_after_a_missing_one_are_read(root: Path, opened: OpenHistory) -> None:
    missing = git(root, "rev-parse", "HEAD~2")
    (root / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
    history = opened(root)
    assert subjects(history) == ["Commit 3"]
    assert history.coverage().text == "the newest 1 of 1 or more commits"
    assert history.coverage().notes()[0].startswith("Older commits are not known: git cannot read the history: ")


def remove_object(root: Path, revision: str) -> None:
    name = git(root, "rev-parse", revision)
    (root / ".git" / "objects" / name[:2] / name[2:]).unlink()


@pytest.fixture
def listed(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[History]:
    """A history of which all commits are listed and the newest one is read."""
    storage = tmp_path / "bounded"
    storage.mkdir()
    with open_history(root, storage, Settings()) as history, monkeypatch.context() as patch:
        patch.setattr(project_history, "BATCH", 1)
        patch.setattr(project_history, "BATCHES", 1)
        history.update(0)
        patch.undo()
        yield history


@pytest.mark.parametrize("gone", [{1}, {2}, {3}, {1, 2}])
def test_only_a_commit_that_went_away_is_unreadable(root: Path, listed: History, gone: set[int]) -> None:
    """git passes over it without an error; the last commit was once taken for it, and lost."""
    for age in sorted(gone, reverse=True):  # git finds the older ones by the younger
        remove_object(root, f"HEAD~{age}")
    coverage = listed.update(60)
    assert subjects(listed) == [f"Commit {3 - age}" for age in range(4) if age not in gone]
    assert (coverage.read, coverage.unreadable, coverage.total) == (4 - len(gone), len(gone), 4)
    assert coverage.notes() == [
        f"{len(gone)} commits cannot be read, because objects of the repository are missing or too large."
    ]
    assert not listed.has_more()


@pytest.mark.parametrize("gone", [1, 2])
def test_a_commit_that_went_away_does_not_hide_one_without_its_files(root: Path, listed: History, gone: int) -> None:
    """git passes over the first and ends at the second, which has its message without its files."""
    remove_object(root, f"HEAD~{3 - gone}^{{tree}}")
    remove_object(root, f"HEAD~{gone}")
    coverage = listed.update(60)
    assert subjects(listed) == [f"Commit {3 - age}" for age in range(4) if age != gone]
    assert (coverage.read, coverage.unreadable) == (3, 1)


def test_a_commit_that_went_away_before_its_symbols_were_read_is_not_asked_for_again(
    root: Path, tmp_path: Path
) -> None:
    add_commits(root, [Change("Peel", {"a.py": "def peel():\n    return 1\n"})])
    with open_history(root, tmp_path, Settings()) as history:
        assert history.update(0).with_symbols == 0
        assert len(subjects(history)) == 5
        remove_object(root, "HEAD~2")
        history.update(60)
        assert not history.has_more()
        assert ("peel",) in history.database.rows("SELECT names FROM symbols")


def test_symbols_are_read_once_the_contents_are_back(root: Path, tmp_path: Path) -> None:
    """git packed the objects of a commit while its symbols were read, which it then never had."""
    add_commits(root, [Change("Peel", {"a.py": "def peel():\n    return 1\n"})])
    name = git(root, "rev-parse", "HEAD:a.py")
    content = root / ".git" / "objects" / name[:2] / name[2:]
    with open_history(root, tmp_path, Settings()) as history:
        content.rename(tmp_path / "away")
        assert history.update(60).is_complete
        assert not history.has_more()
        assert ("peel",) not in history.database.rows("SELECT names FROM symbols")
        (tmp_path / "away").rename(content)
        git(root, "gc", "-q")
        history.update(60)
        assert ("peel",) in history.database.rows("SELECT names FROM symbols")


def test_odd_commits_are_read(tmp_path: Path, opened: OpenHistory) -> None:
    root = make_repository(
        tmp_path / "odd",
        [
            Change(b"Caf\xe9 latin\n\n\x01\x02 \xff", {'"caf\\351.py"': "x\n", "b.bin": b"\0\1\2" * 100}, time=0),
            Change("From the future", {"a.py": "x\n"}, time=99_999_999_999),
            Change("Long\n\n" + "word " * 400_000, {"a.py": "y\n"}),
            Change("", {"a.py": "z\n"}),
            Change("Many", {f"g/{number}.py": "x\n" for number in range(1500)}),
            Change("Storm", renames={"g": "h"}),
        ],
    )
    body = git(root, "cat-file", "commit", "HEAD").replace("1700000000 +0000", "-99999999999999999999999 +9999")
    broken = git(root, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", given=body.encode())
    git(root, "update-ref", "refs/heads/main", broken)
    history = opened(root)
    assert subjects(history)[:3] == ["Storm", "Many", ""]
    assert subjects(history)[-1] == "Caf\ufffd latin"
    assert history.coverage().is_complete
    longest = history.database.rows("SELECT MAX(length(message)) FROM messages")[0][0]
    assert longest <= MAX_MESSAGE_BYTES
    assert history.database.rows("SELECT files FROM commits ORDER BY number DESC LIMIT 2") == [(1500,), (1500,)]


def test_reading_ends_in_time_and_goes_on_later(
    root: Path, opened: OpenHistory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(project_history, "BATCH", 1)
    monkeypatch.setattr(project_history, "BATCHES", 1)
    storage = tmp_path / "bounded"
    storage.mkdir()
    with open_history(root, storage, Settings()) as history:
        first = history.update(0)
        assert (first.read, first.total, first.text) == (1, 4, "the newest 1 of 4 commits")
        assert subjects(history) == ["Commit 3"]
        history.update(0)
        assert subjects(history) == ["Commit 3", "Commit 2"]
        assert history.update(60).text == "all 4 commits"


def test_a_reading_that_is_killed_before_it_counts_the_commits_is_finished_later(
    root: Path, listed: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All commits were read, and the counts of the turn before stayed for ever."""
    with monkeypatch.context() as patch:
        patch.setattr(listed.database, "settle", Mock(side_effect=SystemExit))
        with pytest.raises(SystemExit):
            listed.update(60)
    with open_history(root, tmp_path / "bounded", Settings()) as again:
        coverage = again.update(60)
        assert (coverage.is_complete, coverage.text) == (True, "all 4 commits")


def test_a_damaged_database_is_made_again(tmp_path: Path, root: Path, opened: OpenHistory) -> None:
    opened(root).close()
    for file in (tmp_path / "storage").glob("history.sqlite*"):
        file.write_bytes(b"no database" * 1000)
    assert len(subjects(opened(root))) == 4
    (tmp_path / "storage" / HISTORY_FILE).unlink()
    assert len(subjects(opened(root))) == 4


def test_a_history_of_a_later_format_is_refused(tmp_path: Path, root: Path, opened: OpenHistory) -> None:
    opened(root).close()
    with contextlib.closing(sqlite3.connect(tmp_path / "storage" / HISTORY_FILE)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreTooNew, match="format 99"):
        opened(root)


def test_a_history_that_another_process_reads_is_not_replaced_under_it(
    tmp_path: Path, root: Path, opened: OpenHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(opened(root))
    monkeypatch.setattr(project_history, "REPLACEMENT_SECONDS", 0.1)
    other = Settings(exclude=("a.py",))
    with Lock(tmp_path / "storage" / "history.lock").held(0):
        with pytest.raises(StoreBusy):
            opened(root, other)
        assert files(opened(root)) == before
    assert files(opened(root, other)) == {}


def test_other_settings_read_the_history_again(root: Path, opened: OpenHistory) -> None:
    assert files(opened(root)) == {"a.py": 4}
    assert files(opened(root, Settings(exclude=("a.py",)))) == {}
    with pytest.raises(NoHistory, match="readHistory is false"):
        opened(root, Settings(read_history=False))


def test_a_repository_that_goes_away_is_an_error(root: Path, opened: OpenHistory) -> None:
    opened(root)
    shutil.rmtree(root / ".git" / "objects")
    with pytest.raises(NoHistory, match="not in a git repository"):
        opened(root)


def test_a_damaged_history_is_found_and_removed(tmp_path: Path, root: Path) -> None:
    git(root, "checkout", "-q", "main")
    project = open_indexed(root)
    with open_history(root, project.folder, Settings()) as history:
        history.update(60)
    assert (project.check(), sum(read_commit_counts(project.folder).values())) == ([], 4)
    (project.folder / HISTORY_FILE).write_bytes(b"no database" * 1000)
    assert read_commit_counts(project.folder) == {}
    findings = project.check()
    assert [finding.part for finding in findings] == ["history"]
    assert project.repair(findings) == []
    assert not (project.folder / HISTORY_FILE).exists()
    project.close()


def both(number: int) -> dict[str, str]:
    return {"pay.py": f"pay = {number}\n", "bill.py": f"bill = {number}\n"}


def together(opened: OpenHistory, root: Path, path: str, **how: object) -> list[tuple[str, int]]:
    return [(one.path, one.commits) for one in opened(root, **how).changed_together(path).files]


def test_files_that_change_together_are_counted(tmp_path: Path, opened: OpenHistory) -> None:
    changes = [Change("a", both(1)), Change("b", both(2)), Change("c", {"pay.py": "pay = 3\n", "tax.py": "tax\n"})]
    root = make_repository(tmp_path / "shop", changes)
    found = opened(root).changed_together("pay.py")
    assert found.commits == 3
    assert [(one.path, one.commits) for one in found.files] == [("bill.py", 2), ("tax.py", 1)]
    assert opened(root).changed_together("nowhere.py").files == ()


def test_renames_are_followed_on_both_sides(tmp_path: Path, opened: OpenHistory) -> None:
    root = make_repository(
        tmp_path / "shop",
        [
            Change("a", both(1)),
            Change("b", both(2)),
            Change("move one", renames={"pay.py": "charge.py"}),
            Change("move the other", renames={"bill.py": "invoice.py"}),
            Change("c", {"charge.py": "pay = 3\n", "invoice.py": "bill = 3\n"}),
        ],
    )
    assert together(opened, root, "charge.py") == [("invoice.py", 3)]
    assert together(opened, root, "pay.py") == [("invoice.py", 2)], "what is asked for by its old name is followed too"


def test_huge_commits_and_denied_paths_do_not_count(tmp_path: Path, opened: OpenHistory) -> None:
    many = {f"generated/{number}.py": "x\n" for number in range(MAX_COMMIT_FILES)}
    root = make_repository(
        tmp_path / "shop",
        [
            Change("format all", {"pay.py": "pay\n", **many}),
            Change("a", {"pay.py": "pay = 1\n", ".env": "KEY=1\n", "secret/plan.md": "x\n", "notes/own.md": "x\n"}),
        ],
    )
    (root / ".dowseignore").write_text("notes/\n", encoding="utf-8")
    assert together(opened, root, "pay.py", settings=Settings(exclude=("secret/**",))) == []
