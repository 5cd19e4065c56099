"""The packed form of references keeps everything, and damage to it is an error."""

import pytest

from dowse.parsing.source_references import (
    CALL,
    Import,
    Use,
    UseTable,
    imports_of,
    name_checksum,
    packed_checksums,
    unpack_references,
)


def test_what_is_packed_comes_back() -> None:
    table = UseTable()
    table.add("peel", CALL, 3, "Äpfel.eat".encode(), b"self")
    data = table.pack([Import(1, "a.b", "c", "d")], "pkg")
    found = unpack_references(data)
    assert list(found.uses) == [Use("peel", CALL, 3, "Äpfel.eat", "self")]
    assert (found.imports, found.package) == ([Import(1, "a.b", "c", "d")], "pkg")
    assert set(packed_checksums(data)) == {name_checksum(name) for name in ("peel", "a", "b", "c")}


def test_damage_is_an_error() -> None:
    for damage in (slice(0, 3), slice(0, 30), slice(5, None)):
        table = UseTable()
        table.add("peel", CALL, 3, b"", b"")
        with pytest.raises(ValueError, match="cannot be read"):
            unpack_references(table.pack([], "")[damage])


def test_what_a_statement_binds() -> None:
    for language, text, expected in (
        ("python", "import a.b as c, d", [("a.b", "", "c"), ("d", "", "d")]),
        ("python", "from ..a import (b as c,  # why\n  d)", [("..a", "b", "c"), ("..a", "d", "d")]),
        ("python", "from a import *", [("a", "*", "*")]),
        ("typescript", "import D, {a as b, type c} from './m'", [("./m", "a", "b"), ("./m", "c", "c"), ("./m", "default", "D")]),
        ("typescript", "import * as ns from './m'", [("./m", "", "ns")]),
        ("typescript", "import './m'", [("./m", "", "")]),
        ("typescript", "export * from './m'", [("./m", "*", "*")]),
        ("javascript", "{a, b: c} = require('./m')", [("./m", "a", "a"), ("./m", "b", "c")]),
        ("go", '"x/y/v2"', [("x/y/v2", "", "y")]),
        ("go", 'z "x/y"', [("x/y", "", "z")]),
        ("java", "import static a.B.c;", [("a.B", "c", "c")]),
        ("java", "import a.*;", [("a", "*", "*")]),
        ("kotlin", "import a.B as C", [("a", "B", "C")]),
        ("scala", "import a.{B, C => D}", [("a", "B", "B"), ("a", "C", "D")]),
        ("csharp", "using A.B;", [("A.B", "*", "*")]),
        ("csharp", "using X = A.B;", [("A", "B", "X")]),
        ("php", "use A\\{B, C as D};", [("A", "B", "B"), ("A", "C", "D")]),
        ("rust", "use a::{b::{c, self}, d as e, f::*};", [("a::b", "c", "c"), ("a", "b", "b"), ("a", "d", "e"), ("a::f", "*", "*")]),
        ("rust", "mod x;", [("self::x", "", "x")]),
        ("c", "#include <a/b.h>\n", [("a/b.h", "*", "*")]),
        ("ruby", "require_relative 'a/b'", [("./a/b", "*", "*")]),
        ("elixir", "alias A.{B, C}", [("A.B", "", "B"), ("A.C", "", "C")]),
        ("python", "import", []),
        ("text", "import a", []),
    ):  # fmt: skip
        assert [found[1:] for found in imports_of(language, text, 1)] == expected
