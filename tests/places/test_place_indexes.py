"""The indexes of a place: that of vectors, which is made anew beside those who read it, and when all are brought up to date."""

from pathlib import Path
from typing import Any

import pytest

from dowse.places import place_indexes
from dowse.places.place_indexes import tend
from dowse.places.place_rows import TABLE_DIMENSIONS, schema
from dowse.places.place_table import SharedPlace
from tests import lance_extra
from tests.api.publishing.shared_places import commit, found_at, make_project, opened, publish_words

lancedb = lance_extra.import_or_skip()


@pytest.fixture(autouse=True)
def _small_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place_indexes, "MIN_TRAINED_ROWS", 300)


def add_vectors(table: Any, first: int, count: int) -> None:
    import numpy as np
    import pyarrow as pa

    chance = np.random.default_rng(first)
    rows = [
        {"id": number, "row": "chunk", "table_vector": chance.random(TABLE_DIMENSIONS, np.float32)}
        for number in range(first, first + count)
    ]
    table.add(pa.Table.from_pylist(rows, schema()), on_bad_vectors="null")


def vector_index(table: Any) -> tuple[str, int, int]:
    [found] = [one for one in table.list_indices() if one.columns == ["table_vector"]]
    return found.name, found.num_segments, found.num_unindexed_rows


def nearest(table: Any, number: int) -> int:
    [row] = table.search().where(f"id = {number}").select(["table_vector"]).limit(1).to_list()
    found = table.search(row["table_vector"], vector_column_name="table_vector").distance_type("cosine")
    return int(found.nprobes(10).limit(1).select(["id", "_distance"]).to_list()[0]["id"])


def test_an_index_of_many_segments_is_made_anew_beside_a_reader(tmp_path: Path) -> None:
    table = SharedPlace(str(tmp_path)).make_table()
    add_vectors(table, 1, 299)
    tend(table)
    assert not [one for one in table.list_indices() if one.columns == ["table_vector"]]
    add_vectors(table, 300, 1)
    tend(table)
    assert vector_index(table) == ("table_vector_300", 1, 0)
    reader = SharedPlace(str(tmp_path)).open_table()
    for number in range(place_indexes.MAX_SEGMENTS):
        add_vectors(table, 1000 + number, 1)
        tend(table)
    assert vector_index(table) == ("table_vector_300", place_indexes.MAX_SEGMENTS + 1, 0)
    tend(table)
    assert vector_index(table) == (f"table_vector_{300 + place_indexes.MAX_SEGMENTS}", 1, 0)
    assert nearest(table, 1000) == 1000
    assert (nearest(reader, 7), reader.count_rows()) == (7, 301), "a reader of an earlier version goes on"


def test_an_index_of_few_vectors_is_made_anew_for_many_and_a_left_over_one_is_dropped(tmp_path: Path) -> None:
    """A publisher that is killed after it made an index leaves the one before it."""
    table = SharedPlace(str(tmp_path)).make_table()
    add_vectors(table, 1, 300)
    tend(table)
    add_vectors(table, 1000, 400)
    place_indexes._train(table, "table_vector", 600, "table_vector_600")
    assert len([one for one in table.list_indices() if one.columns == ["table_vector"]]) == 2
    tend(table)
    assert vector_index(table)[::2] == ("table_vector_600", 0)
    add_vectors(table, 2000, 600)
    tend(table)
    assert vector_index(table) == ("table_vector_1300", 1, 0)
    assert nearest(table, 2100) == 2100


def test_few_new_rows_of_a_large_place_are_found_outside_its_indexes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, place = make_project(tmp_path / "animals"), str(tmp_path / "place")
    publish_words(project, place)
    monkeypatch.setattr(place_indexes, "SMALL_PLACE_ROWS", 0)
    monkeypatch.setattr(place_indexes, "MAX_UNINDEXED_ROWS", 5)
    commit(project, {"src/pond.py": "def count_ducks():\n    return 3\n"})
    publish_words(project, place)
    assert found_at(place, "count ducks", kind="code") == ["src/pond.py"]
    assert found_at(place, "feed zebra", kind="code")[0] == "src/zoo.py"
    with opened(place) as store:
        assert (store._opened.current.unindexed, store.warnings) == (3, [])
    commit(project, {f"src/barn{number}.py": f"def open_barn{number}(): pass\n" for number in range(3)})
    publish_words(project, place)
    with opened(place) as store:
        assert store._opened.current.unindexed == 0
    assert found_at(place, "open barn2", kind="code")[0] == "src/barn2.py"
