"""Files that change together, under their names of today."""

from pathlib import Path

from dowse.searching.history.co_changes import MAX_FILES, changed_together
from dowse.settings import Settings
from tests.searching.history.conftest import OpenHistory
from tests.searching.history.repositories import Change, make_repository


def both(number: int) -> dict[str, str]:
    return {"pay.py": f"pay = {number}\n", "bill.py": f"bill = {number}\n"}


def found(opened: OpenHistory, root: Path, path: str, **how: object) -> list[tuple[str, int]]:
    return [(one.path, one.commits) for one in changed_together(opened(root, **how), path).files]


def test_files_that_change_together_are_counted(tmp_path: Path, opened: OpenHistory) -> None:
    changes = [Change("a", both(1)), Change("b", both(2)), Change("c", {"pay.py": "pay = 3\n", "tax.py": "tax\n"})]
    root = make_repository(tmp_path / "shop", changes)
    together = changed_together(opened(root), "pay.py")
    assert together.commits == 3
    assert [(one.path, one.commits) for one in together.files] == [("bill.py", 2), ("tax.py", 1)]
    assert changed_together(opened(root), "nowhere.py").files == ()


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
    assert found(opened, root, "charge.py") == [("invoice.py", 3)]
    assert found(opened, root, "pay.py") == [("invoice.py", 2)], "what is asked for by its old name is followed too"


def test_huge_commits_and_denied_paths_do_not_count(tmp_path: Path, opened: OpenHistory) -> None:
    many = {f"generated/{number}.py": "x\n" for number in range(MAX_FILES)}
    root = make_repository(
        tmp_path / "shop",
        [
            Change("format all", {"pay.py": "pay\n", **many}),
            Change("a", {"pay.py": "pay = 1\n", ".env": "KEY=1\n", "secret/plan.md": "x\n", "notes/own.md": "x\n"}),
        ],
    )
    (root / ".dowseignore").write_text("notes/\n", encoding="utf-8")
    assert found(opened, root, "pay.py", settings=Settings(exclude=("secret/**",))) == []
