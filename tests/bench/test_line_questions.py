"""The questions about lines have answers."""

import pytest
from bench.line_questions import LineQuestion, read_questions

from tests.repository import REPOSITORY


@pytest.mark.parametrize(
    "question", [one for one in read_questions() if one.repository == "dowse"], ids=lambda one: one.question
)
def test_a_question_about_this_repository_has_its_lines(question: LineQuestion) -> None:
    assert question.answering_lines(REPOSITORY), f"{question.path} lacks {question.symbol} {question.lines}"
