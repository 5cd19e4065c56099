"""The references of a store follow its catalog; what is missing or damaged is read again by the next run."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from dowse.chunking import find_references
from dowse.store.local import LocalStore
from dowse.store.reference_database import REFERENCES_FILE
from dowse.types import Batch, Finding, Put, StoredDocument
from tests.sample_data import World


class SourceWorld(World):
    """Python files whose references can be read again."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def source(self, path: str, text: str) -> Put:
        put = self.put(path, text)
        return replace(put, references=find_references(text, "python"))

    def read_references(self, documents: Iterable[StoredDocument]) -> Iterator[tuple[StoredDocument, bytes]]:
        for document in documents:
            self.read.append(document.path)
            yield document, find_references(self.files[document.path], "python")


@pytest.fixture
def world() -> SourceWorld:
    return SourceWorld()


def open_store(folder: Path, world: SourceWorld) -> LocalStore:
    return LocalStore(folder, world.read_text, world.read_references)


def paths_with(store: LocalStore, name: str) -> list[str]:
    return [row.path for row in store.references.database.documents_with(name)]


def fill(folder: Path, world: SourceWorld) -> None:
    with closing(open_store(folder, world)) as store:
        store.apply(Batch(puts=[world.source("a.py", "def peel(): ...\n"), world.source("b.py", "x.peel()\n")]))


def test_references_follow_every_batch(tmp_path: Path, world: SourceWorld) -> None:
    with closing(open_store(tmp_path, world)) as store:
        store.apply(Batch(puts=[world.source("a.py", "def peel(): ...\n"), world.source("b.py", "x.peel()\n")]))
        assert paths_with(store, "peel") == ["a.py", "b.py"]
        store.apply(Batch(puts=[world.source("b.py", "x.wash()\n")], drops=["a.py"]))
        assert (paths_with(store, "peel"), paths_with(store, "wash")) == ([], ["b.py"])
        assert store.references.is_current()
        assert store.check() == []
        assert world.read == [], "what the parsers found is not read again"


def test_references_that_a_killed_process_did_not_store_are_read_by_the_next_run(
    tmp_path: Path, world: SourceWorld
) -> None:
    fill(tmp_path, world)
    with closing(open_store(tmp_path, world)) as store:
        store._catalog.apply(Batch(puts=[world.source("c.py", "y.peel()\n")], drops=["a.py"]))
        assert store.references.missing() == 1
        store.references.catch_up()
        assert (paths_with(store, "peel"), world.read) == (["b.py", "c.py"], ["c.py"])
        assert store.references.is_current()


def test_an_index_of_an_earlier_version_gets_its_references(tmp_path: Path, world: SourceWorld) -> None:
    fill(tmp_path, world)
    (tmp_path / REFERENCES_FILE).unlink()
    with closing(open_store(tmp_path, world)) as store:
        assert store.references.missing() == 2
        assert store.check() == [Finding("references", "are missing")]
        store.apply(Batch(puts=[world.source("c.py", "z.peel()\n")]))
        assert not store.references.is_current(), "a batch adds its own alone"
        store.references.catch_up()
        assert paths_with(store, "peel") == ["a.py", "b.py", "c.py"]
        assert world.read == ["a.py", "b.py"]
        assert store.check() == []


@pytest.mark.parametrize("damage", ["no database", "a foreign catalog", "an earlier version", "a damaged row"])
def test_damaged_references_are_made_again(tmp_path: Path, world: SourceWorld, damage: str) -> None:
    fill(tmp_path, world)
    file = tmp_path / REFERENCES_FILE
    if damage == "no database":
        file.write_bytes(b"something else" * 1000)
    else:
        statement = {
            "a foreign catalog": "UPDATE facts SET value = 'other' WHERE key = 'catalog'",
            "an earlier version": "UPDATE facts SET value = '0' WHERE key = 'version'",
            "a damaged row": "UPDATE documents SET data = x'0000000000'",
        }[damage]
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute(statement)
    with closing(open_store(tmp_path, world)) as store:
        store.apply(Batch(puts=[world.source("c.py", "z.peel()\n")]))  # an index is never lost for its references
        if damage in ("no database", "a damaged row"):
            store.repair()
        store.references.catch_up()
        assert paths_with(store, "peel") == ["a.py", "b.py", "c.py"]
        assert store.check() == []
