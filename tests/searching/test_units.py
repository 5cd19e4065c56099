"""A document is cut into parts that can be read by themselves, without a grammar."""

from hypothesis import given
from hypothesis import strategies as st

from dowse.searching.units import MAX_UNITS, Unit, find_units
from dowse.types import Symbol


def units(
    text: str, *symbols: tuple[str, str, int] | tuple[str, str, int, int], language: str = "python"
) -> list[Unit]:
    return find_units(text.split("\n"), [Symbol(*symbol) for symbol in symbols], language)


PYTHON = """\
import os

LIMIT = 3


class Session:
    \"\"\"Keeps cookies.\"\"\"

    trust = True

    @property
    # the open connection
    def send(
        self,
        request,
    ):
        def retry():
            return 1

        return retry()

    def close(self):
        pass


def main():
    Session()


if __name__ == "__main__":
    main()
"""


def test_functions_classes_and_the_lines_between_them_are_units() -> None:
    found = units(
        PYTHON,
        ("Session", "class", 6),
        ("send", "method", 13),
        ("retry", "function", 17),
        ("close", "method", 22),
        ("main", "function", 26),
    )
    assert [(one.start + 1, one.end + 1, one.kind, ".".join(one.names)) for one in found] == [
        (1, 3, "block", ""),
        (6, 9, "class", "Session"),
        (11, 20, "function", "Session.send"),
        (22, 23, "function", "Session.close"),
        (26, 27, "function", "main"),
        (30, 31, "block", ""),
    ]


def test_a_signature_of_several_lines_ends_where_its_brackets_do() -> None:
    found = units(PYTHON, ("Session", "class", 6), ("send", "method", 13))
    assert found[2].body + 1 == 17


def test_a_function_ends_with_its_last_indented_or_closing_line() -> None:
    for language, text, end in (
        (
            "go",
            'func Open(name string) error {\n\tif name == "" {\n\t\treturn nil\n\t}\n\treturn x\n}\n\nvar y = 1\n',
            6,
        ),
        ("rust", "fn open<T>(name: T) -> T\nwhere\n    T: Copy,\n{\n    name\n}\n\nstatic Y: u8 = 1;\n", 6),
        ("ruby", "def open(name)\n  name\nend\n\nputs 1\n", 3),
        ("c", "int open(char *name)\n{\n#ifdef X\n    return 1;\n#endif\n}\n\nint y;\n", 6),
    ):
        found = units(text, ("open", "function", 1), language=language)
        assert found[0].end + 1 == end
        assert found[-1].kind == "block"


def test_sibling_sections_are_not_nested() -> None:
    """A chunk of eight releases showed each as if it were inside the one before."""
    text = "# History\n\n## 2.0\n\n- two\n\n## 1.9\n\n- nine\n\n```\n# no heading\n```\n\nNotes\n-----\nlast"
    found = units(text, language="markdown")
    assert [one.names for one in found] == [
        ("History",), ("History", "2.0"), ("History", "1.9"), ("History", "Notes"),
    ]  # fmt: skip
    assert (found[2].start + 1, found[2].end + 1) == (7, 13)


def test_front_matter_is_no_heading() -> None:
    found = units("---\ntitle: Guide\n---\n\n# Guide\n\ntext", language="markdown")
    assert [one.names for one in found] == [(), ("Guide",)]


LINES = st.lists(
    st.sampled_from(["", "    x = 1", "def f():", "}", "# note", "class A:", "  end", "@x", "text", "---"])
)


@given(
    LINES, st.lists(st.tuples(st.sampled_from(["function", "class", "variable"]), st.integers(1, 20))), st.booleans()
)
def test_every_line_that_is_not_blank_is_in_one_unit(
    lines: list[str], symbols: list[tuple[str, int]], is_markdown: bool
) -> None:
    named = [Symbol("name", kind, line) for kind, line in symbols]
    found = find_units(lines, named, "markdown" if is_markdown else "python")
    covered = [line for one in found for line in range(one.start, one.end + 1)]
    assert covered == sorted(set(covered))
    assert {line for line, text in enumerate(lines) if text.strip()} <= set(covered)
    assert all(one.start <= one.body <= one.end for one in found)


def test_a_definition_ends_where_its_grammar_said_whatever_its_indentation() -> None:
    text = "object Main:\ndef run(): Unit =\nprintln(1)\nprintln(2)\nval rest = 3\n\ndef stop() = 1"
    found = units(text, ("Main", "object", 1, 7), ("run", "method", 2, 4), ("stop", "method", 7, 7))
    assert [(one.start + 1, one.end + 1, ".".join(one.names)) for one in found] == [
        (1, 1, "Main"), (2, 4, "Main.run"), (5, 5, "Main"), (7, 7, "Main.stop"),
    ]  # fmt: skip


def test_a_document_has_a_limit_of_units_and_the_last_has_the_rest() -> None:
    for text, language in (("# a\nb\n" * 30_000, "markdown"), (("x\n" * 40 + "\n") * 30_000, "python")):
        lines = text.split("\n")
        found = find_units(lines, [], language)
        assert len(found) == MAX_UNITS + 1
        assert (found[-1].start, found[-1].end) == (found[-2].end + 1, len(lines) - 1)
