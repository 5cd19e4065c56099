"""Scores as bars."""

from xml.etree import ElementTree as ET

from dowse.evaluation.score_chart import as_svg, as_text

SCORES = {"words": {"hit@1": 0.5, "hit@5": 1.0}, "table & more": {"hit@1": 0.0, "hit@5": 0.25}}


def test_bars_are_as_long_as_the_scores() -> None:
    lines = as_text(SCORES)
    assert lines[0] == "hit@1       words          50.0%  " + "█" * 15
    assert lines[1] == "            table & more    0.0%"
    assert lines[3].count("█") == 7


def test_the_picture_is_valid_and_names_everything() -> None:
    text = "".join(ET.fromstring(as_svg(SCORES, "Search in <shop>")).itertext())
    assert all(word in text for word in ("Search in <shop>", "words", "table & more", "hit@5", "25.0%"))
