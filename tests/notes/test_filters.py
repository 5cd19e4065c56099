"""Conditions on metadata."""

from typing import Any

import pytest

from dowse.errors import UsageError
from dowse.notes.filters import holds, parse_filter
from dowse.notes.notes_documents import make_note
from tests.notes.conftest import Make

METADATA: dict[str, Any] = {
    "author": "Smith", "year": 2026, "draft": False, "tags": ["a", "b"], "none": None,
    "place": {"city": "Bern", "zip": 3000}, "a.b": "dotted",
}  # fmt: skip
HOLD: list[dict[str, Any]] = [
    {},
    {"author": "Smith"},
    {"year": 2026.0},
    {"year": {"gte": 2026, "lt": 2027}},
    {"year": {"ne": 2025}},
    {"author": {"gt": "Sm", "lte": "Smith"}},
    {"author": ["Jones", "Smith"]},
    {"tags": "a"},
    {"tags": {"eq": ["a", "b"]}},
    {"tags": ["x", "b"]},
    {"draft": False},
    {"none": None},
    {"none": {"exists": True}},
    {"absent": {"exists": False}},
    {"absent": {"ne": 1}},
    {"place.city": "Bern"},
    {"place": {"eq": {"zip": 3000, "city": "Bern"}}},
    {"a.b": "dotted"},
]
FAIL: list[dict[str, Any]] = [
    {"author": "smith"},
    {"year": "2026"},
    {"year": True},
    {"draft": 0},
    {"year": {"gt": 2026}},
    {"year": {"gt": "2000"}},
    {"absent": None},
    {"absent": {"gt": 1}},
    {"tags": "c"},
    {"tags": {"ne": "a"}},
    {"author": []},
    {"author": "Smith", "year": 1},
    {"place.country": "CH"},
    {"author": "' OR 1=1 --"},
]


@pytest.mark.parametrize("given", HOLD, ids=str)
def test_a_condition_holds(given: dict[str, Any]) -> None:
    assert holds(parse_filter(given), METADATA)


@pytest.mark.parametrize("given", FAIL, ids=str)
def test_a_condition_does_not_hold(given: dict[str, Any]) -> None:
    assert not holds(parse_filter(given), METADATA)


@pytest.mark.parametrize(
    "given",
    [{"a": {}}, {"a": {"like": 1}}, {"a": {"in": 5}}, {"a": {"gt": []}}, {"a": {"exists": 1}},
     {"a": list(range(1001))}, {str(number): 1 for number in range(101)}],
    ids=lambda given: str(given)[:30],
)  # fmt: skip
def test_a_condition_that_makes_no_sense_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="filter"):
        parse_filter(given)


def test_a_filter_counts_and_pages_what_it_lets_through_and_leaves_scores_alone(make: Make) -> None:
    index = make()
    index.add([make_note(f"d{number:02}", "same words", {"number": number}) for number in range(50)])
    scores = {one.doc_id: one.score for one in index.search("words", 100).results}
    found = index.search("words", 5, 5, parse_filter({"number": {"gte": 30}}))
    assert found.total == 20
    assert [(one.doc_id, one.score) for one in found.results] == [(f"d{n}", scores[f"d{n}"]) for n in range(35, 40)]
    assert index.search("words", 5, 0, parse_filter({"number": 7})).results[0].metadata == {"number": 7}
