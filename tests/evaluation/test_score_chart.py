"""Scores as bars."""

from dowse.evaluation.score_chart import as_text

SCORES = {"words": {"hit@1": 0.5, "hit@5": 1.0}, "table & more": {"hit@1": 0.0, "hit@5": 0.25}}


def test_bars_are_as_long_as_the_scores() -> None:
    lines = as_text(SCORES)
    assert lines[0] == "hit@1       words          50.0%  " + "█" * 15
    assert lines[1] == "            table & more    0.0%"
    assert lines[3].count("█") == 7
