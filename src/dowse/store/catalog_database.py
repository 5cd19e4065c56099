"""A SQLite database with one connection per thread, schema migrations, real transactions and dowse's own errors."""

import contextlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dowse import __version__
from dowse.errors import Failed, StoreBusy, StoreDamaged, StoreTooNew
from dowse.platform import disk_full_error, refusal_to_write
from dowse.store.catalog_schema import APPLICATION_ID, STEPS
from dowse.store.sqlite_connection import DatabaseConnection, open_connection

SqlRow = tuple[Any, ...]

_BUSY_SECONDS = 5.0
_IDS_PER_QUERY = 500


class CatalogDatabase:
    """An open database file in the current format, migrated if it was older.

    The default `steps` make a catalog; other steps make another kind of database. Where nothing can be written, an
    existing database is read.
    """

    def __init__(
        self,
        file: Path,
        steps: Sequence[str] = STEPS,
        application_id: int = APPLICATION_ID,
        remedy: str = "Run: dowse doctor --fix",
    ) -> None:
        self.file = file
        self.remedy = remedy
        """The advice in messages about a damaged file."""
        self._steps = steps
        self._application_id = application_id
        self._local = threading.local()
        self._connections: list[DatabaseConnection] = []
        try:
            with self._translate_errors(), self._connection() as opened:
                self._prepare(opened.connection)
        except BaseException:
            self.close()
            raise

    def rows(self, query: str, values: Sequence[object] = ()) -> list[SqlRow]:
        """Return all rows of a query."""
        with self._translate_errors():
            with self._connection() as opened:
                try:
                    rows = opened.connection.execute(query, values).fetchall()
                except sqlite3.DatabaseError:
                    if opened.is_current():
                        raise
                else:
                    if opened.is_current():
                        return rows
            with self._connection() as opened:  # another process wrote meanwhile
                return opened.connection.execute(query, values).fetchall()

    def rows_in(self, query: str, ids: Iterable[int | str], before: Sequence[object] = ()) -> Iterator[SqlRow]:
        """Yield all rows of a query that ends in `IN`, a bounded number of ids at a time."""
        id_list = list(ids)
        for start in range(0, len(id_list), _IDS_PER_QUERY):
            page = id_list[start : start + _IDS_PER_QUERY]
            yield from self.rows(f"{query} ({', '.join('?' * len(page))})", (*before, *page))

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Run several reads on one state of the database."""
        with self._translate_errors(), self._connection() as opened:
            opened.connection.execute("BEGIN")
            try:
                yield
            finally:
                opened.connection.execute("ROLLBACK")
            if not opened.is_current():
                raise StoreBusy(f"{self.file} was changed by another process. Try again in a moment.")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run several writes in one transaction: all or none of them take effect."""
        with self._translate_errors(), self._connection(is_writing=True) as opened:
            connection = opened.connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def release_memory(self) -> None:
        """Release the memory that this thread's connection caches for the next query."""
        with self._translate_errors(), self._connection() as opened:
            opened.connection.execute("PRAGMA shrink_memory")

    def close(self) -> None:
        """Close every thread's connection."""
        for opened in self._connections:
            opened.connection.close()
        self._connections.clear()
        self._local = threading.local()

    @contextlib.contextmanager
    def _connection(self, *, is_writing: bool = False) -> Iterator[DatabaseConnection]:
        """Give this thread's connection to a block."""
        opened = self._open()
        if is_writing and opened.is_frozen:  # it may be possible to write by now
            self._discard(opened)
            opened = self._open()
        if is_writing and opened.refusal:
            raise opened.refusal
        try:
            yield opened
        finally:
            if not opened.is_kept and not opened.connection.in_transaction:
                self._discard(opened)

    def _open(self) -> DatabaseConnection:
        """Return this thread's connection. A frozen one is opened again once another process has written."""
        opened: DatabaseConnection | None = getattr(self._local, "opened", None)
        if opened is not None and not opened.connection.in_transaction and not opened.is_current():
            self._discard(opened)
            opened = None
        if opened is None:
            opened = self._local.opened = open_connection(
                self.file, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
            )
            self._connections.append(opened)
            opened.connection.execute("PRAGMA foreign_keys = ON")
            # A killed process loses nothing. A machine that loses power may lose the last batches,
            # which the next scan finds missing. FULL costs an fsync per batch.
            opened.connection.execute("PRAGMA synchronous = NORMAL")
        return opened

    def _discard(self, opened: DatabaseConnection) -> None:
        self._local.opened = None
        self._connections.remove(opened)
        opened.connection.close()

    def _prepare(self, connection: sqlite3.Connection) -> None:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application != self._application_id and (version or _has_tables(connection)):
            raise StoreDamaged(f"{self.file} is not a catalog of dowse. {self.remedy}")
        if version > len(self._steps):
            raise self._too_new(connection, version)
        if version < len(self._steps):
            connection.execute("PRAGMA journal_mode = WAL")
            self._migrate()

    def _migrate(self) -> None:
        with self.transaction() as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            for step in self._steps[version:]:
                for statement in _split_statements(step):
                    connection.execute(statement)
            connection.execute("INSERT OR REPLACE INTO facts VALUES ('written_by', ?)", (__version__,))
            connection.execute(f"PRAGMA application_id = {self._application_id}")
            connection.execute(f"PRAGMA user_version = {len(self._steps)}")

    def _too_new(self, connection: sqlite3.Connection, version: int) -> StoreTooNew:
        row = connection.execute("SELECT value FROM facts WHERE key = 'written_by'").fetchone()
        return StoreTooNew(
            f"The index was written by {f'dowse {row[0]}' if row else 'a later version of dowse'} (format {version}); "
            f"this is dowse {__version__} (format {len(self._steps)}). "
            "Upgrade dowse, or delete the index and build it again."
        )

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Translate the errors of SQLite into dowse's own."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the text of an error may quote damaged names
            code = getattr(error, "sqlite_errorname", "")
            if code.startswith("SQLITE_FULL"):
                raise disk_full_error(self.file) from error
            if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise StoreBusy(f"The index at {self.file.parent} is busy. Try again in a moment.") from error
            if code.startswith(("SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
                raise refusal_to_write(self.file) or Failed(
                    f"The catalog {self.file} cannot be read or written ({error}). "
                    "Check the disk and the folder's permissions; nothing was lost."
                ) from error
            raise StoreDamaged(f"The catalog {self.file} cannot be used ({error}). {self.remedy}") from error


def is_current_format(file: Path) -> bool:
    """Return whether a catalog can be opened without writing to it.

    The check goes through SQLite: opening and closing the file directly would drop the locks that
    other connections of this process hold on it, and the next writer would damage it.
    """
    if not file.exists():
        return False
    try:
        with contextlib.closing(open_connection(file, mode="ro").connection) as connection:
            version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    except (sqlite3.Error, UnicodeDecodeError):
        return False
    return version == len(STEPS)


def _has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None


def _split_statements(script: str) -> Iterator[str]:
    """Yield the statements of a script; `executescript` would commit between them."""
    statement = ""
    for line in script.splitlines():
        statement += line.partition("--")[0] + "\n"
        if statement.strip() and sqlite3.complete_statement(statement):
            yield statement
            statement = ""
