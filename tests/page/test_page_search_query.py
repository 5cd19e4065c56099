"""The address of a search holds all of it."""

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.globs import compile_glob
from dowse.page.page_search import PageQuery, read_query
from tests.examples import examples

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), max_size=20)


@examples(50, many=2000)
@given(
    WORDS,
    st.sampled_from(["words", "exact", "regex"]),
    WORDS,
    st.sampled_from(["", "code", "docs"]),
    st.integers(1, 50),
)
def test_a_query_comes_back_from_its_address(text: str, mode: str, path: str, kind: str, limit: int) -> None:
    query = PageQuery(text, mode, path=path, kind=kind, limit=limit)  # type: ignore[arg-type]
    assert read_query(dict(parse_qsl(query.address().partition("?")[2]))) == query


def test_odd_fields_are_ignored() -> None:
    assert read_query({"q": "a", "mode": "x", "kind": "y", "limit": "-3"}) == PageQuery("a")
    assert read_query({"limit": "999"}).limit == 50
    assert read_query({"limit": "٣"}) == PageQuery()


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("chunk", ["src/chunking/a.py", "chunk.py"]), ("src/", ["src/chunking/a.py", "src/b.md"]), ("src/ch", ["src/chunking/a.py"]),
        ("*.md", ["src/b.md", "c.md"]), ("src/**/*.py", ["src/chunking/a.py"]), ("./src", ["src/chunking/a.py", "src/b.md"]),
    ],
)  # fmt: skip
def test_a_part_of_a_path_is_enough(path: str, found: list[str]) -> None:
    pattern = compile_glob(PageQuery(path=path).glob or "")
    assert [one for one in ("src/chunking/a.py", "src/b.md", "chunk.py", "c.md") if pattern.fullmatch(one)] == found


def test_a_language_is_known_by_its_name_and_its_extension() -> None:
    names = {one: PageQuery(language=one).language_name for one in ("python", "py", "C++", "ts", "")}
    assert names == {"python": "python", "py": "python", "C++": "cpp", "ts": "typescript", "": None}
