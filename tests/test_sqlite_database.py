"""A database says whether anything has changed since it was last read."""

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from dowse import sqlite_connection, sqlite_database
from dowse.errors import DiskFull, NotWritable
from dowse.sqlite_connection import open_connection
from dowse.store.catalog import Catalog
from dowse.store.catalog_schema import STEPS
from dowse.system.platform import disk_full_error


def test_its_state_changes_with_every_change_and_only_then(tmp_path: Path) -> None:
    ours, theirs = (Catalog(tmp_path / "catalog.sqlite") for _ in range(2))
    before = ours.state()
    assert before is not None
    assert ours.rows("SELECT value FROM facts")
    assert ours.state() == before

    with theirs.transaction() as connection:
        connection.execute("INSERT INTO facts VALUES ('new', 'theirs')")
    after_theirs = ours.state()
    assert after_theirs not in (None, before)

    with ours.transaction() as connection:
        connection.execute("UPDATE facts SET value = 'ours' WHERE key = 'new'")
        assert ours.state() is None, "what this thread has not committed yet is known to it alone"
    assert ours.state() not in (None, before, after_theirs)


def test_a_fact_is_read_again_after_each_change(tmp_path: Path) -> None:
    ours, theirs = (Catalog(tmp_path / "catalog.sqlite") for _ in range(2))
    seen = list[tuple[str | None, ...]]()
    for writer in (ours, theirs, ours, theirs):
        writer.set_fact("note", f"{len(seen)}")
        seen.append((ours.fact("note"), theirs.fact("note"), ours.fact("other")))
    assert seen == [(f"{number}", f"{number}", None) for number in range(4)]


def test_a_mistake_in_a_query_is_not_taken_for_damage(tmp_path: Path) -> None:
    database = Catalog(tmp_path / "catalog.sqlite")
    with pytest.raises(sqlite3.ProgrammingError, match="Incorrect number of bindings"):
        database.rows("SELECT value FROM facts WHERE key = ?")


def refuse_files_beside(file: Path) -> None:
    """Keep SQLite from making the files that it needs beside a database, as storage that cannot be written does."""
    Path(f"{file}-shm").symlink_to("/nowhere/at/all")


def allow_files_beside(file: Path) -> None:
    Path(f"{file}-shm").unlink()


def value_of(database: Catalog) -> str:
    return str(database.rows("SELECT value FROM facts WHERE key = 'x'")[0][0])


def write(database: Catalog, value: str) -> None:
    with database.transaction() as connection:
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('x', ?)", (value,))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "catalog.sqlite"
    with closing(Catalog(file)) as database:
        write(database, "old")
    return file


def test_a_database_that_cannot_be_written_is_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_files_beside(file)
    for module in (sqlite_connection, sqlite_database):
        monkeypatch.setattr(module, "refusal_to_write", disk_full_error)
    with closing(Catalog(file)) as database:
        assert value_of(database) == "old"
        with database.snapshot():
            assert value_of(database) == "old"
        with pytest.raises(DiskFull, match="Free some space"):
            write(database, "new")
        assert value_of(database) == "old"
        allow_files_beside(file)
        write(database, "new")
        assert value_of(database) == "new", "no restart is needed once there is space"


def test_a_database_that_another_process_writes_is_opened_again(file: Path) -> None:
    refuse_files_beside(file)
    with closing(Catalog(file)) as reader:
        assert value_of(reader) == "old"
        allow_files_beside(file)
        with closing(Catalog(file)) as writer:
            write(writer, "new")
            assert value_of(reader) == "new", "what is in the WAL counts"
        assert value_of(reader) == "new"


def test_changes_that_only_the_wal_has_are_never_missed(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    with closing(Catalog(file)) as database:
        write(database, "new")
        for suffix in ("", "-wal"):
            shutil.copy(f"{file}{suffix}", f"{copy}{suffix}")
    refuse_files_beside(copy)
    with pytest.raises(sqlite3.OperationalError):
        open_connection(copy)
    allow_files_beside(copy)
    with closing(Catalog(copy)) as database:
        assert value_of(database) == "new"


def test_an_older_database_that_cannot_be_written_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "catalog.sqlite"
    Catalog(file).close()
    refuse_files_beside(file)
    refusal = NotWritable("It cannot be written.")
    monkeypatch.setattr(sqlite_database, "refusal_to_write", lambda _: refusal)
    monkeypatch.setattr("dowse.store.catalog.STEPS", (*STEPS, "CREATE TABLE extra (x);"))
    with pytest.raises(NotWritable, match="cannot be written"):
        Catalog(file)


def test_a_held_state_changes_only_by_own_writes_until_it_ends(file: Path) -> None:
    with closing(Catalog(file)) as database, closing(Catalog(file)) as other:
        before = database.state()
        with database.held_state():
            assert database.state() == before
            write(other, "of another")
            assert database.state() == before
            write(database, "own")
            own = database.state()
            assert own != before
            write(other, "of another again")
            assert database.state() == own
            database.end_hold()
            assert database.state() != own
        assert database.hold is None
        assert value_of(database) == "of another again"


def test_a_state_is_held_for_one_thread_alone(file: Path) -> None:
    with (
        closing(Catalog(file)) as database,
        closing(Catalog(file)) as other,
        database.held_state(),
        ThreadPoolExecutor(1) as pool,
    ):
        before = database.state()
        write(other, "new")
        assert pool.submit(database.state).result() != before
        assert database.state() == before
