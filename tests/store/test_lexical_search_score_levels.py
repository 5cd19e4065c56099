"""Scores that differ in their last digits alone are one score."""

from hypothesis import given
from hypothesis import strategies as st

from dowse.store.lexical_search import SAME_SCORE, level_scores

SCORES = st.lists(st.floats(0.001, 1000)).map(lambda found: sorted(found, reverse=True))


def test_digits_around_a_limit_of_rounding_stay_together() -> None:
    assert len(set(level_scores([0.769205003, 0.769204997]))) == 1


@given(SCORES)
def test_a_level_is_narrow_and_keeps_the_order(scores: list[float]) -> None:
    levels = list(level_scores(scores))
    assert levels == sorted(levels, reverse=True)
    assert all(score <= level <= score * (1 + 2 * SAME_SCORE) for score, level in zip(scores, levels, strict=True))
