"""Parsing an index in pieces gives the same result as parsing it as a whole."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import NotASiteIndex
from dowse.sites import index_parsing
from dowse.sites.index_parsing import parse_index
from tests.sites.sample_sites import encoded, index

TEXT = st.text(st.sampled_from('ab "\\\n{}[],:é漢🍎0'), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=10,
)
ROOTS = st.dictionaries(st.sampled_from(["pages", "site", "version", "pageCount", "é🍎"]), VALUES, max_size=5)


def parsed(data: bytes) -> tuple[dict[str, Any], list[Any]]:
    pages: list[Any] = []
    root = parse_index(data, lambda _number, page: pages.append(page), pages.clear)
    return root, pages


@given(ROOTS, st.booleans(), st.sampled_from([None, 1, 3]), st.integers(1, 9))
def test_in_pieces_of_any_size_it_is_the_same(
    root: dict[str, Any], ascii_only: bool, indent: int | None, step: int
) -> None:
    data = json.dumps(root, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    old, index_parsing._STEP_BYTES = index_parsing._STEP_BYTES, step
    try:
        found, pages = parsed(data)
    finally:
        index_parsing._STEP_BYTES = old
    expected = json.loads(data)
    if isinstance(expected.get("pages"), list):
        assert pages == expected["pages"]
        expected["pages"] = len(pages)
    else:
        assert pages == []
    assert found == expected


def test_a_key_that_comes_twice_counts_as_it_came_last() -> None:
    assert parsed(b'{"pages": [1, 2], "pages": [3]}') == ({"pages": 1}, [3])


def test_a_mark_at_the_beginning_is_no_part_of_it() -> None:
    assert parsed(b"\xef\xbb\xbf" + encoded(index()))[0]["version"] == "3.0"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not JSON"),
        (b"[]", "not an object"),
        (b'{"pages": [1, 2}', "line 1 column 16"),
        (b'{"pages": [{"url": "/a"}]} x', "not JSON"),
        (b'{"pages": [{"url": "/a\nb"}]}', "not JSON"),
        (b'{\n"a": 1,\n"b": }', "line 3 column 6"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"pages": [' + b"[" * 200_000, "nested too deeply"),
        (b'{"pageCount": ' + b"9" * 10_000 + b"}", "thousands of digits"),
        ('{"version": "3.0"}'.encode("utf-16"), "not UTF-8"),
    ],
)
def test_what_is_no_index_is_said_to_be_none(data: bytes, message: str) -> None:
    with pytest.raises(NotASiteIndex, match=message):
        parsed(data)


def test_a_large_index_is_never_in_memory_as_one_value() -> None:
    data = encoded(index(*({"url": f"/{n}", "title": "🍎 " * 50, "body": "word " * 1000} for n in range(2000))))
    tracemalloc.start()
    parse_index(data, lambda _number, _page: None)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < len(data) * 1.5, f"{peak:,} bytes for {len(data):,}"
