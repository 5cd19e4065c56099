import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest
import semble_grammars  # type: ignore[import-untyped]
from tree_sitter import Parser

from dowse.parsing import grammars
from dowse.parsing.grammars import GrammarBundle, find_bundle, load_grammar, load_language, parse, unpack_libraries
from dowse.parsing.text_cutting import chunk


@pytest.fixture
def no_grammar_loaded() -> Iterator[None]:
    grammars._loaded_grammar.cache_clear()
    yield
    grammars._loaded_grammar.cache_clear()


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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder without libraries, where they are unpacked."""
    monkeypatch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(tmp_path / "grammars"))
    find_bundle.cache_clear()
    bundle = find_bundle()
    assert bundle is not None
    yield bundle.folder
    find_bundle.cache_clear()


def libraries(folder: Path) -> list[str]:
    return sorted(file.stem for file in folder.iterdir() if file.suffix != ".lock")


def test_every_grammar_of_the_package_is_known_by_its_name() -> None:
    bundle = find_bundle()
    assert bundle is not None
    assert sorted(bundle.libraries) == semble_grammars.available_languages()


def test_a_grammar_is_the_one_that_the_package_would_load(folder: Path) -> None:
    mine, theirs = load_language("python"), semble_grammars.get_language("python")
    assert mine is not None
    text = b"def f(x):\n    return [y for y in x]\n"
    assert str(Parser(mine).parse(text).root_node) == str(Parser(theirs).parse(text).root_node)


def test_several_are_unpacked_in_one_pass(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[set[str]] = []
    unpack = grammars._unpack

    def count(bundle: GrammarBundle, missing: dict[str, str]) -> None:
        passes.append(set(missing))
        unpack(bundle, missing)

    monkeypatch.setattr(grammars, "_unpack", count)
    unpack_libraries(["python", "json", "nonsense"])
    assert len(libraries(folder)) == 2
    unpack_libraries(["python", "json"])
    load_language("json")
    assert [len(missing) for missing in passes] == [2]


@pytest.mark.parametrize("damage", [b"", b"not a library", None])
def test_a_damaged_library_is_unpacked_again(folder: Path, damage: bytes | None) -> None:
    unpack_libraries(["json"])
    (file,) = (file for file in folder.iterdir() if file.suffix != ".lock")
    whole = file.read_bytes()
    file.unlink()
    file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert load_language("json") is not None
    assert file.read_bytes() == whole


def test_where_nothing_can_be_unpacked_there_is_no_grammar(folder: Path) -> None:
    folder.parent.write_text("a file in its place", encoding="utf-8")
    assert load_language("json") is None


@pytest.mark.usefixtures("no_grammar_loaded")
def test_a_grammar_that_is_unpacked_later_is_loaded_then(folder: Path) -> None:
    folder.parent.write_text("a file in its place", encoding="utf-8")
    assert load_grammar("json") is None
    folder.parent.unlink()
    assert load_grammar("json") is not None
    assert load_grammar("json") is load_grammar("json")


def test_without_the_package_there_is_no_grammar(monkeypatch: pytest.MonkeyPatch) -> None:
    find_bundle.cache_clear()
    monkeypatch.setattr(grammars, "find_spec", lambda _name: None)
    assert load_language("json") is None
    unpack_libraries(["json"])
    find_bundle.cache_clear()


def test_two_processes_unpack_at_once(folder: Path) -> None:
    program = "from dowse.parsing.grammars import load_language; print(load_language('json') is not None)"
    started = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) for _ in range(3)]
    assert [process.communicate()[0].strip() for process in started] == [b"True"] * 3
    assert len(libraries(folder)) == 1
