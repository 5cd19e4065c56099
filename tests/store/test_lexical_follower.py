"""The lexical index follows the catalog, however a writer ends."""

import shutil
import subprocess
import sys
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from dowse.store.lexical import LexicalIndex
from dowse.store.lexical_entries import LexicalDocument
from dowse.store.local import LocalStore
from dowse.store.segment_files import RECORD_FILE, Marker
from dowse.types import Batch, Chunk, Put, View
from tests.sample_data import World
from tests.store.opened_stores import found_paths, lexical_folder


def test_a_writer_that_is_killed_before_its_marker_is_written_adds_nothing_twice(tmp_path: Path, world: World) -> None:
    store = LocalStore(tmp_path, world.read_text)
    store.apply(Batch(puts=[world.put("a.py", "fruit apple"), world.put("b.py", "fruit pear")]))
    marker, before = (lexical_folder(tmp_path) / RECORD_FILE), tmp_path / "marker"
    shutil.copyfile(marker, before)
    store.apply(Batch(puts=[world.put("b.py", "fruit quince"), world.put("c.py", "fruit plum")], drops=["a.py"]))
    store.close()
    shutil.copyfile(before, marker)
    again = LocalStore(tmp_path, world.read_text)
    assert again.refresh()
    assert found_paths(again, "fruit") == ["b.py", "c.py"]
    assert again.chunk_count() == 2
    assert again.check() == []


def test_a_replay_that_ends_before_a_changed_file_is_dropped_leaves_no_hole(
    tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index named the last transaction and lacked the file; another server had compared the counts already."""
    store = LocalStore(tmp_path, world.read_text)
    store.apply(Batch(puts=[world.put("a.py", "fruit apple")]))
    assert found_paths(store, "fruit") == ["a.py"]
    other = LocalStore(tmp_path, world.read_text)
    other.catalog.apply(Batch(puts=[world.put("b.py", "fruit pear"), world.put("c.py", "fruit plum")]))
    world.put("b.py", "fruit quince")  # saved again
    monkeypatch.setattr(other.catalog, "apply", Mock(side_effect=SystemExit))
    with pytest.raises(SystemExit):
        other.refresh()
    other.close()
    assert store.refresh()
    assert found_paths(store, "fruit") == ["a.py", "c.py"]
    assert store.check() == []


def test_a_check_says_what_an_index_lacks_that_has_reached_the_catalog(tmp_path: Path, world: World) -> None:
    """It was said to be behind the catalog: at transaction 2 of 2."""
    store = LocalStore(tmp_path, world.read_text)
    store.apply(Batch(puts=[world.put("a.py", "fruit apple"), world.put("b.py", "fruit pear")]))
    store.close()
    index = LexicalIndex(lexical_folder(tmp_path))
    marker = index.marker()
    assert marker is not None
    index.write(marker, [1], ())()
    again = LocalStore(tmp_path, world.read_text)
    assert [one.problem for one in again.check()] == ["lacks 1 chunks and contains 0 removed ones"]
    assert found_paths(again, "fruit") == ["a.py", "b.py"]
    assert again.check() == []


def test_the_index_of_a_project_follows_what_the_index_of_the_documents_drops(
    tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next batch took the project's index past the removal, and a server kept the words of the removed file."""

    def put(path: str, text: str) -> Put:
        made = world.put(path, text)
        return replace(made, document=replace(made.document, views=View.BOTH))

    store = LocalStore(tmp_path, world.read_text)
    store.add_views(View.BOTH)
    store.apply(Batch(puts=[put("a.py", "fruit apple")]))
    assert store.refresh()
    other = LocalStore(tmp_path, world.read_text)
    monkeypatch.setattr(other._lexical[View.DOCUMENTS], "append", Mock(side_effect=SystemExit))
    with pytest.raises(SystemExit):
        other.apply(Batch(puts=[put("b.py", "fruit pear")]))
    other.close()
    put("b.py", "fruit quince")  # saved again
    store.apply(Batch(puts=[put("c.py", "fruit plum")]))
    assert store.check() == []
    assert found_paths(store, "fruit") == ["a.py", "c.py"]


def test_a_search_finds_what_is_committed_while_it_looks_at_the_index(
    tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It compared the marker of the other process with the catalog, and searched what it had loaded before."""
    store = LocalStore(tmp_path, world.read_text)
    store.apply(Batch(puts=[world.put("a.py", "fruit apple")]))
    assert found_paths(store, "fruit") == ["a.py"]
    other = LocalStore(tmp_path, world.read_text)
    other.catalog.apply(Batch(puts=[world.put("b.py", "fruit pear")]))
    follower = store._lexical[View.PROJECT]
    really_open = follower._open_current

    def open_and_be_overtaken() -> None:
        monkeypatch.setattr(follower, "_open_current", really_open)
        really_open()
        other.catch_up()

    monkeypatch.setattr(follower, "_open_current", open_and_be_overtaken)
    assert found_paths(store, "fruit") == ["a.py", "b.py"]


def test_a_check_waits_for_a_writer_that_is_between_its_two_commits(
    tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`dowse doctor` said that the index of words was behind the catalog whenever a server was writing."""
    store = LocalStore(tmp_path, world.read_text)
    store.apply(Batch(puts=[world.put("a.py", "fruit apple")]))
    other = LocalStore(tmp_path, world.read_text)
    other.catalog.apply(Batch(puts=[world.put("b.py", "fruit pear")]))
    really_hold = store._lock.held

    def hold_after_the_writer(seconds: float) -> AbstractContextManager[None]:
        other.catch_up()
        return really_hold(seconds)

    with monkeypatch.context() as patched:
        patched.setattr(store._lock, "held", hold_after_the_writer)
        assert store.check() == []
    other.catalog.apply(Batch(drops=["a.py"]))
    assert [finding.part for finding in store.check()] == ["lexical index"], "that writer was killed"


KILLED_BEFORE_MERGING = """
import os, sys
from pathlib import Path
from dowse.store.lexical import LexicalIndex
from dowse.store.segment_files import Marker
from tests.store.test_lexical_follower import entry_of

index = LexicalIndex(Path(sys.argv[1]))
for first in range(0, 35, 5):
    index.write(Marker("fruit", 1, 3), [], map(entry_of, range(first + 1, first + (4 if first == 0 else 6))))()
index._merge_waiter = lambda *_: os._exit(0)
index.write(Marker("fruit", 2, 3), [1], map(entry_of, range(36, 41)))
"""


def entry_of(number: int) -> LexicalDocument:
    chunk = Chunk("fruit", 0, 5, 1, 1)
    return LexicalDocument(number, "code", f"{number}.py", [(number, "fruit", chunk)])


def test_nothing_that_is_removed_comes_back_when_segments_of_a_killed_writer_are_merged(tmp_path: Path) -> None:
    """The first file that the next writer removed did."""
    subprocess.run([sys.executable, "-c", KILLED_BEFORE_MERGING, tmp_path], check=True)
    index = LexicalIndex(tmp_path)
    before = index.chunk_ids()
    assert {2, 3, 6, 40} < before
    assert 1 not in before
    index.write(Marker("fruit", 3, 3), [2], [entry_of(41)])()
    index.refresh()
    assert index.chunk_ids() == before - {2} | {41}
