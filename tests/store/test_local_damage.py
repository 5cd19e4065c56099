"""Derived parts that are missing, damaged, foreign or of another version are detected and rebuilt."""

import contextlib
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dowse import __version__
from dowse.errors import Failed, StoreDamaged, StoreTooNew
from dowse.platform import Lock
from dowse.store import catalog, lexical, matrix
from dowse.store.catalog import Catalog
from dowse.store.catalog_schema import APPLICATION_ID, STEPS
from dowse.store.local import LocalStore
from dowse.store.matrices import Matrices
from dowse.store.store_files import set_catalog_aside
from dowse.types import Batch, StoredDocument, TextQuery
from tests.sample_data import World
from tests.store.test_local_contract import found_paths

EAST = np.array([1, 0], dtype=np.float32)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def folder(tmp_path: Path, world: World) -> Path:
    """A closed index of three documents with vectors and a matrix."""
    folder = tmp_path / "index"
    store = LocalStore(folder, world.read_text)
    store.apply(Batch(puts=[world.put(f"{name}.py", f"fruit {name}") for name in ("apple", "banana", "cherry")]))
    store.put_vectors("e", [(chunk_id, EAST) for chunk_id in store.chunks_without_vectors("e", 10)])
    assert len(store.nearest("e", EAST, 10)) == 3
    store.close()
    return folder


def lexical_folder(folder: Path) -> Path:
    (found,) = folder.glob("lexical-*")
    return found


def segment_file(folder: Path, suffix: str) -> Path:
    return next(file for file in sorted(lexical_folder(folder).iterdir()) if file.suffix == suffix)


def remove_lexical(folder: Path) -> None:
    shutil.rmtree(lexical_folder(folder))


def empty_meta(folder: Path) -> None:
    (lexical_folder(folder) / "meta.json").write_text("{}", encoding="utf-8")


def cut_terms(folder: Path) -> None:
    file = segment_file(folder, ".term")
    file.write_bytes(file.read_bytes()[:-20])


def lose_positions(folder: Path) -> None:
    segment_file(folder, ".pos").unlink()


def flip_a_byte(folder: Path) -> None:
    file = segment_file(folder, ".idx")
    data = bytearray(file.read_bytes())
    data[len(data) // 3] ^= 0xFF
    file.write_bytes(data)


def another_catalogs_index(folder: Path) -> None:
    other, world = folder.parent / "other", World()
    store = LocalStore(other, world.read_text)
    store.apply(Batch(puts=[world.put("zebra.py", "zebra")]))
    store.close()
    ours = lexical_folder(folder)
    shutil.rmtree(ours)
    shutil.move(lexical_folder(other), ours)


NOTICED_AT_ONCE = [remove_lexical, empty_meta, cut_terms, lose_positions, another_catalogs_index]


@pytest.mark.parametrize("harm", NOTICED_AT_ONCE)
def test_a_damaged_lexical_index_is_rebuilt_when_it_is_used(
    harm: Callable[[Path], None], folder: Path, world: World
) -> None:
    harm(folder)
    store = LocalStore(folder, world.read_text)
    assert found_paths(store, "fruit") == ["apple.py", "banana.py", "cherry.py"]
    assert found_paths(store, "zebra") == []
    assert store.check() == []


@pytest.mark.parametrize("harm", [*NOTICED_AT_ONCE, flip_a_byte])
def test_every_damage_is_found_by_a_check_and_mended_by_a_repair(
    harm: Callable[[Path], None], folder: Path, world: World
) -> None:
    harm(folder)
    store = LocalStore(folder, world.read_text)
    findings = store.check()
    assert [finding.part for finding in findings] == ["lexical index"]
    store.repair()
    assert store.check() == []
    assert found_paths(store, "fruit") == ["apple.py", "banana.py", "cherry.py"]


def test_an_index_of_another_version_is_rebuilt(folder: Path, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "FORMAT", lexical.FORMAT + 1)
    store = LocalStore(folder, world.read_text)
    assert [finding.problem for finding in store.check()] == ["belongs to another catalog or version"]
    assert found_paths(store, "fruit") == ["apple.py", "banana.py", "cherry.py"]
    assert store.check() == []


def test_a_lexical_index_that_is_behind_replays_what_it_missed(folder: Path, world: World) -> None:
    """The catalog was committed and the process died before the lexical index followed."""
    catalog = Catalog(folder / "catalog.sqlite")
    catalog.apply(Batch(puts=[world.put("date.py", "fruit date")], drops=["apple.py"]))
    catalog.close()
    store = LocalStore(folder, world.read_text)
    assert found_paths(store, "fruit") == ["banana.py", "cherry.py", "date.py"]
    assert store.check() == []


def test_a_lexical_index_ahead_of_its_catalog_is_not_believed(folder: Path, world: World) -> None:
    """The machine lost power and the catalog's last batches with it."""
    (folder / "copy").mkdir()
    for file in folder.glob("catalog.sqlite*"):
        shutil.copy(file, folder / "copy")
    store = LocalStore(folder, world.read_text)
    store.apply(Batch(puts=[world.put("date.py", "fruit date")]))
    store.close()
    for file in folder.glob("catalog.sqlite*"):
        file.unlink()
    for file in (folder / "copy").iterdir():
        shutil.copy(file, folder)
    again = LocalStore(folder, world.read_text)
    assert found_paths(again, "fruit") == ["apple.py", "banana.py", "cherry.py"]
    assert found_paths(again, "date") == []


def test_more_changes_than_are_kept_mean_a_rebuild(folder: Path, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dowse.store.catalog_writer.MAX_KEPT_CHANGES", 2)
    catalog = Catalog(folder / "catalog.sqlite")
    for number in range(4):
        catalog.apply(Batch(puts=[world.put(f"{number}.py", f"number {number}")]))
    assert catalog.changes_since(1) is None
    catalog.close()
    store = LocalStore(folder, world.read_text)
    assert len(found_paths(store, "number")) == 4
    assert len(store.nearest("e", EAST, 10)) == 3
    assert store.check() == []


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
    other.put_vectors("e", [(chunk_id, EAST) for chunk_id in other.chunks_without_vectors("e", 10)])
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
            (chunk_id,) = store.chunks_without_vectors("e", 10)
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
    of_the_header = Matrices._current_header

    def replace_it(self: Matrices, encoder: str) -> matrix.MatrixHeader | None:
        header = of_the_header(self, encoder)
        monkeypatch.setattr(Matrices, "_current_header", of_the_header)
        other.apply(Batch(drops=["apple.py", "banana.py"]))
        matrix.matrix_file(folder, "e").unlink()
        assert len(other.nearest("e", EAST, 10)) == 1
        return header

    monkeypatch.setattr(Matrices, "_current_header", replace_it)
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


def test_a_matrix_full_of_dead_rows_is_written_anew(folder: Path, world: World) -> None:
    store = LocalStore(folder, world.read_text)
    file = matrix.matrix_file(folder, "e")
    for name in ("apple", "banana"):
        store.apply(Batch(drops=[f"{name}.py"]))
        assert store.nearest("e", EAST, 10)
    store.apply(Batch(puts=[world.put("date.py", "fruit date")]))
    assert len(store.nearest("e", EAST, 10)) == 1
    header = matrix.read_header(file)
    assert header is not None
    assert (header.rows, header.dead) == (1, 0)


def test_a_catalog_that_is_no_database_is_refused_and_can_be_set_aside(folder: Path, world: World) -> None:
    for file in folder.glob("catalog.sqlite*"):
        file.unlink()
    (folder / "catalog.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreDamaged):
        LocalStore(folder, world.read_text)
    backup = set_catalog_aside(folder)
    assert backup.read_bytes().startswith(b"not a database")
    store = LocalStore(folder, world.read_text)
    assert list(store.documents()) == []
    assert store.check() == []


def test_somebody_elses_database_is_refused(folder: Path, world: World) -> None:
    for file in folder.glob("catalog.sqlite*"):
        file.unlink()
    with sqlite3.connect(folder / "catalog.sqlite") as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(StoreDamaged, match="not made by dowse"):
        LocalStore(folder, world.read_text)


def test_a_damaged_page_of_the_catalog_is_found_by_a_check(folder: Path, world: World) -> None:
    file = folder / "catalog.sqlite"
    data = bytearray(file.read_bytes())
    for page in range(4096, len(data) - 4096, 4096):
        data[page : page + 64] = b"\xff" * 64
    file.write_bytes(data)
    try:
        findings = LocalStore(folder, world.read_text).check()
    except StoreDamaged:
        return
    assert any(finding.part == "catalog" for finding in findings)


def test_an_older_catalog_migrates_and_keeps_its_content(folder: Path) -> None:
    later = (*STEPS, "ALTER TABLE documents ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm';\nCREATE TABLE extra (x);")
    catalog = Catalog(folder / "catalog.sqlite", later)
    assert [document.path for document in catalog.documents()] == ["apple.py", "banana.py", "cherry.py"]
    catalog.close()
    with sqlite3.connect(folder / "catalog.sqlite") as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(later),)
        assert connection.execute("SELECT DISTINCT mood FROM documents").fetchall() == [("calm",)]
    connection.close()


def test_a_migration_that_fails_changes_nothing(folder: Path) -> None:
    with pytest.raises(StoreDamaged):
        Catalog(folder / "catalog.sqlite", (*STEPS, "CREATE TABLE extra (x);\nCREATE TABLE facts (again);"))
    catalog = Catalog(folder / "catalog.sqlite")
    assert len(list(catalog.documents())) == 3
    catalog.close()


def test_a_newer_catalog_is_refused_naming_both_versions(folder: Path, world: World) -> None:
    with sqlite3.connect(folder / "catalog.sqlite") as connection:
        connection.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
        connection.execute("UPDATE facts SET value = '9.8.7' WHERE key = 'written_by'")
    connection.close()
    with pytest.raises(StoreTooNew, match=rf"dowse 9\.8\.7 \(format {len(STEPS) + 1}\).*dowse {__version__}"):
        LocalStore(folder, world.read_text)


def test_a_search_before_anything_else_finds_the_index_that_is_there(folder: Path, world: World) -> None:
    """The store once took an unopened index for a damaged one and rebuilt it."""
    before = lexical_folder(folder)
    store = LocalStore(folder, world.read_text)
    assert len(store.find_chunks(TextQuery(("fruit",), {"words": 1.0}), 10)) == 3
    assert lexical_folder(folder) == before


def test_what_is_missing_shows_at_a_glance(folder: Path, world: World) -> None:
    store = LocalStore(folder, world.read_text)
    assert store.quick_check() == []
    store.close()
    remove_lexical(folder)
    assert [finding.part for finding in LocalStore(folder, world.read_text).quick_check()] == ["lexical index"]


def test_many_vectors_do_not_make_the_lexical_index_start_over(
    folder: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dowse.store.catalog_writer.MAX_KEPT_CHANGES", 5)
    store = LocalStore(folder, world.read_text)
    before = lexical_folder(folder)
    ids = store.chunks_without_vectors("other", 10)
    for _ in range(5):
        store.put_vectors("other", [(chunk_id, EAST) for chunk_id in ids])
    assert found_paths(store, "fruit") == ["apple.py", "banana.py", "cherry.py"]
    assert lexical_folder(folder) == before
    assert len(store.nearest("other", EAST, 10)) == 3


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
    assert len(store.chunks_without_vectors("e", 10)) == 1, "its vector was forgotten"
    assert len(store.nearest("e", EAST, 10)) == 2


def test_a_search_by_vector_does_not_wait_for_a_writer(folder: Path, world: World) -> None:
    store = LocalStore(folder, world.read_text)
    with Lock(folder / "write.lock").held(1.0):
        assert len(store.nearest("e", EAST, 10)) == 3
        assert store.nearest("unknown", EAST, 10) == []


def test_a_reader_that_fails_leaves_the_catalog_as_it_is(folder: Path) -> None:
    """A disk that was not mounted once emptied the index."""

    def gone(document: StoredDocument) -> str | None:
        raise Failed(f"{document.path}: the project is not there")

    remove_lexical(folder)
    store = LocalStore(folder, gone)
    with pytest.raises(Failed, match="not there"):
        store.refresh()
    assert len(list(store.documents())) == 3
    assert list(folder.glob("lexical-*")) == [], "what a failed rebuild began is removed"


def test_the_catalog_says_whose_it_is(folder: Path) -> None:
    with sqlite3.connect(folder / "catalog.sqlite") as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    connection.close()


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
def test_a_second_opening_leaves_the_locks_of_the_first_alone(tmp_path: Path) -> None:
    """Opening and closing the file directly dropped them, and the next writer damaged the catalog."""
    world = World()
    first = LocalStore(tmp_path / "index", world.read_text)
    first.apply(Batch(puts=[world.put("a.txt", "apple")]))
    with first._catalog._database.snapshot():
        list(first.documents())
        LocalStore(tmp_path / "index", world.read_text).close()
        program = (
            "import fcntl, sys; file = open(sys.argv[1], 'r+b'); "
            "fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000000 + 2)"
        )
        locked = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "index/catalog.sqlite")], capture_output=True, check=False
        )
    assert b"BlockingIOError" in locked.stderr
