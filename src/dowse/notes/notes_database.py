"""The SQLite database of one index, on disk or in memory."""

import contextlib
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dowse.errors import Failed, LimitReached, NotWritable, StoreDamaged
from dowse.notes import limits
from dowse.sqlite_connection import DatabaseConnection
from dowse.sqlite_database import SqliteDatabase, run_steps, transaction

APPLICATION_ID = 0x646F776E
"""Spells `down`; distinguishes a named index from a project's catalog and from any other database."""

STEPS = (
    """
    CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    -- Documents with ids up to `posted` are in batches, in the table `postings`.
    CREATE TABLE state (
        posted INTEGER NOT NULL, documents INTEGER NOT NULL, tokens INTEGER NOT NULL, text_bytes INTEGER NOT NULL);
    INSERT INTO state VALUES (0, 0, 0, 0);
    -- Rows are never updated: new content is a new row with a new id, and ids are never reused.
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY AUTOINCREMENT, doc_id TEXT NOT NULL UNIQUE, tokens INTEGER NOT NULL,
        metadata TEXT NOT NULL);
    CREATE TABLE contents (id INTEGER PRIMARY KEY, text TEXT NOT NULL, checksum INTEGER NOT NULL);
    -- The first id of each batch of documents.
    CREATE TABLE batches (first INTEGER PRIMARY KEY);
    CREATE TABLE postings (
        batch INTEGER NOT NULL, token TEXT NOT NULL, places BLOB NOT NULL, PRIMARY KEY (batch, token)) WITHOUT ROWID;
    """,
)


def note_checksum(doc_id: str, text: str, metadata: str) -> int:
    """Return the checksum of a note."""
    return zlib.crc32("\0".join((doc_id, metadata, text)).encode("utf-8", "surrogatepass"))


def check_note(doc_id: Any, text: Any, metadata: Any, tokens: Any, checksum: Any) -> None:
    """Raise StoreDamaged if a note is not what was written; the number of its tokens is compared in type alone."""
    is_typed = isinstance(tokens, int) and all(isinstance(value, str) for value in (doc_id, text, metadata))
    if not is_typed or note_checksum(doc_id, text, metadata) != checksum:
        raise StoreDamaged(
            f"The note {doc_id} is damaged: it is not what was written. {DiskDatabase.remedy} Or add the note again."
        )


class MemoryDatabase:
    """A database in the memory of this process, with one connection that one thread uses at a time."""

    def __init__(self, facts: dict[str, str], free_bytes: Callable[[], int]) -> None:
        self._lock = threading.RLock()
        self._free_bytes = free_bytes
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        run_steps(self._connection, STEPS, APPLICATION_ID, **facts)
        self._page_bytes: int = self._connection.execute("PRAGMA page_size").fetchone()[0]
        self._size_bytes = self._measure()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            yield self._connection

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            pages = (self._size_bytes + max(0, self._free_bytes())) // self._page_bytes
            self._connection.execute(f"PRAGMA max_page_count = {pages}")
            try:
                with transaction(self._connection):
                    yield self._connection
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_FULL", "SQLITE_NOMEM")):
                    raise LimitReached(
                        f"The memory indexes of this server are full ({limits.MAX_MEMORY_BYTES // 2**20:,} MB); nothing was "
                        'changed. Delete documents or an index, or create one with the backend "disk".'
                    ) from error
                raise Failed(f"The index cannot be changed ({error}); nothing was changed.") from error
            finally:
                self._size_bytes = self._measure()

    def size_bytes(self) -> int:
        # Without the lock: a writer of one index reads the size of all, and two writers would deadlock.
        return self._size_bytes

    def _measure(self) -> int:
        pages: int = self._connection.execute("PRAGMA page_count").fetchone()[0]
        return pages * self._page_bytes

    def close(self) -> None:
        with self._lock:
            self._connection.close()


class DiskDatabase(SqliteDatabase):
    """A database file, shared with other processes."""

    application_id = APPLICATION_ID
    remedy = "Restore the file from a backup, or delete the index."
    newer_remedy = "Upgrade dowse."
    is_created = False
    busy_seconds = limits.BUSY_SECONDS
    # Notes exist nowhere else, so a change is on disk before the reply is sent.
    settings = ("synchronous = FULL", "temp_store = MEMORY", f"cache_size = -{limits.CACHE_KB}")

    def __init__(self, file: Path, lock_files: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
        self._lock_files = lock_files
        """Keeps other processes from creating or deleting the file."""
        super().__init__(file, STEPS)

    @property
    def label(self) -> str:
        return f"index {self.file.name}"

    def size_bytes(self) -> int:
        files = (self.file, self.file.with_name(f"{self.file.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def _open(self) -> DatabaseConnection:
        with contextlib.ExitStack() as locked:
            with contextlib.suppress(NotWritable):  # where the lock cannot be taken, files are not deleted either
                locked.enter_context(self._lock_files())
            return super()._open()


NotesDatabase = MemoryDatabase | DiskDatabase
