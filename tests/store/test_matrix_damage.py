"""Damaged and outdated matrices of vectors are detected and made anew; searches by vector do not wait for writers."""

import contextlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dowse.store import catalog, matrix
from dowse.store.local import LocalStore
from dowse.store.matrices import Matrices
from dowse.system.platform import Lock
from dowse.types import Batch
from tests.sample_data import World, find
from tests.store.opened_stores import EAST, encode_all


def cut_matrix(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-3])


def scramble_header(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[20] ^= 0xFF
    file.write_bytes(data)


def scramble_a_row(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-2] ^= 0x0F  # the first dimension of the last vector
    file.write_bytes(data)


def empty_matrix(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("harm", [cut_matrix, scramble_header, scramble_a_row, empty_matrix])
def test_a_damaged_matrix_is_found_and_made_anew(harm: Callable[[Path], None], folder: Path, world: World) -> None:
    harm(matrix.matrix_file(folder, "e"))
    store = LocalStore(folder, world.read_text)
    assert [finding.part for finding in store.check()] == ["vectors"]
    store.repair()
    assert store.check() == []
    assert [hit.score for hit in store.nearest("e", EAST, 10)] == [1.0, 1.0, 1.0]


def test_the_matrix_of_another_catalog_is_not_used(folder: Path, world: World, tmp_path: Path) -> None:
    other = LocalStore(tmp_path / "other", world.read_text)
    other.apply(Batch(puts=[world.put("zebra.py", "zebra")]))
    encode_all(other)
    other.nearest("e", EAST, 1)
    shutil.copy(matrix.matrix_file(tmp_path / "other", "e"), matrix.matrix_file(folder, "e"))
    store = LocalStore(folder, world.read_text)
    assert len(store.nearest("e", EAST, 10)) == 3


def test_the_matrix_of_a_newer_catalog_is_not_used_by_an_older_copy(folder: Path, world: World) -> None:
    """The older copy gives the ids of the newer chunks to others."""
    older = shutil.copytree(folder, folder.with_name("older"))
    north = np.array([0, 1], dtype=np.float32)

    def add(name: str, vector: "np.ndarray[tuple[int], np.dtype[np.float32]]") -> int:
        with contextlib.closing(LocalStore(folder, world.read_text)) as store:
            store.apply(Batch(puts=[world.put(name, f"fruit {name}")]))
            (chunk_id,) = store.catalog.chunks_without_vectors("e", 10)
            store.put_vectors("e", [(chunk_id, vector)])
            return chunk_id

    newer = add("date.py", north)
    with contextlib.closing(LocalStore(folder, world.read_text)) as store:
        assert [hit.id for hit in store.nearest("e", north, 1)] == [newer]
    for file in folder.glob("catalog.sqlite*"):
        file.unlink()
    for file in older.glob("catalog.sqlite*"):
        shutil.copy2(file, folder)
    assert add("elder.py", EAST) == newer
    with contextlib.closing(LocalStore(folder, world.read_text)) as store:
        assert [round(hit.score, 3) for hit in store.nearest("e", north, 9)] == [0, 0, 0, 0]
        assert store.check() == []


def test_a_matrix_that_another_process_replaces_while_it_is_opened_is_read(
    folder: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two servers and a command at once: the header was of the old file, and the new one was shorter."""
    store, other = LocalStore(folder, world.read_text), LocalStore(folder, world.read_text)
    follow = Matrices._followed

    def replace_it(self: Matrices, loaded: matrix.Matrix) -> matrix.Matrix | None:
        monkeypatch.setattr(Matrices, "_followed", follow)
        other.apply(Batch(drops=["apple.py", "banana.py"]))
        matrix.matrix_file(folder, "e").unlink()
        assert len(other.nearest("e", EAST, 10)) == 1
        return follow(self, loaded)

    monkeypatch.setattr(Matrices, "_followed", replace_it)
    assert len(store.nearest("e", EAST, 10)) == 1


def test_a_matrix_that_is_damaged_while_it_is_open_is_made_anew(folder: Path, world: World) -> None:
    """A damaged row once changed the order of the hits until the next check."""
    store = LocalStore(folder, world.read_text)
    before = store.nearest("e", EAST, 10)
    for _ in range(2):
        scramble_a_row(matrix.matrix_file(folder, "e"))
        assert store.nearest("e", EAST, 10) == before
    store.close()
    scramble_a_row(matrix.matrix_file(folder, "e"))
    assert LocalStore(folder, world.read_text).nearest("e", EAST, 10) == before


@pytest.mark.parametrize("small_rows", [0, 100])
def test_a_large_matrix_is_written_when_much_has_changed_and_a_small_one_each_time(
    folder: Path, world: World, monkeypatch: pytest.MonkeyPatch, small_rows: int
) -> None:
    monkeypatch.setattr("dowse.store.matrices.SMALL_ROWS", small_rows)
    monkeypatch.setattr("dowse.store.matrices.MAX_CHANGED_SHARE", 0.5)
    file, written = matrix.matrix_file(folder, "e"), list[int]()
    for drops in (["apple.py"], ["banana.py"]):
        with contextlib.closing(LocalStore(folder, world.read_text)) as store:
            store.apply(Batch(drops=drops))
            found = len(store.nearest("e", EAST, 10))
            assert (store.vector_counts("e"), store.check()) == ((found, found), [])
        with contextlib.closing(LocalStore(folder, world.read_text)) as store:
            assert store.vector_counts("e") == (found, found)
            assert len(store.nearest("e", EAST, 10)) == found
        header = matrix.read_header(file)
        assert header is not None
        written.append(header.counts[-1])
    assert written == ([2, 1] if small_rows else [3, 1])


@pytest.mark.parametrize(
    "query", [f"{catalog._VECTORS} WHERE chunks.id", f"{catalog._DOCUMENTS_VECTORS} WHERE documents.id"]
)
def test_a_few_vectors_are_found_without_a_walk_over_all(folder: Path, query: str) -> None:
    """SQLite's own join order scanned all vectors for each chunk: 11 s for 500 of 65,000 chunks."""
    with contextlib.closing(sqlite3.connect(folder / "catalog.sqlite")) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {query} IN (1, 2, 3)", ("e",)).fetchall()
    steps = [step[3] for step in plan]
    assert any("vectors" in step and "encoder=? AND input_hash=?" in step for step in steps), steps
    assert not any(step.startswith("SCAN") for step in steps), steps


def test_vectors_of_what_is_gone_can_be_forgotten(folder: Path, world: World) -> None:
    store = LocalStore(folder, world.read_text)
    store.apply(Batch(drops=["apple.py"]))
    store.forget_unused_vectors()
    store.apply(Batch(puts=[world.put("apple.py", world.files["apple.py"])]))
    assert len(store.catalog.chunks_without_vectors("e", 10)) == 1, "its vector was forgotten"
    assert len(store.nearest("e", EAST, 10)) == 2


def test_vectors_that_cannot_be_written_to_the_matrix_yet_are_searched(folder: Path, world: World) -> None:
    """Files without a row in the matrix were pushed back by all others, while another process held the write lock."""
    with (
        contextlib.closing(LocalStore(folder, world.read_text)) as store,
        contextlib.closing(LocalStore(folder, world.read_text)) as other,
    ):
        assert len(store.nearest("e", EAST, 10)) == 3
        other.apply(Batch(puts=[world.put("date.py", "fruit date")], drops=["apple.py"]))
        (added,) = other.catalog.chunks_without_vectors("e", 10)
        other.put_vectors("e", [(added, 2 * EAST)])
        with Lock(folder / "write.lock").held(1.0):
            for _ in range(2):
                found = store.nearest("e", EAST, 10)
                assert (len(found), found[0].id) == (3, added)
            assert store.vector_counts("e") == (3, 3)
            assert store.encoded_documents("e", frozenset([found[0].document_id, 1])) == {found[0].document_id}
        assert store.nearest("e", EAST, 10) == found
        assert store.check() == []


def test_a_matrix_of_transactions_that_a_catalog_has_not_made_is_made_anew(folder: Path, world: World) -> None:
    """An older file beside a newer journal: the number was of the newer one, and the matrix just behind that number.

    Its rows then stayed for chunks that had got the same ids.
    """
    older = shutil.copytree(folder, folder.with_name("older"))
    north = np.array([0, 1], dtype=np.float32)
    with contextlib.closing(LocalStore(folder, world.read_text)) as store:
        store.apply(Batch(puts=[world.put("date.py", "fruit date")]))
        (newer,) = store.catalog.chunks_without_vectors("e", 10)
        store.put_vectors("e", [(newer, north)])
        assert store.nearest("e", north, 1)[0].id == newer
        store.apply(Batch(drops=["apple.py"]))  # the matrix follows when it is next used
        number = store.catalog.sequence()
    shutil.copy2(older / "catalog.sqlite", folder)
    with contextlib.closing(sqlite3.connect(folder / "catalog.sqlite")) as connection, connection:
        connection.execute("UPDATE facts SET value = ? WHERE key = 'sequence'", (str(number),))
    with contextlib.closing(LocalStore(folder, world.read_text)) as store:
        store.apply(Batch(puts=[world.put("elder.py", "fruit elder")]))
        assert store.catalog.chunks_without_vectors("e", 10) == [newer]
        assert [hit.id for hit in store.nearest("e", north, 9)] == [1, 2, 3]
        assert store.check() == []
        assert find(store, "elder")
        assert not find(store, "date")


def test_a_catalog_that_was_put_back_reaches_no_number_of_a_matrix_that_comes_later(folder: Path, world: World) -> None:
    """A backup restores one file after another; with steps of one both reached the same number."""
    older = shutil.copytree(folder, folder.with_name("older"))
    with contextlib.closing(LocalStore(folder, world.read_text)) as store:
        store.apply(Batch(puts=[world.put("date.py", "fruit date")]))
        encode_all(store)
        assert len(store.nearest("e", EAST, 9)) == 4
    file = matrix.matrix_file(folder, "e")
    file.rename(file.with_suffix(".later"))
    shutil.copy2(older / "catalog.sqlite", folder)
    with contextlib.closing(LocalStore(folder, world.read_text)) as store:
        store.apply(Batch(drops=["apple.py"]))
        store.apply(Batch(drops=["banana.py"]))
        file.with_suffix(".later").replace(file)
        assert [hit.id for hit in store.nearest("e", EAST, 9)] == [3]
        assert store.check() == []


def test_rows_of_other_transactions_are_not_searched_while_the_matrix_cannot_be_written(
    folder: Path, world: World
) -> None:
    newer = folder.with_name("newer")
    shutil.copytree(folder, newer)
    with contextlib.closing(LocalStore(newer, world.read_text)) as store:
        store.apply(Batch(drops=["cherry.py"]))
        assert len(store.nearest("e", EAST, 9)) == 2
    shutil.copy2(matrix.matrix_file(newer, "e"), folder)
    with contextlib.closing(LocalStore(folder, world.read_text)) as store, Lock(folder / "write.lock").held(1.0):
        assert len(store.nearest("e", EAST, 9)) == 3
