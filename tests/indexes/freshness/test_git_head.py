"""Every git command that moves HEAD changes the state that is read; compared with git itself."""

import os
from pathlib import Path

import pytest

from dowse.indexes.freshness.git_head import read_head
from tests.searching.history.repositories import Change, add_commits, git, make_repository


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "repo", [Change(text, {"a.txt": text}) for text in ("one", "two")])
    git(root, "branch", "side", "main~1")
    add_commits(root, [Change("side", {"b.txt": "b"})], "side")
    git(root, "reset", "-q", "--hard")
    return root


def commit(root: Path, text: str) -> None:
    (root / "a.txt").write_text(text, encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", text)


def test_outside_of_a_repository_there_is_no_head(tmp_path: Path) -> None:
    assert read_head(tmp_path) is None


def test_head_is_the_same_while_nothing_moves_it(repository: Path) -> None:
    before = read_head(repository)
    (repository / "a.txt").write_text("saved, not committed", encoding="utf-8")
    git(repository, "status")
    git(repository, "add", ".")
    assert read_head(repository) == before


def test_a_folder_within_a_repository_has_its_head(repository: Path) -> None:
    (repository / "below").mkdir()
    assert read_head(repository / "below") == read_head(repository)


@pytest.mark.parametrize(
    "moves",
    [
        [["commit", "--allow-empty", "-q", "-m", "x"]],
        [["commit", "--amend", "-q", "-m", "x"]],
        [["checkout", "-q", "-b", "other"]],
        [["checkout", "-q", "HEAD~1"]],
        [["reset", "-q", "--hard", "HEAD~1"]],
        [["reset", "-q", "--hard", "HEAD"]],
        [["switch", "-q", "-c", "third"]],
        [["revert", "--no-edit", "HEAD"]],
        [["merge", "-q", "--no-edit", "side"]],
        [["rebase", "-q", "side"]],
    ],
    ids=lambda moves: moves[0][0] + moves[0][-1],
)
def test_what_moves_head_is_seen(repository: Path, moves: list[list[str]]) -> None:
    before = read_head(repository)
    for move in moves:
        git(repository, *move)
    assert read_head(repository) != before


def test_a_commit_is_seen_with_packed_references_and_without_a_reflog(repository: Path) -> None:
    git(repository, "config", "core.logAllRefUpdates", "false")
    git(repository, "pack-refs", "--all")
    before = read_head(repository)
    assert before is not None
    assert before[0] == git(repository, "rev-parse", "HEAD").strip()
    commit(repository, "three")
    after = read_head(repository)
    assert after is not None
    assert after[0] == git(repository, "rev-parse", "HEAD").strip()


def test_a_worktree_has_a_head_of_its_own(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "worktree"
    git(repository, "worktree", "add", "-q", str(other), "-b", "elsewhere")
    before, main = read_head(other), read_head(repository)
    commit(other, "in the worktree")
    assert read_head(other) != before
    assert read_head(repository) == main


def test_a_submodule_has_a_head_of_its_own(repository: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    commit(inner, "inner")
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    before = read_head(repository / "sub")
    assert before != read_head(repository)
    commit(repository / "sub", "changed")
    assert read_head(repository / "sub") != before


@pytest.mark.parametrize("is_link", [False, True], ids=["a file", "a link"])
def test_a_git_folder_elsewhere_that_does_not_name_its_files_is_watched(tmp_path: Path, is_link: bool) -> None:
    """No commit was seen with `git init --separate-git-dir`, nor with a link."""
    root, folder = tmp_path / "repo", tmp_path / "elsewhere"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", f"--separate-git-dir={folder}")
    if is_link:
        (root / ".git").unlink()
        (root / ".git").symlink_to(folder)
    commit(root, "one")
    before = read_head(root)
    assert before is not None
    assert read_head(root) == before
    commit(root, "two")
    assert read_head(root) != before


def test_a_pipe_in_the_place_of_head_is_not_waited_for(repository: Path) -> None:
    (repository / ".git/HEAD").unlink()
    os.mkfifo(repository / ".git/HEAD")
    assert read_head(repository) is not None
    (repository / "below").mkdir()
    (repository / "below/.git").write_text("gitdir: a\0b", encoding="utf-8")
    assert read_head(repository / "below") is None
