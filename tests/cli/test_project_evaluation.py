"""Questions of commits, and a clone that is read without running anything of the repository."""

from pathlib import Path

from dowse.cli.project_evaluation import GitClone, commit_question, is_changelog
from tests.cli.evaluated_repository import make_repository
from tests.searching.history.repositories import git


def test_a_message_without_its_trailers() -> None:
    for message, question in (
        ("Peel apples in one ribbon\n\nSlowly.\n\nSigned-off-by: A <a@b>", "Peel apples in one ribbon\n\nSlowly."),
        ("fix typo", ""),
        ("Merge branch 'main' into the other branch", ""),
        ("Bump the version of all packages", ""),
        ("v1.2 is the next release of this", ""),
        ("", ""),
    ):
        assert commit_question(message) == question


def test_a_changelog_answers_nothing() -> None:
    assert all(map(is_changelog, ["CHANGES.rst", "docs/changelog.md", "changes/12.txt", "NEWS", "release-notes.md"]))
    assert not any(map(is_changelog, ["src/change_set.py/x.py", "src/exchange.py", "docs/guide.md"]))


def test_changed_files_are_the_old_ones(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "shop")
    clone = GitClone(root, tmp_path / "work" / "clone")
    by_message = {one.message: one for one in clone.commits(10)}
    assert list(by_message) == ["Charge the customer only once", "Peel the apple in one ribbon"]
    assert clone.changed_files(by_message["Charge the customer only once"]) == ["CHANGES.md", "pay.py"]
    changed = clone.changed_files(by_message["Peel the apple in one ribbon"])
    assert changed == ["fruit/äpfel.py"], "a new file answers nothing"
    clone.check_out(by_message["Charge the customer only once"].parent)
    assert "twice" in (clone.folder / "pay.py").read_text(encoding="utf-8")


def test_nothing_of_the_repository_runs(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "shop")
    trap = tmp_path / "ran"
    program = tmp_path / "trap.sh"
    program.write_text(f"#!/bin/sh\ntouch {trap}\ncat\n", encoding="utf-8")
    program.chmod(0o755)
    traps = "core.fsmonitor core.sshCommand diff.external filter.x.smudge filter.x.process diff.x.textconv"
    for key in traps.split():
        git(root, "config", key, str(program))
    for hook in ("post-checkout", "reference-transaction", "pre-auto-gc"):
        (root / ".git" / "hooks").mkdir(exist_ok=True)
        (root / ".git" / "hooks" / hook).symlink_to(program)
    (root / ".gitattributes").write_text("*.py filter=x diff=x\n", encoding="utf-8")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Filter all files by a program")
    trap.unlink(missing_ok=True)
    clone = GitClone(root, tmp_path / "work" / "clone")
    for one in clone.commits(10):
        clone.changed_files(one)
        clone.check_out(one.name)
    assert not trap.exists()
