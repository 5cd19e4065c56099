"""Queries of words at a place, and the map of rows, which is read beside the first of them."""

from pathlib import Path
from typing import Any

import pytest

from dowse.errors import Failed
from dowse.places import opened_place
from dowse.searching.query_terms import parse_search_query
from dowse.searching.search import SearchOptions
from dowse.surfaces.organisation.place_search import search_place
from tests import lance_extra
from tests.api.publishing.shared_places import found_at, make_project, opened, publish_words

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
        broken.setattr(opened_place, "_read_rows", fail)
        with opened(str(tmp_path / "place")) as store:
            with pytest.raises(Failed, match="does not answer"):
                search_place(store, query, options)
            broken.undo()
            assert search_place(store, query, options).hits[0].path == "src/farm.py"
