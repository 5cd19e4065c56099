from hypothesis import given
from hypothesis import strategies as st

from dowse.parsing.text_cutting import chunk
from dowse.types import Chunk, Symbol
from tests.examples import examples
from tests.parsing.passages import assert_exact, assert_nothing_lost, texts
from tests.parsing.test_definitions import LANGUAGES, long_sample, sample


def chunks_of(text: str, language: str = "python") -> tuple[Chunk, ...]:
    return chunk(text, language, "code")[0]


def symbols(chunks: tuple[Chunk, ...]) -> list[Symbol]:
    return [symbol for one in chunks for symbol in one.symbols]


def names(chunks: tuple[Chunk, ...]) -> list[str]:
    return [symbol.name for symbol in symbols(chunks)]


@examples(60, many=1500)
@given(texts, st.sampled_from(["python", "c", "haskell", "bash", "json", "html"]))
def test_every_text_is_cut_exactly_and_wholly(text: str, language: str) -> None:
    chunks, is_truncated = chunk(text, language, "code")
    assert_exact(text, chunks, longest=4000)
    if not is_truncated:
        assert_nothing_lost(text, chunks)


@examples(30, many=600)
@given(st.data(), st.sampled_from(LANGUAGES))
def test_a_file_with_a_piece_missing_is_cut_exactly_and_wholly(data: st.DataObject, language: str) -> None:
    text = long_sample(language)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    broken = text[:start] + "é" + text[end:]
    chunks = chunks_of(broken, language)
    assert_exact(broken, chunks, longest=4000)
    assert_nothing_lost(broken, chunks)


def test_line_ends_of_windows_change_no_symbol_and_no_line() -> None:
    for language in LANGUAGES:
        text = sample(language).replace("\n", "\r\n")
        chunks = chunks_of(text, language)
        assert_exact(text, chunks, longest=4000)
        assert symbols(chunks) == symbols(chunks_of(sample(language), language))


def function(name: str, statements: int) -> str:
    return (
        f"def {name}(way):\n"
        + "".join(f"    way.append({number} * {number})\n" for number in range(statements))
        + "\n\n"
    )


def test_small_functions_share_a_chunk() -> None:
    chunks = chunks_of("".join(function(f"f{number}", 4) for number in range(40)))
    assert all(len(one.symbols) > 5 for one in chunks[:-1])
    assert all(len(one.text) <= 1500 for one in chunks)


def test_functions_of_some_size_stand_alone() -> None:
    chunks = chunks_of("".join(function(f"f{number}", 30) for number in range(8)))
    assert [names((one,)) for one in chunks] == [[f"f{number}"] for number in range(8)]


def test_a_long_function_is_cut_between_statements() -> None:
    chunks = chunks_of(function("long", 400))
    assert all(one.text.lstrip().startswith(("def long", "way.append")) for one in chunks)
    assert all(600 < len(one.text) <= 2000 for one in chunks)


def test_the_first_line_of_a_class_is_no_chunk_of_its_own() -> None:
    members = "".join("    " + line + "\n" for line in (function("walk", 30) + function("run", 30)).splitlines())
    assert chunks_of(f"class Router:\n{members}")[0].text.startswith("class Router:\n    def walk")


def test_a_comment_stays_with_what_it_is_about() -> None:
    text = function("first", 30) + "# About the second.\n" + function("second", 30) + function("third", 30)
    assert chunks_of(text)[1].text.startswith("# About the second.\ndef second")


def test_a_long_literal_is_cut_at_its_lines() -> None:
    chunks = chunks_of('TEXT = """\n' + "".join(f"line {number}\n" for number in range(1000)) + '"""\n')
    assert names(chunks) == ["TEXT"]
    assert all(one.text.startswith(("TEXT", "line ")) for one in chunks)


def test_what_stands_behind_an_error_is_still_found() -> None:
    text = function("first", 20) + "def broken(:\n    ]]\n\n" + function("second", 20) + function("third", 20)
    assert {"first", "second", "third"} <= set(names(chunks_of(text)))


def test_prose_under_the_name_of_code_is_cut_as_text() -> None:
    text = "".join(
        f"It was day {number}, and (as on others; or so) nobody's car won't start.\n" for number in range(400)
    )
    chunks = chunks_of(text, "c")
    assert_nothing_lost(text, chunks)
    assert len(chunks) < 15


def test_an_expression_10000_deep_is_cut() -> None:
    text = (
        "x = "
        + "".join(f"(a{n} +\n" for n in range(10_000))
        + "1"
        + "".join(f"\n+ b{n})" for n in range(10_000))
        + "\n"
    )
    chunks = chunks_of(text)
    assert_exact(text, chunks[:20], longest=4000)
    assert_nothing_lost(text, chunks)


def test_a_minified_file_is_cut_as_text() -> None:
    text = "function a(b){return b+1};" * 2000
    chunks = chunks_of(text, "javascript")
    assert_nothing_lost(text, chunks)
    assert all(3000 < len(one.text) <= 4000 for one in chunks[:-1])
