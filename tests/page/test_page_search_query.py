"""The address of a search holds all of it."""

from urllib.parse import parse_qsl

from hypothesis import given
from hypothesis import strategies as st

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
