"""The packed form of references keeps everything, and damage to it is an error."""

import pytest

from dowse.parsing.source_references import (
    CALL,
    Import,
    Use,
    UseTable,
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
