"""The place of the right file and the share of the right lines."""

import pytest

from dowse.evaluation.measures import Question, ShownLines, judge, summarize

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
