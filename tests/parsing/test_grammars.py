from collections.abc import Iterator
from importlib import resources

import pytest

from dowse.parsing import grammars
from dowse.parsing.grammars import load_grammar, parse
from dowse.parsing.text_cutting import chunk


@pytest.fixture
def no_grammar_loaded() -> Iterator[None]:
    load_grammar.cache_clear()
    yield
    load_grammar.cache_clear()


def queries() -> list[str]:
    return sorted(file.name.removesuffix(".scm") for file in (resources.files("dowse.parsing") / "queries").iterdir())


def is_parsed(text: str, language: str = "python") -> bool:
    grammar = load_grammar(language)
    assert grammar is not None
    return parse(grammar, text.encode()) is not None


def test_every_file_of_patterns_belongs_to_a_grammar() -> None:
    for name in queries():
        grammar = load_grammar(name.removesuffix("_fields"))
        assert grammar is not None
        assert grammar.definitions is not None


@pytest.mark.usefixtures("no_grammar_loaded")
def test_code_is_cut_as_text_where_grammars_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammars, "load_language", lambda _name: None)
    (only,), _ = chunk("def walk():\n    pass\n", "python", "code")
    assert only.symbols == ()


def test_ordinary_code_is_parsed() -> None:
    assert is_parsed("".join(f"x_{number} = {number}\n" for number in range(5000)))


def test_a_long_file_that_people_wrote_is_parsed() -> None:
    assert is_parsed("".join(f"def function_{number}():\n    return {number}\n\n\n" for number in range(14_000)))


def test_text_that_no_parser_should_see_is_not_parsed() -> None:
    for text in (
        "x = 1\n" * 100_000,
        "x = 1;" * 10_000,
        "a<\n" * 30_000,
        "".join(f"a{n} <\n" for n in range(2000)),
        "a=>\n" * 5000,
    ):
        assert not is_parsed(text, "java")
