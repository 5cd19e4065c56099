import re
import tomllib
from pathlib import Path

from dowse.parsing.text_cutting import chunk
from dowse.types import Chunk

SAMPLES = Path(__file__).parent / "samples"
EXPECTED = tomllib.loads((SAMPLES / "expected.toml").read_text(encoding="utf-8"))
LANGUAGES = sorted(EXPECTED)


def sample(language: str) -> str:
    return (SAMPLES / f"{language}.sample").read_text(encoding="utf-8")


def long_sample(language: str) -> str:
    """Return the sample with its filler line repeated so that the file does not fit into one chunk."""

    def lengthened(line: re.Match[str]) -> str:
        return "\n\n".join(f"{line[1]} {number} {'x' * 80}" for number in range(20))

    return re.sub(r"(?m)^(.*filler)$", lengthened, sample(language))


def chunks_of(text: str, language: str) -> tuple[Chunk, ...]:
    return chunk(text, language, "code")[0]


def test_what_a_file_defines_is_found() -> None:
    for language in LANGUAGES:
        found = [
            f"{symbol.kind} {symbol.name}" for one in chunks_of(sample(language), language) for symbol in one.symbols
        ]
        assert found == EXPECTED[language]["symbols"]


def test_a_symbol_stands_on_the_line_that_it_names() -> None:
    for language in LANGUAGES:
        text = long_sample(language)
        lines = text.splitlines()
        for one in chunks_of(text, language):
            for symbol in one.symbols:
                assert one.start_line <= symbol.line <= one.end_line
                assert symbol.name in lines[symbol.line - 1]


def test_a_function_is_one_chunk_with_what_stands_directly_above_it() -> None:
    for language in LANGUAGES:
        expected = EXPECTED[language]
        *_, function = [
            one
            for one in chunks_of(long_sample(language), language)
            if expected["longest"] in (s.name for s in one.symbols)
        ]
        words = " ".join(function.text.split())
        assert words.startswith(expected["begins"])
        assert words.endswith(expected["ends"])
        assert list(function.headings) == expected["headings"]


def test_a_local_variable_is_no_symbol() -> None:
    (only,) = chunks_of("def walk():\n    way = []\n    return way\n", "python")
    assert [symbol.name for symbol in only.symbols] == ["walk"]


def test_a_class_behind_an_export_macro_is_found() -> None:
    (only,) = chunks_of("class WAYS_API Router {\n public:\n  int size();\n};\n", "cpp")
    assert [(symbol.kind, symbol.name) for symbol in only.symbols] == [("class", "Router"), ("method", "size")]


def test_a_header_of_cpp_that_is_called_c_is_read_as_cpp() -> None:
    text = "namespace ways {\nclass Router : public base::Finder {\n public:\n  int size() const;\n};\n}\n"
    (only,) = chunks_of(text, "c")
    assert [symbol.name for symbol in only.symbols] == ["ways", "Router", "size"]


def test_a_part_of_a_long_method_says_whose_it_is() -> None:
    body = "".join(f"        total_{number} = self.weigh({number})\n" for number in range(100))
    chunks = chunks_of(f"class Router:\n    def add_up(self):\n{body}", "python")
    assert chunks[-1].headings == ("Router", "add_up")
    assert [symbol.name for symbol in chunks[0].symbols] == ["Router", "add_up"]


def test_methods_of_one_receiver_stand_under_its_name() -> None:
    (only,) = chunks_of("package ways\n\nfunc (r *Router) Len() int { return 0 }\n", "go")
    assert only.headings == ("Router",)
