"""Files that several projects have: one of them is ranked, and the others are named beside it."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from dowse.api.publishing.publish import remove
from dowse.places.place_store import PlaceStore
from dowse.places.place_table import SharedPlace
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SHOWN_COPIES, SearchHit, SearchOptions
from dowse.surfaces.organisation.place_search import coverage_of, search_place
from dowse.surfaces.project.project_replies import ProjectAnswer, search_reply
from tests.api.publishing.shared_places import commit, make_project, opened, publish_words

pytest.importorskip("lancedb", reason="needs the extra lance")

FORKS = ("goats", "goats-of-ann", "roosters")
BARNS = {f"src/barn{number}.py": f"def open_barn_{number}(key):\n    return key + {number}\n" for number in range(12)}


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A place with three projects of the same twelve files."""
    location = str(tmp_path / "place")
    for name in FORKS:
        publish_words(make_project(tmp_path / name, BARNS), location)
    return location


@pytest.fixture
def store(place: str) -> Iterator[PlaceStore]:
    with opened(place) as found:
        yield found


def search(store: PlaceStore, text: str, **options: object) -> tuple[SearchHit, ...]:
    return search_place(store, parse_search_query(text), SearchOptions(**options)).hits  # type: ignore[arg-type]


def test_ten_hits_are_ten_files_each_with_the_projects_that_have_it(store: PlaceStore) -> None:
    hits = search(store, "open barn")
    assert len({hit.path for hit in hits}) == 10
    for hit in hits:
        project, _, within = hit.path.partition("/")
        assert project == "goats"
        assert hit.same_in == (f"roosters/{within}", f"goats-of-ann/{within}")


def test_the_project_that_a_query_names_is_shown(store: PlaceStore) -> None:
    assert search(store, "how roosters open barn 7")[0].path == "roosters/src/barn7.py"
    assert search(store, "how ann of the goats opens barn 7")[0].path == "goats-of-ann/src/barn7.py"


def test_copies_that_are_not_searched_are_not_named(store: PlaceStore) -> None:
    hits = search(store, "open barn 7", excluded_globs=("goats/**",))
    assert {hit.path.partition("/")[0] for hit in hits} == {"roosters"}
    assert {path.partition("/")[0] for hit in hits for path in hit.same_in} == {"goats-of-ann"}
    assert not any(hit.same_in for hit in search(store, "open barn", path_glob="roosters/**"))
    assert not any(hit.same_in for hit in search(store.narrowed(["roosters"]), "open barn"))


def test_a_copy_that_was_removed_is_neither_shown_nor_named(tmp_path: Path, place: str, store: PlaceStore) -> None:
    assert search(store, "open barn 7")[0].path == "goats/src/barn7.py"
    remove("goats", SharedPlace(place))
    commit(tmp_path / "roosters", {"src/barn7.py": None})
    publish_words(tmp_path / "roosters", place)
    store._opened.checked = -math.inf  # look for newer rows now
    hit = search(store, "open barn 7")[0]
    assert (hit.path, hit.same_in) == ("goats-of-ann/src/barn7.py", ())


def test_all_files_that_match_are_counted_with_their_copies(store: PlaceStore) -> None:
    query = parse_search_query("open barn")
    assert len(search_place(store, query, SearchOptions(lists_matches=True)).matched) == len(FORKS) * len(BARNS)


def test_a_reply_names_some_copies_and_counts_the_others(tmp_path: Path) -> None:
    place, one = str(tmp_path / "place"), {"src/barn.py": "def open_barn(key):\n    return key\n"}
    for number in range(SHOWN_COPIES + 3):
        publish_words(make_project(tmp_path / f"farm{number}", one), place)
    with opened(place) as store:
        answer = search_place(store, parse_search_query("open_barn"), SearchOptions())
        (hit,) = search_reply([ProjectAnswer(answer, coverage_of(store), str)], 0, 10, 20_000)["results"]
    assert (hit["path"], hit["moreSame"]) == ("farm0/src/barn.py", 2)
    assert hit["sameIn"] == [f"farm{number}/src/barn.py" for number in range(1, 1 + SHOWN_COPIES)]
