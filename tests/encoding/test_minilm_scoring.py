"""Scores of texts against a query, by the cosine of their vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from dowse.encoding import minilm
from dowse.encoding.minilm import SPREAD, CosineScorer
from dowse.encoding.selection import open_minilm

if TYPE_CHECKING:
    from dowse.encoding.minilm import MiniLM
    from dowse.types import Vectors

TEXTS = [
    "src/fees.py\ndef late_fee(days):\n    return days * RATE",
    "src/labels.py\ndef print_label(parcel):\n    printer.send(parcel.address)",
    "src/clock.py\ndef wait_until(moment):\n    sleep(moment - now())",
]


class Counted:
    """An encoder that records its texts; the length of a text is its vector."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode_briefly(self, texts: Sequence[str]) -> "Vectors":
        self.seen += texts
        return np.array([[len(text), 0.0] for text in texts], np.float32).reshape(len(texts), 2)

    def encode_query(self, _text: str) -> "Vectors":
        return np.array([1.0, 0.0], np.float32)


def counted(threads: int = 1) -> tuple[Counted, CosineScorer]:
    encoder = Counted()
    return encoder, CosineScorer(cast("MiniLM", encoder), threads)


def test_the_text_that_answers_scores_highest() -> None:
    scores = CosineScorer(open_minilm(), 2).score("what do people pay who bring a book back too late", TEXTS)
    assert scores.argmax() == 0
    assert np.abs(scores * SPREAD).max() <= 1.001


def test_each_text_gets_its_own_score_in_any_order() -> None:
    for threads in (1, 2, 4):
        texts = ["a" * length for length in (5, 1, 9, 5, 3)]
        _, scorer = counted(threads)
        assert np.allclose(scorer.score("query", texts) * SPREAD, [5, 1, 9, 5, 3])
        assert scorer.score("query", []).shape == (0,)


def test_a_text_is_encoded_once_for_several_queries() -> None:
    encoder, scorer = counted()
    scorer.score("first", ["a", "bb", "a"])
    scorer.score("second", ["bb", "ccc"])
    assert sorted(encoder.seen) == ["a", "bb", "ccc"]


def test_the_texts_of_the_latest_queries_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "KEPT_VECTORS", 2)
    encoder, scorer = counted()
    for texts in (["a", "bb"], ["a", "ccc"], ["a"], ["bb"]):
        scorer.score("query", texts)
    assert encoder.seen == ["a", "bb", "ccc", "bb"]
    assert np.allclose(scorer.score("query", ["a", "bb", "ccc"]) * SPREAD, [1, 2, 3]), "more texts than are kept"


def test_half_a_character_is_scored_like_any_text() -> None:
    assert CosineScorer(open_minilm()).score("half \ud800", ["\ud800", ""]).shape == (2,)
