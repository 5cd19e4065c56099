"""The references of a store are read when they are asked for, and follow its catalog from then on."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dowse.parsing.text_cutting import find_references
from dowse.store import reference_index
from dowse.store.local import LocalStore
from dowse.store.store_files import CATALOG_FILE
from dowse.types import Batch, StoredDocument
from tests.sample_data import World


class SourceWorld(World):
    """Python files whose references can be read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []
        self.changed: set[str] = set()

    def read_references(self, documents: Iterable[StoredDocument]) -> Iterator[tuple[StoredDocument, bytes | None]]:
        for document in documents:
            self.read.append(document.path)
            text = None if document.path in self.changed else self.files[document.path]
            yield document, None if text is None else find_references(text, "python")


@pytest.fixture
def world() -> SourceWorld:
    return SourceWorld()


def open_store(folder: Path, world: SourceWorld) -> LocalStore:
    return LocalStore(folder, world.read_text, world.read_references)


def paths_with(store: LocalStore, name: str) -> list[str]:
    return [row.path for row in store.references.documents_with(name)]


def fill(folder: Path, world: SourceWorld) -> None:
    with closing(open_store(folder, world)) as store:
        store.apply(Batch(puts=[world.put("a.py", "def peel(): ...\n"), world.put("b.py", "x.peel()\n")]))
        store.references.catch_up()


def test_references_are_not_read_before_they_are_asked_for(tmp_path: Path, world: SourceWorld) -> None:
    with closing(open_store(tmp_path, world)) as store:
        store.apply(Batch(puts=[world.put("a.py", "def peel(): ...\n")]))
        assert (store.references.is_used, store.references.has_backlog(), store.check(), world.read) == (
            False, False, [], [],
        )  # fmt: skip


def test_references_follow_every_batch(tmp_path: Path, world: SourceWorld) -> None:
    fill(tmp_path, world)
    with closing(open_store(tmp_path, world)) as store:
        assert paths_with(store, "peel") == ["a.py", "b.py"]
        world.read.clear()
        store.apply(Batch(puts=[world.put("b.py", "x.wash()\n"), world.put("c.py", "y.wash()\n")], drops=["a.py"]))
        assert store.references.missing() == 2
        store.references.catch_up()
        assert (paths_with(store, "peel"), paths_with(store, "wash")) == ([], ["b.py", "c.py"])
        assert store.references.is_current()
        assert store.check() == []
        assert world.read == ["b.py", "c.py"], "other files are not read again"


def test_a_file_that_changed_since_it_was_indexed_is_read_once_it_is_as_indexed(
    tmp_path: Path, world: SourceWorld
) -> None:
    fill(tmp_path, world)
    with closing(open_store(tmp_path, world)) as store:
        store.apply(Batch(puts=[world.put("c.py", "y.peel()\n"), world.put("d.py", "z.peel()\n")], drops=["a.py"]))
        world.changed.add("c.py")
        store.references.catch_up()
        assert (paths_with(store, "peel"), store.references.missing()) == (["b.py", "d.py"], 1)
        world.changed.clear()
        world.read.clear()
        store.references.catch_up()
        assert (paths_with(store, "peel"), store.references.missing()) == (["b.py", "c.py", "d.py"], 0)
        assert world.read == ["c.py"], "references that are here are not read again"


def test_reading_stops_in_time_and_goes_on(tmp_path: Path, world: SourceWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_index, "_READ_DOCUMENTS", 1)
    with closing(open_store(tmp_path, world)) as store:
        store.apply(Batch(puts=[world.put(f"{letter}.py", "x.peel()\n") for letter in "abc"]))
        store.references.catch_up(seconds=-1.0)
        assert (store.references.missing(), world.read) == (3, [])
        store.references.catch_up(seconds=60.0)
        assert (store.references.missing(), world.read) == (0, ["a.py", "b.py", "c.py"])


@pytest.mark.parametrize("damage", ["an earlier version", "a damaged row", "a missing name"])
def test_damaged_references_are_made_again(tmp_path: Path, world: SourceWorld, damage: str) -> None:
    fill(tmp_path, world)
    statement = {
        "an earlier version": "UPDATE facts SET value = '0' WHERE key = 'references'",
        "a damaged row": "UPDATE source_references SET data = x'0000000000'",
        "a missing name": "DELETE FROM reference_names WHERE document_id = 1",
    }[damage]
    with closing(sqlite3.connect(tmp_path / CATALOG_FILE)) as connection, connection:
        connection.execute(statement)
    with closing(open_store(tmp_path, world)) as store:
        store.apply(Batch(puts=[world.put("c.py", "z.peel()\n")]))  # an index is never lost for its references
        if damage != "an earlier version":
            assert [finding.part for finding in store.check()] == ["references"]
            store.repair()
        store.references.catch_up()
        assert paths_with(store, "peel") == ["a.py", "b.py", "c.py"]
        assert store.check() == []


def test_references_that_another_version_keeps_by_now_are_not_written(
    tmp_path: Path, world: SourceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server of an earlier version read a file while a later one took over, which then believed those references."""
    fill(tmp_path, world)
    with closing(open_store(tmp_path, world)) as store:
        store.apply(Batch(puts=[world.put("c.py", "z.peel()\n")]))
        missing = store.references.missing_documents()
        with monkeypatch.context() as patched:
            patched.setattr(reference_index, "VERSION", "earlier")
            store.references.read(missing, 1.0)
        assert (store.references.missing_documents(), world.read[-1]) == (missing, "c.py")
        store.references.catch_up()
        assert paths_with(store, "peel") == ["a.py", "b.py", "c.py"]
