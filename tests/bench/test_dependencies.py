"""The questions about packages, and how an answer is judged."""

from collections import Counter
from pathlib import Path

from bench.dependencies import Question, ask, grep_place, read_questions, texts_of

from dowse.indexes.dependencies.package_search import Dependencies
from tests.indexes.dependencies import environments
from tests.indexes.dependencies.environments import enable_dependencies


def test_there_are_six_questions_for_each_of_twenty_packages() -> None:
    questions = read_questions()
    assert set(Counter(one.package for one in questions).values()) == {6}
    assert (len(questions), len({one.ecosystem for one in questions})) == (120, 7)


def test_an_answer_is_right_if_it_shows_the_definition_at_the_version(tmp_path: Path) -> None:
    enable_dependencies()
    dependencies = Dependencies(environments.python_project(tmp_path))
    dependencies.index_packages()
    question = Question(
        "python", "tinyhttp", "1.2.0", "send a request as the retry policy says", ("tinyhttp/__init__.py",),
        frozenset({"send_request"}),
    )  # fmt: skip
    assert ask(dependencies, question)[0] == (1, 1, 0)
    assert grep_place(texts_of(dependencies)[0], question) == 1
