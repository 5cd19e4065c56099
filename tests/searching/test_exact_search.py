"""Every occurrence of a text or a pattern, with its place."""

import time
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from dowse.errors import UsageError
from dowse.indexes.index import ProjectIndex
from dowse.searching import exact_search
from dowse.searching.exact_search import FindMatches, Occurrences, exact_matcher, find_occurrences, pattern_matcher
from dowse.searching.search import SearchOptions
from tests.sample_data import open_indexed, write_tree
from tests.searching.searched_project import FILES


def find_all(project: ProjectIndex, find: FindMatches, limit: int, **how: Any) -> Occurrences:
    return find_occurrences(project.store, project.source.read_bytes, find, SearchOptions(limit=limit), **how)


def test_every_occurrence_of_a_text_is_found_with_its_place(project: ProjectIndex) -> None:
    found = find_all(project, exact_matcher("login_user"), limit=100)
    assert (found.total, found.files, found.is_complete) == (4, 2, True)
    first = found.found[0]
    assert (first.path, first.line, first.column) == ("src/auth/login.py", 4, 5)
    expected = sum(text.count("login_user") for text in FILES.values())
    assert found.total == expected


@pytest.mark.parametrize("needle", ["e", "login", "er", "\n\n", "é"])
def test_a_line_is_listed_once_and_every_number_is_what_counting_gives(project: ProjectIndex, needle: str) -> None:
    found = find_all(project, exact_matcher(needle), limit=1000)
    texts = {one.path: project.source.read_bytes(one.path)[0].decode() for one in project.store.documents()}
    counts = Counter(
        (path, before.count("\n") + 1)
        for path, text in texts.items()
        for before in accumulate(text.split(needle)[:-1], lambda one, other: f"{one}{needle}{other}")
    )
    assert {(one.path, one.line): one.count for one in found.found} == counts
    assert (found.total, found.lines, len(found.found)) == (counts.total(), len(counts), len(counts))
    assert found.files == sum(needle in text for text in texts.values())


def test_occurrences_come_in_pages(project: ProjectIndex) -> None:
    whole = find_all(project, exact_matcher("e"), limit=1000)
    pages = [
        one
        for offset in range(0, whole.lines, 7)
        for one in find_all(project, exact_matcher("e"), limit=7, offset=offset).found
    ]
    assert pages == whole.found


def test_columns_and_lines_are_right_in_any_script(project: ProjectIndex) -> None:
    found = find_all(project, exact_matcher("vu"), limit=10)
    assert [(one.line, one.column) for one in found.found] == [(2, 6)]


def test_a_pattern_is_found_line_by_line(project: ProjectIndex) -> None:
    find = pattern_matcher(r"^def (\w+)_user")
    found = find_all(project, find, limit=10)
    assert [(one.path, one.line) for one in found.found] == [
        ("src/auth/login.py", 4), ("src/auth/login.py", 9), ("tests/test_login.py", 4),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="regular expression"):
        pattern_matcher("(unclosed")
    with pytest.raises(UsageError, match="text to search for is empty"):
        exact_matcher("")


def test_an_explosive_pattern_ends_in_time_and_says_that_it_is_not_complete(tmp_path: Path) -> None:
    project = open_indexed(write_tree(tmp_path / "p", {"a.txt": "a" * 60 + "!\n", "b.txt": "x\n"}))
    found = find_all(project, pattern_matcher(r"(a|aa)+$"), limit=10, seconds=0.5)
    assert found.is_complete is False


def test_a_file_that_takes_too_long_does_not_hide_the_matches_in_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_search, "FILE_SECONDS", 0.2)
    project = open_indexed(write_tree(tmp_path / "p", {"a.txt": "a" * 60 + "!\n", "b.txt": "aa\n"}))
    found = find_all(project, pattern_matcher(r"(a|aa)+$"), limit=10, seconds=60)
    assert ([one.path for one in found.found], found.is_complete) == (["b.txt"], False)


def test_matches_are_counted_by_line_whatever_ends_a_line() -> None:
    found = exact_search.Occurrences()
    exact_search.search_text("a", "xx\rx\r\nb\nxxx", exact_matcher("x"), time.monotonic() + 60, found)
    assert [(one.line, one.count) for one in found.found] == [(1, 2), (2, 1), (4, 3)]
    assert (found.lines, found.total, found.counts) == (3, 6, {"a": 6})


def test_a_pattern_has_no_long_run_of_characters() -> None:
    """The time limit does not interrupt the search for them: 4,000 took 23 s in a text of 2 MB."""
    for pattern in ("x" + "a" * 300, r"\." * 151, "(?i)x?" + "é" * 301, "a|" + "b" * 400):
        with pytest.raises(UsageError, match="characters in a row"):
            pattern_matcher(pattern)
    for pattern in ("a" * 300, "|".join(["word"] * 300), r"\w" * 400, "[a-z]{1,5}" * 60):
        assert not list(pattern_matcher(pattern)("-", time.monotonic() + 60))
