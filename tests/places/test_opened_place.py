"""Queries of words at a place, and the map of rows, which is read beside the first of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dowse.errors import Failed
from dowse.places import opened_place
from dowse.places.opened_place import word_queries
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions
from dowse.surfaces.organisation.place_search import search_place
from dowse.types import TextQuery
from tests import lance_extra
from tests.api.publishing.shared_places import PLANTS, found_at, make_project, opened, publish_words

lance_extra.import_or_skip()


def test_a_more_frequent_short_form_of_a_word_is_found_too(tmp_path: Path) -> None:
    files = {f"part{number}.py": f"def part{number}(cfg):\n    return cfg[{number}]\n" for number in range(2)}
    files["whole.py"] = "def whole(configuration):\n    return configuration\n"
    publish_words(make_project(tmp_path / "parts", files), str(tmp_path / "place"))
    found = found_at(str(tmp_path / "place"), "configuration", kind="code", mode="lexical")
    assert (found[0], sorted(found)) == ("whole.py", ["part0.py", "part1.py", "whole.py"])


def test_a_map_of_rows_that_could_not_be_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish_words(make_project(tmp_path / "animals"), str(tmp_path / "place"))

    async def fail(*_: object) -> Any:
        raise OSError("connection refused")

    query, options = parse_search_query("milk cow"), SearchOptions(kind="code")
    with monkeypatch.context() as broken:
        broken.setattr(opened_place, "_read_map", fail)
        with opened(str(tmp_path / "place")) as store:
            with pytest.raises(Failed, match="does not answer"):
                search_place(store, query, options)
            broken.undo()
            assert search_place(store, query, options).hits[0].path == "src/farm.py"


def test_words_that_are_common_in_the_projects_searched_have_a_query_that_counts_less() -> None:
    text = TextQuery(("harvest", "apples"), {"parts": 2.0})
    (apples, harvest) = word_queries(text, {"harvest": 0.25})
    assert (apples.query, apples.boost, harvest.query, harvest.boost) == ("appl", 2.0, "harvest", 0.5)
    assert [one.query for one in word_queries(text, {"harvest": 0.75})] == ["harvest appl"]
    assert len(word_queries(replace(text, requires_all=True), {"harvest": 0.25})) == 1


@pytest.mark.parametrize("name", ["harvest", "harvests", "BigHarvests"])
def test_the_name_of_a_project_does_not_decide_what_is_found_in_it(name: str, tmp_path: Path) -> None:
    """A word that is rare at the place and stands in every file of the project says nothing there."""
    files = {f"f{number}.py": f"def start(): return '{name} {name}', {number}\n" for number in range(120)}
    files["wanted.py"] = f"def begin():\n    return '{name}', spin(wheel), [1, 2, 3], 'and much else', 4, 5, 6, 7\n"
    others = {f"o{number}.py": f"def wheel_{number}(): return spin(wheel)\n" for number in range(120)}
    place = str(tmp_path / "place")
    publish_words(make_project(tmp_path / name, files), place)
    publish_words(make_project(tmp_path / "others", others), place)
    with opened(place, [name]) as store:
        query, lexical = parse_search_query(f"{name} spin"), SearchOptions(mode="lexical")
        assert not search_place(store, query, replace(lexical, language="javascript")).hits
        assert search_place(store, query, lexical).hits[0].path == "wanted.py"
        assert store.chunk_frequencies(["harvest", "spin"]) == {"harvest": 121, "spin": 1}


def test_names_without_a_word_are_asked_for_and_find_nothing(tmp_path: Path) -> None:
    place = str(tmp_path / "place")
    publish_words(make_project(tmp_path / "animals"), place)
    publish_words(make_project(tmp_path / "plants", PLANTS), place)
    assert found_at(place, "__ milk")[0] == "animals/src/farm.py"
    assert found_at(place, "_ ...") == []
