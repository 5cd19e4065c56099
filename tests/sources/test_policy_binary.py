"""Detection of binary files, by name and by content."""

import codecs

import pytest

from dowse.sources.policy import binary_suffix, find_nul_byte


@pytest.mark.parametrize("name", ["a.png", "A.JPG", "lib.so", "x.tar.gz", "font.woff2", "data.sqlite3"])
def test_some_endings_are_binary(name: str) -> None:
    assert binary_suffix(name)


@pytest.mark.parametrize(
    "name", ["a.py", "a.ts", "a.svg", "graph.dot", "test.snap", "png", ".png", "a.", "", "a.md", "id_rsa.pub"]
)
def test_other_names_are_not(name: str) -> None:
    assert binary_suffix(name) is None


@pytest.mark.parametrize(
    ("data", "position"),
    [(b"", None), (b"text", None), (b"ab\0", 2), (b"x" * 8191 + b"\0", 8191), (b"x" * 8192 + b"\0", None)],
)
def test_a_nul_byte_in_the_first_eight_kilobytes_tells(data: bytes, position: int | None) -> None:
    assert find_nul_byte(data) == position


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE])
def test_a_mark_of_wide_characters_explains_the_nul_bytes(mark: bytes) -> None:
    assert find_nul_byte(mark + b"a\0b\0") is None
