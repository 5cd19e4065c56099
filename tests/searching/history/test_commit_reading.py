"""Commits as git prints them, also those that change more than is kept of one."""

from pathlib import Path

import pytest

from dowse.searching.history import commit_reading
from dowse.searching.history.commit_reading import list_commits, read_commits, read_symbols
from dowse.searching.history.git_objects import find_repository, open_objects
from tests.searching.history.repositories import Change, git, make_repository


def test_the_rest_of_a_large_commit_is_passed_over_and_the_next_one_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit_reading, "MAX_RECORD_BYTES", 2000)
    lines = "".join(f"def peel_{number}(): pass\n" for number in range(20_000))  # several chunks of what git prints
    many = {f"generated/{number:04}.py": f"x = {number}\n" for number in range(900)} | {"pear.py": lines}
    changes = [Change("Plant", {"tree.py": "def plant(): pass\n"}), Change("Generate", many),
               Change("Water", {"tree.py": "def water(): pass\n"})]  # fmt: skip
    root = tmp_path / "orchard"
    make_repository(root, changes)
    git(root, "reset", "--hard", "--quiet")
    repository = find_repository(root)
    with open_objects(repository) as objects:
        names = list_commits(objects, repository.head, None, 10).new
        commits = list(read_commits(objects, names, 60))
        symbols = dict(read_symbols(objects, names, 60))
    assert [commit.message for commit in commits] == ["Water", "Generate", "Plant"]
    assert [commit.files for commit in commits if commit.message != "Generate"] == [("tree.py",)] * 2
    assert [commit.is_cut for commit in commits] == [False, True, False]
    assert 0 < commits[1].file_count <= len(many)  # how much is kept depends on the pieces in which git prints
    assert list(symbols) == names
    assert (symbols[names[0]], symbols[names[2]]) == ({"tree.py": ["plant", "water"]}, {"tree.py": ["plant"]})
