"""The changes of a commit are shown as far as the rules of today allow."""

from pathlib import Path

import pytest

from dowse.errors import ItemNotFound
from dowse.searching.history.commit_diffs import read_changes
from dowse.searching.history.history_search import HistoryOptions, search_history
from tests.end_to_end.security.fake_secrets import GITHUB as TOKEN
from tests.end_to_end.security.fake_secrets import private_key
from tests.searching.history.conftest import OpenHistory
from tests.searching.history.repositories import Change, git, make_repository

KEY = private_key()
PEEL = "def peel(apple):\n" + "    apple.turn()\n" * 10 + "    return apple\n"
CHANGES = [
    Change("Begin", {"src/peel.py": PEEL, ".env": "A=1\n", "a b.txt": "x\n"}, time=1_700_000_000),
    Change("Move and mend\n\nBecause of the skin.", {"src/new.py": PEEL.replace("return apple", "return apple[1:]")}, {"src/peel.py": "src/new.py"}, time=1_700_000_100),
    Change(f"Add a token {TOKEN}", {"src/token.py": f'TOKEN = "{TOKEN}"\n', "keys/mine": KEY, "p.png": b"\x89PNG\0\0"}, time=1_700_000_200),
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "shop", CHANGES)


def test_a_commit_has_its_message_and_the_changes_of_each_file(opened: OpenHistory, root: Path) -> None:
    name = git(root, "rev-parse", "main~1")
    found = read_changes(opened(root), name[:10])
    assert (found.name, found.author, found.time) == (name, "Ada", "2023-11-14T22:15:00Z")
    assert found.message == "Move and mend\n\nBecause of the skin."
    (file,) = found.files
    assert (file.path, file.old_path, file.added, file.removed) == ("src/new.py", "src/peel.py", 1, 1)
    assert "-    return apple\n+    return apple[1:]" in file.text


def test_a_denied_file_is_counted_and_not_shown(opened: OpenHistory, root: Path) -> None:
    found = read_changes(opened(root), git(root, "rev-parse", "main~2"))
    assert ([file.path for file in found.files], found.hidden) == (["a b.txt", "src/peel.py"], 1)


def test_a_file_that_had_a_denied_name_is_not_shown(opened: OpenHistory, tmp_path: Path) -> None:
    changes = [Change("Begin", {".env": "A=1\n"}), Change("Rename", renames={".env": "settings.txt"})]
    root = make_repository(tmp_path / "renamed", changes)
    found = read_changes(opened(root), git(root, "rev-parse", "main"))
    assert (found.files, found.hidden) == ((), 1)


def test_a_file_is_shown_whatever_its_name_and_kind(opened: OpenHistory, tmp_path: Path) -> None:
    """A name that has ` b/` many times took minutes to be read, and one with quotes was left out."""
    odd = ["a b/a b/c.py", 'q"1.py', "d.py"]
    root = make_repository(
        tmp_path / "empty", [Change("Begin", {odd[0]: "", odd[1]: "x\n", "link": "x\n", odd[2]: ""})]
    )
    found = read_changes(opened(root), git(root, "rev-parse", "main"))
    assert sorted(file.path for file in found.files) == sorted([*odd, "link"])
    git(root, "reset", "-q", "--hard")
    (root / "link").unlink()
    (root / "link").symlink_to("d.py")
    (root / "z.py").write_text("y\n", encoding="utf-8")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Link")
    found = read_changes(opened(root), git(root, "rev-parse", "main"))
    assert [(file.path, file.added, file.removed) for file in found.files] == [
        ("link", 0, 1), ("link", 1, 0), ("z.py", 1, 0),
    ]  # fmt: skip


def test_secrets_are_masked_and_keys_are_not_shown(opened: OpenHistory, root: Path) -> None:
    found = read_changes(opened(root), git(root, "rev-parse", "main"))
    shown = {file.path: file for file in found.files}
    assert set(shown) == {"src/token.py", "p.png"}
    assert shown["src/token.py"].masked
    assert shown["p.png"].text == ""
    assert TOKEN not in str(found)
    assert KEY.split("\n")[1] not in str(found)


@pytest.mark.parametrize("name", ["", "--help", "HEAD", "0123456789", "main", "x" * 40])
def test_only_commits_that_head_leads_to_are_read(opened: OpenHistory, root: Path, name: str) -> None:
    history = opened(root)
    with pytest.raises(ItemNotFound):
        read_changes(history, name)
    tip = git(root, "rev-parse", "main")
    git(root, "update-ref", "refs/heads/main", "main~1")
    history.update(60)
    with pytest.raises(ItemNotFound):
        read_changes(history, tip)


def test_without_words_the_newest_commits_of_a_path_come_first(opened: OpenHistory, root: Path) -> None:
    def subjects(**how: object) -> list[str]:
        return [hit.subject for hit in search_history(opened(root), "", HistoryOptions(**how)).hits]  # type: ignore[arg-type]

    assert subjects(path_glob="src/new.py") == ["Move and mend", "Begin"]
    assert [subject.partition(" ")[0] for subject in subjects()] == ["Add", "Move", "Begin"]
    assert len(subjects(limit=1)) == 1
