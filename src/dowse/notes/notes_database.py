"""The SQLite database of one index, on disk or in memory: its tables, transactions and errors."""

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from dowse import __version__
from dowse.errors import DiskFull, Failed, LimitReached, NotWritable, StoreBusy, StoreDamaged, StoreTooNew
from dowse.notes.limits import BUSY_SECONDS, CACHE_KB, MAX_IDLE_CONNECTIONS, MAX_MEMORY_BYTES
from dowse.platform import refusal_to_write
from dowse.store.sqlite_connection import DatabaseConnection, open_connection

APPLICATION_ID = 0x646F776E
"""Spells `down`; distinguishes a named index from a project's catalog and from any other database."""
FORMAT = 1

SCHEMA = (
    "CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # Documents with ids up to `flushed` are in segments, later ones in the tail. Every change increments `version`.
    """CREATE TABLE state (
        version INTEGER NOT NULL, flushed INTEGER NOT NULL, documents INTEGER NOT NULL, tokens INTEGER NOT NULL,
        tail_tokens INTEGER NOT NULL, text_bytes INTEGER NOT NULL, is_deleted INTEGER NOT NULL)""",
    "INSERT INTO state VALUES (0, 0, 0, 0, 0, 0, 0)",
    # Rows are never updated: new content is a new row with a new id, and ids are never reused.
    """CREATE TABLE documents (
        id INTEGER PRIMARY KEY AUTOINCREMENT, doc_id TEXT NOT NULL UNIQUE, tokens INTEGER NOT NULL,
        metadata TEXT NOT NULL)""",
    "CREATE TABLE contents (id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE TABLE segments (number INTEGER PRIMARY KEY AUTOINCREMENT, ids BLOB NOT NULL, ranks BLOB NOT NULL,"
    " lengths BLOB NOT NULL)",
    # A block of postings: its tokens, one per line, and numbers in the order of the tokens.
    """CREATE TABLE postings (
        segment INTEGER NOT NULL, first TEXT NOT NULL, tokens TEXT NOT NULL, held BLOB NOT NULL, placed BLOB NOT NULL,
        documents BLOB NOT NULL, counts BLOB NOT NULL, positions BLOB NOT NULL, PRIMARY KEY (segment, first))""",
    # Documents that were deleted from the index but are still in a segment.
    "CREATE TABLE dead (id INTEGER PRIMARY KEY)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {FORMAT}",
)


class NotesDatabase(Protocol):
    """The transactions of one index."""

    def reading(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """Return a context for several reads of one consistent state."""
        ...

    def writing(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """Return a context for a transaction that is durable at its end, or has no effect."""
        ...

    def size_bytes(self) -> int: ...

    def release(self) -> None:
        """Release memory and files that are not in use."""
        ...

    def close(self) -> None: ...


class MemoryDatabase:
    """A database in the memory of this process, with one connection that one thread uses at a time."""

    def __init__(self, facts: dict[str, str], free_bytes: Callable[[], int]) -> None:
        self._lock = threading.RLock()
        self._free_bytes = free_bytes
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        make_tables(self._connection, facts)
        self._page_bytes: int = self._connection.execute("PRAGMA page_size").fetchone()[0]
        self._size_bytes = self._measure()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            yield self._connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            pages = (self._size_bytes + max(0, self._free_bytes())) // self._page_bytes
            self._connection.execute(f"PRAGMA max_page_count = {pages}")
            try:
                with _transaction(self._connection):
                    yield self._connection
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_FULL", "SQLITE_NOMEM")):
                    raise LimitReached(
                        f"The memory indexes of this server are full ({MAX_MEMORY_BYTES // 2**20:,} MB); nothing was "
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

    def release(self) -> None:
        """Do nothing: the memory holds the only copy."""

    def close(self) -> None:
        with self._lock:
            self._connection.close()


class DiskDatabase:
    """A database file, shared with other processes. Connections stay open for the next query.

    Where nothing can be written, the file is read.
    """

    def __init__(self, file: Path, lock_files: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
        self.file = file
        self._lock_files = lock_files
        """Keeps other processes from creating or deleting the file."""
        self._idle: list[DatabaseConnection] = []
        self._lock = threading.Lock()
        self._writer = threading.Lock()
        self._is_closed = False
        with self._connect():
            pass

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with self._connect() as opened:
            with _transaction(opened.connection, "BEGIN", "ROLLBACK"):
                try:
                    yield opened.connection
                except (ValueError, TypeError, LookupError) as error:  # a damaged row may have unexpected values
                    if problem := _find_damage(opened.connection):
                        raise sqlite3.DatabaseError(problem) from error
                    raise
            if not opened.is_current():
                raise StoreBusy(f"The index {self.file.name} has just been changed. Try again.")

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        # Threads of one process take turns with this lock; SQLite makes other processes retry.
        with self._writer, self._connect(is_writing=True) as opened, _transaction(opened.connection):
            yield opened.connection

    def size_bytes(self) -> int:
        files = (self.file, self.file.with_name(f"{self.file.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def release(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for opened in idle:
            opened.connection.close()

    def close(self) -> None:
        self._is_closed = True
        self.release()

    @contextlib.contextmanager
    def _connect(self, *, is_writing: bool = False) -> Iterator[DatabaseConnection]:
        with self._translate_errors():
            with self._lock:
                opened = self._idle.pop() if self._idle else None
            if opened and opened.is_frozen and (is_writing or not opened.is_current()):
                opened.connection.close()  # it may be possible to write by now
                opened = None
            opened = opened or self._open()
            is_usable = False  # after an error it may not be; a new connection costs a millisecond
            try:
                if is_writing and opened.refusal:
                    raise opened.refusal
                yield opened
                is_usable = True
            finally:
                self._give_back(opened, is_usable=is_usable and opened.is_kept)

    def _give_back(self, opened: DatabaseConnection, *, is_usable: bool) -> None:
        with self._lock:
            if is_usable and not self._is_closed and len(self._idle) < MAX_IDLE_CONNECTIONS:
                self._idle.append(opened)
                return
        opened.connection.close()

    def _open(self) -> DatabaseConnection:
        with contextlib.ExitStack() as locked:
            with contextlib.suppress(NotWritable):  # where the lock cannot be taken, files are not deleted either
                locked.enter_context(self._lock_files())
            opened = open_connection(
                self.file, mode="rw", timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            connection = opened.connection
            try:
                self._check_format(connection)
            except BaseException:
                connection.close()
                raise
        # Notes exist nowhere else, so a change is on disk before the reply is sent.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        return opened

    def _check_format(self, connection: sqlite3.Connection) -> None:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION_ID:
            raise StoreDamaged(f"{self.file.name} is not an index of dowse. Move it away or delete it.")
        if version > FORMAT:
            row = connection.execute("SELECT value FROM facts WHERE key = 'written_by'").fetchone()
            raise StoreTooNew(
                f"The index {self.file.name} was written by dowse {row[0] if row else 'of a later version'} "
                f"(format {version}); this is dowse {__version__} (format {FORMAT}). Upgrade dowse."
            )

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the text of an error may quote damaged names
            name, code = self.file.name, getattr(error, "sqlite_errorname", "")
            if code.startswith("SQLITE_FULL"):
                raise DiskFull("No space is left on the disk; nothing was changed. Free some and try again.") from error
            if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise StoreBusy(f"The index {name} is busy; nothing was changed. Try again in a moment.") from error
            if code.startswith(("SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
                raise refusal_to_write(self.file) or Failed(
                    f"The index {name} cannot be read or written ({error}). Check the disk and the permissions of the "
                    "storage root; nothing was changed."
                ) from error
            raise StoreDamaged(
                f"The index {name} cannot be used ({error}). Restore the file from a backup, or delete the index."
            ) from error


def _find_damage(connection: sqlite3.Connection) -> str | None:
    """Return what is wrong with the content of a file."""
    (problem,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if problem != "ok":
        return str(problem)
    counted = connection.execute(
        "SELECT (SELECT documents FROM state), (SELECT count(*) FROM documents), "
        "(SELECT count(*) FROM documents JOIN contents USING (id))"
    ).fetchone()
    return None if len(set(counted)) == 1 else "documents are missing"


def make_tables(connection: sqlite3.Connection, facts: dict[str, str]) -> None:
    """Create the tables of a new, empty index."""
    with _transaction(connection):
        for statement in SCHEMA:
            connection.execute(statement)
        rows = {**facts, "written_by": __version__}.items()
        connection.executemany("INSERT INTO facts VALUES (?, ?)", rows)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE", end: str = "COMMIT") -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute(end)
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
