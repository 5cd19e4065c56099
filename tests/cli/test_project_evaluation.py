"""Questions of commits, and the place of the first right file."""

from dowse.cli.project_evaluation import commit_question, is_changelog


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
