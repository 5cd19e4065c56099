"""Derived parts that are missing, damaged, foreign or of another version are detected and rebuilt."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dowse import __version__
from dowse.errors import Failed, StoreDamaged, StoreTooNew
from dowse.store import lexical
from dowse.store.catalog import Catalog
from dowse.store.catalog_schema import STEPS
from dowse.store.local import LocalStore
from dowse.store.store_files import set_catalog_aside
from dowse.types import Batch, StoredDocument, TextQuery
from tests.sample_data import World
from tests.store.opened_stores import EAST, found_paths, lexical_folder


def remove_lexical(folder: Path) -> None:
    shutil.rmtree(lexical_folder(folder))


def empty_meta(folder: Path) -> None:
    (lexical_folder(folder) / "meta.json").write_text("{}", encoding="utf-8")


def another_catalogs_index(folder: Path) -> None:
    other, world = folder.parent / "other", World()
    store = LocalStore(other, world.read_text)
    store.apply(Batch(puts=[world.put("zebra.py", "zebra")]))
    store.close()
    ours = lexical_folder(folder)
    shutil.rmtree(ours)
    shutil.move(lexical_folder(other), ours)


HARMS = [remove_lexical, empty_meta, another_catalogs_index]


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_lexical_index_is_rebuilt_when_it_is_used(
    harm: Callable[[Path], None], folder: Path, world: World
) -> None:
    harm(folder)
    store = LocalStore(folder, world.read_text)
    assert found_paths(store, "fruit") == ["apple.py", "banana.py", "cherry.py"]
    assert found_paths(store, "zebra") == []
    assert store.check() == []


@pytest.mark.parametrize("harm", HARMS)
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


def test_an_older_catalog_migrates_and_keeps_its_content(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = (*STEPS, "ALTER TABLE documents ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm';\nCREATE TABLE extra (x);")
    monkeypatch.setattr("dowse.store.catalog.STEPS", later)
    catalog = Catalog(folder / "catalog.sqlite")
    assert [document.path for document in catalog.documents()] == ["apple.py", "banana.py", "cherry.py"]
    catalog.close()
    with sqlite3.connect(folder / "catalog.sqlite") as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(later),)
        assert connection.execute("SELECT DISTINCT mood FROM documents").fetchall() == [("calm",)]
    connection.close()


def test_a_migration_that_fails_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = (*STEPS, "CREATE TABLE extra (x);\nCREATE TABLE facts (again);")
    with monkeypatch.context() as patch:
        patch.setattr("dowse.store.catalog.STEPS", later)
        with pytest.raises(StoreDamaged):
            Catalog(folder / "catalog.sqlite")
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


def test_many_vectors_do_not_make_the_lexical_index_start_over(
    folder: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dowse.store.catalog_writer.MAX_KEPT_CHANGES", 5)
    store = LocalStore(folder, world.read_text)
    before = lexical_folder(folder)
    ids = store.catalog.chunks_without_vectors("other", 10)
    for _ in range(5):
        store.put_vectors("other", [(chunk_id, EAST) for chunk_id in ids])
    assert found_paths(store, "fruit") == ["apple.py", "banana.py", "cherry.py"]
    assert lexical_folder(folder) == before
    assert len(store.nearest("other", EAST, 10)) == 3


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


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
def test_a_second_opening_leaves_the_locks_of_the_first_alone(tmp_path: Path) -> None:
    """Opening and closing the file directly dropped them, and the next writer damaged the catalog."""
    world = World()
    first = LocalStore(tmp_path / "index", world.read_text)
    first.apply(Batch(puts=[world.put("a.txt", "apple")]))
    with first.catalog.snapshot():
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


def test_a_new_catalog_with_the_inode_of_the_old_one_is_another_one(
    folder: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that had released its memory went on with the index, although another process had made it anew."""
    store = LocalStore(folder, world.read_text)
    store.release_memory()  # no connection keeps the file, and the file system can give its inode away
    assert store.is_in_place()
    store.release_memory()
    shutil.rmtree(folder)
    LocalStore(folder, world.read_text).close()
    monkeypatch.setattr(store, "_catalog_inode", (folder / "catalog.sqlite").stat().st_ino)
    assert not store.is_in_place()
