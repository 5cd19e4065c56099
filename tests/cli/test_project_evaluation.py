"""The place of the right file and the share of the right lines."""

import pytest

from dowse.cli.project_evaluation import Question, ShownLines, commit_question, is_changelog, judge, summarize

QUESTION = Question("x", {"a.py": ((1, 2), (10, 11)), "b.py": ((5, 5),)})


def test_the_first_right_file_counts_and_every_one_gains() -> None:
    outcome = judge(QUESTION, ["c.py", "a.py", "d.py", "b.py"], [])
    assert outcome.rank == 2
    assert outcome.ndcg == pytest.approx((0.6309 + 0.4307) / (1 + 0.6309), abs=1e-3)
    assert judge(QUESTION, ["a.py", "b.py"], []).ndcg == pytest.approx(1)
    assert judge(QUESTION, [f"{n}.py" for n in range(10)] + ["a.py"], []).rank is None


def test_lines_count_as_far_as_the_budget_goes() -> None:
    shown = [ShownLines("a.py", (1, 4), 1900), ShownLines("b.py", (5, 6), 1900), ShownLines("a.py", (11, 30), 12_000)]
    assert judge(QUESTION, ["a.py"], shown).recall == (0.4, 0.6, 0.6, 0.8)


def test_means_are_over_questions() -> None:
    outcomes = [judge(QUESTION, ["a.py", "b.py"], []), judge(QUESTION, [], [])]
    assert summarize(outcomes) | {} == {
        "hit@1": 0.5, "hit@5": 0.5, "hit@10": 0.5, "nDCG@10": 0.5,
        "lines@500": 0.0, "lines@1000": 0.0, "lines@2000": 0.0, "lines@4000": 0.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("Peel apples in one ribbon\n\nSlowly.\n\nSigned-off-by: A <a@b>", "Peel apples in one ribbon\n\nSlowly."),
        ("fix typo", ""),
        ("Merge branch 'main' into the other branch", ""),
        ("Bump the version of all packages", ""),
        ("v1.2 is the next release of this", ""),
        ("", ""),
    ],
)
def test_a_message_without_its_trailers(message: str, question: str) -> None:
    assert commit_question(message) == question


def test_a_changelog_answers_nothing() -> None:
    assert all(map(is_changelog, ["CHANGES.rst", "docs/changelog.md", "changes/12.txt", "NEWS", "release-notes.md"]))
    assert not any(map(is_changelog, ["src/change_set.py/x.py", "src/exchange.py", "docs/guide.md"]))
