"""Files of a place: those with the same content are read once, and removed ones are not found."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dowse.places.opened_place import TableVersion
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions
from dowse.surfaces.organisation.place_search import search_place
from tests.api.publishing.shared_places import PLANTS, commit, make_project, opened, publish_words

pytest.importorskip("lancedb", reason="needs the extra lance")

FORKS = ("first", "second", "third")


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of all files that are read."""
    taken, take = list[int](), TableVersion.take

    async def counted(self: TableVersion, rows: Sequence[int], column: str) -> dict[int, Any]:
        taken.extend(rows)
        return await take(self, rows, column)

    monkeypatch.setattr(TableVersion, "take", counted)
    return taken


def test_files_of_forks_with_the_same_content_are_read_once(tmp_path: Path, read: list[int]) -> None:
    place = str(tmp_path / "place")
    for name in FORKS:
        publish_words(make_project(tmp_path / name), place)
    with opened(place) as store:
        hit = search_place(store, parse_search_query("milk_cow"), SearchOptions(kind="code")).hits[0]
        paths = (hit.path, *hit.same_in)
        assert sorted(paths) == [f"{name}/src/farm.py" for name in FORKS]
        assert len(read) == len(set(read)) == 1
        chunks = [store.chunks(number)[0] for number, path in store.ids_by_path() if path in paths]
        assert len(read) == 1
        assert len({chunk.id for chunk in chunks}) == len({chunk.document_id for chunk in chunks}) == len(FORKS)
        assert len({chunk.text_hash for chunk in chunks}) == 1


def test_a_removed_file_is_not_found_by_its_path_because_another_has_its_content(tmp_path: Path) -> None:
    place, roots = str(tmp_path / "place"), [make_project(tmp_path / name, PLANTS) for name in FORKS[:2]]
    for root in roots:
        publish_words(root, place)
    with opened(place) as store:
        assert store.find_file("second/garden.py")
        commit(roots[1], {"garden.py": None})
        publish_words(roots[1], place)
        store._opened.checked = -math.inf  # look for newer rows now
        store.refresh()
        assert store.find_file("first/garden.py")
        assert store.find_file("second/garden.py") is None
