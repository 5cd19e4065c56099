"""A SQLite database file: its connections, migration steps, transactions, and dowse's own errors."""

import contextlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from dowse import __version__
from dowse.column_types import ODD_VALUES, find_mistyped_columns
from dowse.errors import Failed, StoreBusy, StoreDamaged, StoreTooNew
from dowse.sqlite_connection import DatabaseConnection, make_private_file, open_connection
from dowse.system.platform import disk_full_error, refusal_to_write

State = tuple[int, int, int]
"""The number of a connection, how many changes it has seen by others, and the transactions of this process."""


@dataclass(slots=True, eq=False)
class _Hold:
    """The state of a database during an answer on one thread."""

    thread: int
    state: State | None = None


SqlRow = tuple[Any, ...]

_IDS_PER_QUERY = 500
_MAX_IDLE = 2
"""The connections that stay open for the next query."""


class SqliteDatabase:
    """An open database file in the current format, migrated if it was older. Safe to use from several threads.

    A subclass says which kind of database it is. Where nothing can be written, an existing database is read.
    """

    application_id: ClassVar[int]
    """The number in the file that tells this kind of database from any other."""
    remedy: ClassVar[str]
    """The advice in messages about a damaged file."""
    newer_remedy: ClassVar[str] = "Upgrade dowse, or delete the index and build it again."
    """The advice for a file that a later version has written."""
    is_created: ClassVar[bool] = True
    """Whether a file that does not exist is created."""
    busy_seconds: ClassVar[float] = 5.0
    """How long to wait for another process."""
    # A killed process loses nothing. A machine that loses power may lose the last batches,
    # which the next scan finds missing. FULL costs an fsync per batch.
    settings: ClassVar[tuple[str, ...]] = ("foreign_keys = ON", "synchronous = NORMAL")
    """The pragmas of each connection."""

    def __init__(self, file: Path, steps: Sequence[str]) -> None:
        self.file = file
        self._steps = steps
        """The scripts that make the current format from an empty file. The file's version is how many have run."""
        self._local = threading.local()
        self._idle: list[DatabaseConnection] = []
        self._lock = threading.Lock()
        self._writer = threading.RLock()
        self._writes = 0
        """How many transactions of this process have ended."""
        self._is_closed = False
        self._hold: _Hold | None = None
        with self._connection():
            pass

    @property
    def label(self) -> str:
        """The words for the database in messages."""
        return f"catalog {self.file}"

    def rows(self, query: str, values: Sequence[object] = ()) -> list[SqlRow]:
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

    def fact(self, key: str) -> str | None:
        """Return a fact about the whole database, from its table `facts`."""
        return next((str(value) for (value,) in self.rows("SELECT value FROM facts WHERE key = ?", (key,))), None)

    def state(self) -> State | None:
        """Return a value that is another one after every change of the database, by any process; None if it is unknown.

        Rows that were read after such a value was returned are right for as long as it stays the same. It takes a third
        of the time of a query.
        """
        if (hold := self.hold) and not self._is_in_use:
            if hold.state is None or hold.state[2] != self._writes:
                hold.state = self._read_state()
            return hold.state
        return self._read_state()

    @property
    def hold(self) -> "_Hold | None":
        """The hold of this thread; None if it has none."""
        return self._hold if self._hold and self._hold.thread == threading.get_ident() else None

    @contextlib.contextmanager
    def held_state(self) -> Iterator[None]:
        """Ask for the state once in a block, on this thread: what others change meanwhile counts after it.

        A search asks forty times. Its answer is about one moment, and it compares what it shows with the files.
        """
        self._hold = _Hold(threading.get_ident())
        try:
            yield
        finally:
            self._hold = None

    def end_hold(self) -> None:
        """Ask for the state again from now on, also in a block that holds it: it turned out that something has changed."""
        self._hold = None

    def _read_state(self) -> State | None:
        with self._lock:
            opened = self._idle.pop() if self._idle and not self._is_in_use else None
            writes = self._writes
        if opened is None:
            return None
        try:
            # SQLite counts the changes by other connections.
            version = opened.connection.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error:
            return None  # the query that follows says why
        else:
            return None if opened.is_frozen else (opened.number, version, writes)
        finally:
            self._give_back(opened, is_usable=True)

    @property
    def _is_in_use(self) -> bool:
        """Whether this thread is in a transaction, whose own changes no other connection sees."""
        return getattr(self._local, "opened", None) is not None

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Run several reads on one state of the database."""
        with self.odd_values_are_damage(), self._connection() as opened:
            with transaction(opened.connection, "BEGIN", "ROLLBACK"):
                yield opened.connection
            if not opened.is_current():
                raise StoreBusy(f"The {self.label} was changed by another process. Try again in a moment.")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run several writes in one transaction: all or none of them take effect."""
        # Threads of one process take turns with the lock; SQLite makes other processes retry.
        with self._writer, self.odd_values_are_damage(), self._connection(is_writing=True) as opened:
            try:
                with transaction(opened.connection):
                    yield opened.connection
            finally:
                self._writes += 1

    @contextlib.contextmanager
    def odd_values_are_damage(self) -> Iterator[None]:
        """Raise StoreDamaged for the error of a block that met a value of another type than its column declares."""
        try:
            yield
        except ODD_VALUES as error:
            with self._connection() as opened:
                problems = find_mistyped_columns(opened.connection)
            if not problems:  # it is a mistake of ours
                raise
            raise StoreDamaged(f"The {self.label} is damaged: {problems[0]}. {self.remedy}") from error

    def release_memory(self) -> None:
        """Close the connections that are open for the next query."""
        with self._lock:
            idle, self._idle = self._idle, []
        for opened in idle:
            opened.connection.close()

    def close(self) -> None:
        """Close every connection; one that a thread is using is closed when the thread is done."""
        self._is_closed = True
        self.release_memory()

    @contextlib.contextmanager
    def _connection(self, *, is_writing: bool = False) -> Iterator[DatabaseConnection]:
        """Give a block the connection of the transaction that this thread is in, or one that no thread uses."""
        opened: DatabaseConnection | None = getattr(self._local, "opened", None)
        if opened is not None:
            yield opened
            return
        with self._translate_errors():
            opened = self._local.opened = self._take(is_writing=is_writing)
            try:
                if is_writing and opened.refusal:
                    raise opened.refusal
                yield opened
            finally:
                self._local.opened = None
                # After an error it is kept as well: on a full disk no other connection can be opened.
                self._give_back(opened, is_usable=opened.is_kept and not opened.connection.in_transaction)

    def _take(self, *, is_writing: bool) -> DatabaseConnection:
        with self._lock:
            opened = self._idle.pop() if self._idle else None
        if opened and opened.is_frozen and (is_writing or not opened.is_current()):
            opened.connection.close()  # it may be possible to write by now
            opened = None
        return opened or self._open()

    def _give_back(self, opened: DatabaseConnection, *, is_usable: bool) -> None:
        with self._lock:
            if is_usable and not self._is_closed and len(self._idle) < _MAX_IDLE:
                self._idle.append(opened)
                return
        opened.connection.close()

    def _open(self) -> DatabaseConnection:
        if self.is_created:
            make_private_file(self.file)
        opened = open_connection(
            self.file,
            mode="rwc" if self.is_created else "rw",
            timeout=self.busy_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            for setting in self.settings:
                opened.connection.execute(f"PRAGMA {setting}")
            self._prepare(opened)
        except BaseException:
            opened.connection.close()
            raise
        return opened

    def _prepare(self, opened: DatabaseConnection) -> None:
        """Check that the file is a database of this kind, and bring it to the current format."""
        connection = opened.connection
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        is_new = self.is_created and not version and not _has_tables(connection)
        if application != self.application_id and not is_new:
            raise StoreDamaged(f"The {self.label} was not made by dowse. {self.remedy}")
        if version > len(self._steps):
            raise self._too_new(connection, version)
        if version < len(self._steps):
            if opened.refusal:
                raise opened.refusal
            connection.execute("PRAGMA journal_mode = WAL")
            run_steps(connection, self._steps, self.application_id)

    def _too_new(self, connection: sqlite3.Connection, version: int) -> StoreTooNew:
        row = connection.execute("SELECT value FROM facts WHERE key = 'written_by'").fetchone()
        return StoreTooNew(
            f"The {self.label} was written by {f'dowse {row[0]}' if row else 'a later version of dowse'} "
            f"(format {version}); this is dowse {__version__} (format {len(self._steps)}). {self.newer_remedy}"
        )

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Translate the errors of SQLite into dowse's own."""
        try:
            yield
        except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
            raise  # a mistake of ours, and no damage
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the text of an error may quote damaged names
            code = getattr(error, "sqlite_errorname", "")
            if code.startswith("SQLITE_FULL"):
                raise disk_full_error(self.file) from error
            if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise StoreBusy(f"The {self.label} is busy; nothing was changed. Try again in a moment.") from error
            if code.startswith(("SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
                raise refusal_to_write(self.file) or Failed(
                    f"The {self.label} cannot be read or written ({error}). "
                    "Check the disk and the folder's permissions; nothing was lost."
                ) from error
            raise StoreDamaged(f"The {self.label} cannot be used ({error}). {self.remedy}") from error


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE", end: str = "COMMIT") -> Iterator[None]:
    """Run a block in a transaction, which is rolled back if the block fails."""
    connection.execute(begin)
    try:
        yield
        connection.execute(end)
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def run_steps(connection: sqlite3.Connection, steps: Sequence[str], application_id: int, **facts: str) -> None:
    """Run the steps that a database lacks, and record its format, who wrote it, and other facts."""
    with transaction(connection):
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        for step in steps[version:]:
            for statement in _split_statements(step):
                connection.execute(statement)
        recorded = {**facts, "written_by": __version__}.items()
        connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", recorded)
        connection.execute(f"PRAGMA application_id = {application_id}")
        connection.execute(f"PRAGMA user_version = {len(steps)}")


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
