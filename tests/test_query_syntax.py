"""Queries and their parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.query_syntax import parse_query

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


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_is_taken_apart(query: str) -> None:
    nothing: dict[str, list[str]] = {"terms": [], "must": [], "must_not": [], "phrases": []}
    assert parse_query(query).as_json() == nothing | QUERIES[query]


@given(st.text())
def test_anything_can_be_parsed(query: str) -> None:
    assert parse_query(query).as_json().keys() == {"terms", "must", "must_not", "phrases"}
