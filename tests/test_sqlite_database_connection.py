"""A database that cannot be written is read, and what another process writes to it meanwhile is noticed."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dowse import sqlite_database
from dowse.errors import DiskFull, NotWritable
from dowse.platform import disk_full_error
from dowse.sqlite_database import open_connection
from dowse.store.catalog import Catalog
from dowse.store.catalog_schema import STEPS, is_current_format


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
    monkeypatch.setattr(sqlite_database, "refusal_to_write", disk_full_error)
    assert is_current_format(file)
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
