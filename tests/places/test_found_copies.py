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


PARSER = {"parser.py": "def parse_order(text):\n    return text.split()\n"}
OTHER = {"door.py": "def open_door(key):\n    return key\n", "orders/file.py": "def order(): return 'parse'\n"}


def published(tmp_path: Path, **projects: dict[str, str]) -> str:
    """Return a place with projects, whose names have hyphens instead of the underscores."""
    location = str(tmp_path / "place")
    for name, files in projects.items():
        publish_words(make_project(tmp_path / name.replace("_", "-"), files), location)
    return location


TRACEBACK = """Traceback (most recent call last):
  File "/home/ann/roosters/src/barn7.py", line 2, in open_barn_7
    return key + 7
TypeError: can only concatenate str (not int) to str
"""


def test_the_file_that_a_traceback_names_is_shown_of_its_copies(store: PlaceStore) -> None:
    for mode in ("hybrid", "lexical"):
        hit = search(store, TRACEBACK, mode=mode)[0]
        assert hit.path == "roosters/src/barn7.py"
        assert hit.same_in == ("goats/src/barn7.py", "goats-of-ann/src/barn7.py")
        assert hit.signals["named in the text"] == 1.0


def test_a_file_that_a_traceback_names_is_shown_only_if_it_is_searched(store: PlaceStore) -> None:
    """Files of another kind and excluded ones were shown, or named as copies."""
    assert search(store, TRACEBACK, kind="docs") == ()
    assert search(store, TRACEBACK, excluded_globs=("**/barn7.py",))[0].path != "roosters/src/barn7.py"
    hit = search(store, TRACEBACK, excluded_globs=("goats/**",))[0]
    assert (hit.path, hit.same_in) == ("roosters/src/barn7.py", ("goats-of-ann/src/barn7.py",))
    assert search(store, TRACEBACK, kind="code")[0].path == "roosters/src/barn7.py"


def test_a_path_with_its_project_finds_that_file(tmp_path: Path) -> None:
    files = {"search/index.py": "def add_page(page): return page\n"}
    place = published(tmp_path, backend=files, search=files, other={"backend/index.py": "def index(): pass\n"})
    with opened(place) as store:
        assert search(store, "backend/search/index.py")[0].path == "backend/search/index.py"
        assert search(store, "search/search/index.py")[0].path == "search/search/index.py"


def test_a_copy_in_a_project_of_examples_does_not_count_for_the_others(tmp_path: Path) -> None:
    place = published(tmp_path, billing_service=PARSER, demo=PARSER, other=OTHER)
    with opened(place) as store:
        hit = search(store, "how is an order parsed")[0]
    assert (hit.path, hit.same_in) == ("billing-service/parser.py", ("demo/parser.py",))


def test_the_project_that_a_query_names_is_shown_by_meaning_too(store: PlaceStore) -> None:
    assert search(store, "how roosters open barn 7", mode="vector")[0].path.startswith("roosters/")


def test_the_first_search_of_a_server_finds_what_the_next_one_does(tmp_path: Path) -> None:
    """It begins before the number of copies is known, and asks for more candidates."""
    words = ("grain", "straw", "water", "light", "fence")
    sheds, stalls = (
        {
            f"{name}{number}.py": f"def {name}_{number}({words[number % 5]}, {words[number % 3]}):\n"
            f"    return {words[number % 2]} * {number}\n"
            for number in range(400)
        }
        for name in ("shed", "stall")
    )
    place = published(tmp_path, sheds=sheds, stalls=stalls)
    for text in ("grain straw", "water fence light", "shed light", "stall straw fence"):
        with opened(place) as store:
            first, second = ([hit.path for hit in search(store, text, limit=30)] for _ in range(2))
            assert first == second
