"""`dowse eval` as a user types it, on a repository with known answers."""

import shutil
from pathlib import Path

import pytest

from dowse.store.storage_layout import list_projects
from tests.cli.conftest import Run
from tests.cli.evaluated_repository import make_repository
from tests.end_to_end.security.fake_secrets import GITHUB
from tests.searching.history import repositories
from tests.searching.history.repositories import Change, git

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="NO GIT HERE")


def test_a_project_is_evaluated_and_stays_as_it_is(run: Run, tmp_path: Path) -> None:
    root = make_repository(tmp_path / "shop")
    before = sorted(root.rglob("*"))
    ran = run("eval", root, "--json")
    assert ran.code == 0, ran.err
    questions = {question["text"]: question for question in ran.json["questions"]["table"]}
    assert set(questions) == {"Peel the apple in one ribbon", "Charge the customer only once"}
    assert {question["rank"] for question in questions.values()} == {1}
    assert questions["Charge the customer only once"]["answers"] == ["pay.py"]
    assert ran.json["scores"]["words"]["hit@1"] == 1
    assert sorted(root.rglob("*")) == before
    assert list_projects() == []


def test_nothing_of_a_commit_is_shown_that_is_denied_today(run: Run, tmp_path: Path) -> None:
    repositories.make_repository(
        tmp_path / "shop",
        [
            Change("Begin", {".env": "A=1\n", "old/pay.py": "def charge(): ...\n", "pear.py": "def pear(): ...\n"}),
            Change("Change what the environment says", {".env": "A=2\n"}),
            Change("Charge the customer only once", {"old/pay.py": "def charge(once): ...\n"}),
            Change(f"Let pears grow with {GITHUB}", {"pear.py": "def pear(grows): ...\n"}),
            Change("Leave it out", {".gitignore": "old/\n"}),
        ],
    )
    git(tmp_path / "shop", "checkout", "-q", "-f", "main")
    ran = run("eval", tmp_path / "shop", "--json")
    [question] = ran.json["questions"]["table"]
    assert question["text"] == "Let pears grow with [masked: github-pat]"
    for denied in (".env", "old/", GITHUB):
        assert denied not in ran.out


def test_the_scores_are_shown_with_what_was_missed(run: Run, tmp_path: Path) -> None:
    root = make_repository(tmp_path / "shop")
    ran = run("eval", root / "fruit")
    assert ran.code == 0, ran.err
    assert "1 commit asked" in ran.out
    assert "hit@1   words 100.0%  table 100.0%" in ran.out


def test_a_folder_without_history_has_no_questions(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.txt").write_text("hello\n", encoding="utf-8")
    ran = run("eval", tmp_path / "plain")
    assert ran.code == 1
    assert "there is no git repository" in ran.err
