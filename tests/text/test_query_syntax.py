"""Queries and their parts."""

from hypothesis import given
from hypothesis import strategies as st

from dowse.reading.languages import is_language
from dowse.text.query_syntax import parse_query, split_filters

QUERIES: dict[str, dict[str, list[str]]] = {
    '+python "machine learning"': {"must": ["python"], "phrases": ["machine learning"]},
    "rate limiting API": {"terms": ["rate", "limiting", "API"]},
    '-java +"a b" -"c  d" e': {"terms": ["e"], "must_not": ["java", "c d"], "phrases": ["a b"]},
    "C++ node-js x-": {"terms": ["C++", "node-js", "x-"]},
    '+ - "" +"" -"" "  " ++ --': {},
    '"open quote': {"terms": ["open", "quote"]},
    'a "b c" "d e': {"terms": ["a", "d", "e"], "phrases": ["b c"]},
    '-"never closed': {"terms": ["never", "closed"]},
    '5" pipe 6" tube': {"terms": ["5", "pipe", "6", "tube"]},
    '("in brackets")': {"terms": ["(", ")"], "phrases": ["in brackets"]},
    '"a b""c d"': {"phrases": ["a b", "c d"]},
    "+node-js": {"must": ["node-js"]},
    "--force": {"must_not": ["-force"]},
    "  \t\n ": {},
}


def test_a_query_is_taken_apart() -> None:
    nothing: dict[str, list[str]] = {"terms": [], "must": [], "must_not": [], "phrases": []}
    for query, parts in QUERIES.items():
        assert parse_query(query).as_json() == nothing | parts


@given(st.text())
def test_anything_can_be_parsed(query: str) -> None:
    assert parse_query(query).as_json().keys() == {"terms", "must", "must_not", "phrases"}


FILTERS: dict[str, tuple[str, dict[str, object]]] = {
    "free delivery path:src/ -path:tests lang:py kind:docs": (
        "free delivery", {"path": ["src/"], "notPath": ["tests"], "language": "py", "kind": "docs"},
    ),
    'path:"my docs" free path:b': ("free", {"path": ["my docs", "b"]}),
    "free -kind:docs": ("free", {"kind": "code"}),
    "std::path::Path kind:regards xpath:a path: -lang:py": ("std::path::Path kind:regards xpath:a path: -lang:py", {}),
    "path:src": ("path:src", {}),
    "header lang:en": ("header lang:en", {}),
    "header lang:pyhton": ("header", {"language": "pyhton"}),
}  # fmt: skip


def test_filters_are_taken_out_of_a_query() -> None:
    for query, expected in FILTERS.items():
        rest, filters = split_filters(query, is_language)
        assert (rest, filters.as_json()) == expected


@given(st.text())
def test_a_query_without_filters_is_left_as_it_is(query: str) -> None:
    rest, filters = split_filters(query, is_language)
    assert any(filters) or rest == query
