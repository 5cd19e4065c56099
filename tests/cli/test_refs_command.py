"""`dowse refs` and `dowse related`: definitions and uses of a name, and the files around a file."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.sample_data import write_tree
from tests.searching.history.repositories import Change, git, make_repository


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    """Make a function and a file that calls it."""
    files = {"pyproject.toml": "", "apple.py": "def peel(): ...\n", "cook.py": "from apple import peel\n\npeel()\n"}
    return write_tree(tmp_path / "kitchen", files)


def test_definitions_and_uses_are_printed_as_an_assistant_gets_them(run: Run, kitchen: Path) -> None:
    ran = run("refs", "peel", kitchen)
    assert ran.out.splitlines() == [
        "peel: defined at", "  apple.py:1  def peel(): ...", "  2 uses in 1 file", "cook.py",
        "  1 from apple import peel", "  3 peel()",
    ]  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    assert "  1 more uses; narrow path" in run("refs", "apple.peel", kitchen, "--limit", "1").out


def test_an_unknown_name_ends_with_1_and_similar_names(run: Run, kitchen: Path) -> None:
    ran = run("refs", "peeel", kitchen)
    assert (ran.code, ran.out, ran.err) == (1, "", "peeel: nothing here is called that. Similar names: peel.\n")


def test_what_is_no_name_is_refused(run: Run, kitchen: Path) -> None:
    ran = run("refs", "def peel()", kitchen)
    assert ran.code == 2
    assert "is no name" in ran.err


def test_each_file_has_its_reason(run: Run, tmp_path: Path) -> None:
    changes = [
        Change(f"Change {n}", {"apple.py": f"def peel(): return {n}\n", "prices.csv": f"apple,{n}\n"}) for n in range(3)
    ]
    root = make_repository(tmp_path / "kitchen", changes)
    git(root, "checkout", "-q", "-f", "main")
    write_tree(root, {"cook.py": "from apple import peel\n", "test_apple.py": "import apple\n"})
    ran = run("related", root / "apple.py")
    assert ran.out.splitlines() == [
        "imported by", "  cook.py  imports peel in line 1",
        "tests", "  test_apple.py  imports it in line 1",
        "changes with", "  prices.csv  changed together in 3 of 3 commits",
    ]  # fmt: skip
    found = json.loads(run("related", root / "cook.py", "--json").out)
    assert found["imports"] == [{"path": "apple.py", "reason": "imports peel in line 1"}]


def test_the_path_is_below_the_folder_that_is_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"pyproject.toml": "", "src/apple.py": "def peel(): ...\n", "cook.py": "from src.apple import peel\n"}
    root = write_tree(tmp_path / "kitchen", files)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "apple.py").write_text("", encoding="utf-8")  # below the working directory
    shown = "imported by\n  cook.py  imports peel in line 1\n"
    assert run("related", "src/apple.py", root).out == shown
    assert run("related", "apple.py", root / "src").out == shown  # the index of the project around it
    assert run("related", root / "src" / "apple.py", root).out == shown
    outside = run("related", tmp_path / "src" / "apple.py", root)
    assert (outside.code, "is not indexed" in outside.err) == (2, True)
    missing = run("related", "src/apple.py", tmp_path / "nowhere")
    assert (missing.code, "nowhere is not a folder" in missing.err) == (2, True)


def test_it_works_without_a_repository_and_refuses_other_files(run: Run, tmp_path: Path) -> None:
    root = write_tree(tmp_path / "bowl", {"pyproject.toml": "", "apple.py": "", ".env": "A=1\n"})
    assert run("related", root / "apple.py").code == 1
    refused = run("related", root / ".env")
    assert (refused.code, ".env is not indexed: denied" in refused.err) == (2, True)
    for path, problem in (("", "'' is not a path"), ("~nosuchuser/apple.py", "there is no such user")):
        wrong = run("related", path, root)
        assert (wrong.code, problem in wrong.err) == (2, True), wrong.err
