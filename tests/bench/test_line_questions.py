"""The questions about lines have answers."""

from bench.line_questions import read_questions

from tests.repository import REPOSITORY


def test_a_question_about_this_repository_has_its_lines() -> None:
    for question in [one for one in read_questions() if one.repository == "dowse"]:
        assert question.answering_lines(REPOSITORY), f"{question.path} lacks {question.symbol} {question.lines}"
