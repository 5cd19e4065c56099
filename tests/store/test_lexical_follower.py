"""The lexical index follows the catalog, however a writer ends."""

import shutil
from pathlib import Path

import pytest

from dowse.store.local import LocalStore
from dowse.types import Batch
from tests.sample_data import World, find
from tests.store.opened_stores import found_paths

MARKER = "reached.json"


@pytest.fixture
def world() -> World:
    return World()


def marker_of(folder: Path) -> Path:
    (lexical,) = folder.glob("lexical-*")
    return lexical / MARKER


def test_a_writer_that_is_killed_before_its_marker_is_written_adds_nothing_twice(tmp_path: Path, world: World) -> None:
    store = LocalStore(tmp_path, world.read_text)
    store.apply(Batch(puts=[world.put("a.py", "fruit apple"), world.put("b.py", "fruit pear")]))
    marker, before = marker_of(tmp_path), tmp_path / "marker"
    shutil.copyfile(marker, before)
    store.apply(Batch(puts=[world.put("b.py", "fruit quince"), world.put("c.py", "fruit plum")], drops=["a.py"]))
    store.close()
    shutil.copyfile(before, marker)
    again = LocalStore(tmp_path, world.read_text)
    assert again.refresh()
    assert found_paths(again, "fruit") == ["b.py", "c.py"]
    assert again.chunk_count() == 2
    assert again.check() == []


@pytest.mark.parametrize("content", [b"", b"[]", b'{"sequence": 1}'])
def test_a_marker_that_cannot_be_read_means_a_rebuild(tmp_path: Path, world: World, content: bytes) -> None:
    store = LocalStore(tmp_path, world.read_text)
    store.apply(Batch(puts=[world.put("a.py", "fruit apple")]))
    store.close()
    marker_of(tmp_path).write_bytes(content)
    again = LocalStore(tmp_path, world.read_text)
    assert [finding.part for finding in again.quick_check()] == ["lexical index"]
    assert found_paths(again, "fruit") == ["a.py"]
    assert again.check() == []


def test_scores_do_not_depend_on_the_number_of_batches(tmp_path: Path, world: World) -> None:
    """A commit once replaced an entry, and removed entries count in the statistics of words."""
    puts = [
        world.put(f"{name}.py", f"fruit {name} " * number) for number, name in enumerate(("fig", "pear", "plum"), 2)
    ]
    at_once, one_by_one = (LocalStore(tmp_path / name, world.read_text) for name in ("at-once", "one-by-one"))
    at_once.apply(Batch(puts=puts))
    for put in puts:
        one_by_one.apply(Batch(puts=[put]))
    scores = [[hit.score for hit in find(store, "fruit", "plum")] for store in (at_once, one_by_one)]
    assert scores[0] == scores[1]
    assert len(scores[0]) == 3
