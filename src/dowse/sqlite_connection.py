"""A connection to a SQLite database, also where SQLite cannot make the files that it keeps beside it.

SQLite keeps two files beside a database in WAL mode and makes them when it opens the database. Where they cannot be
made, the database is read without them and without locks: it is frozen. A frozen connection is right as long as no
other process writes, for example through another mount, and `is_current` tells.
"""

import contextlib
import itertools
import os
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dowse.errors import DiskFull
from dowse.system.platform import refusal_to_write

_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")

_Stamp = tuple[int, int, int]
_NUMBERS = itertools.count()


class DatabaseConnection:
    """An open connection, and whether the database can only be read through it."""

    def __init__(
        self, file: Path, connection: sqlite3.Connection, refusal: sqlite3.Error | None, stamp: _Stamp | None
    ) -> None:
        self.connection = connection
        self.number = next(_NUMBERS)
        """The number of the connection, which no other one of this process has."""
        self.refusal = refusal
        """Why the connection is frozen; None if the database can be written."""
        self._file, self._stamp = file, stamp
        unwritable = refusal_to_write(file)
        self.is_kept = unwritable is None or isinstance(unwritable, DiskFull) or self.is_frozen
        """Whether to keep the connection. SQLite would read only, for the whole process, while such a one is open."""

    @property
    def is_frozen(self) -> bool:
        """Whether the database is read without locks, because it could not be opened in any other way."""
        return self.refusal is not None

    def is_current(self) -> bool:
        """Return whether what was read is right: no process has written to a frozen database since it was opened."""
        return self.refusal is None or self._stamp == _frozen_stamp(self._file)


def open_connection(file: Path, *, mode: str = "rwc", **options: Any) -> DatabaseConnection:
    """Open a database in a mode of SQLite's URIs: `rwc` creates it, `rw` and `ro` do not. Raise sqlite3.Error."""
    connection = sqlite3.connect(_uri(file, f"mode={mode}"), uri=True, **options)
    try:
        connection.execute("PRAGMA user_version").fetchone()  # `connect` itself opens nothing
    except sqlite3.Error as error:
        connection.close()
        frozen = (
            None if getattr(error, "sqlite_errorname", "").startswith(_BUSY) else _open_frozen(file, error, options)
        )
        if frozen is None:
            raise
        return frozen
    return DatabaseConnection(file, connection, None, None)


def _open_frozen(file: Path, refusal: sqlite3.Error, options: dict[str, Any]) -> DatabaseConnection | None:
    """Open a database that does not change; None if that cannot be, or would miss what is in its WAL."""
    stamp = _frozen_stamp(file)
    if stamp is None:
        return None
    connection = sqlite3.connect(_uri(file, "mode=ro&immutable=1"), uri=True, **options)
    try:
        connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error:
        connection.close()
        return None
    return DatabaseConnection(file, connection, refusal, stamp)


def _frozen_stamp(file: Path) -> _Stamp | None:
    """Return a fingerprint of a database file; None if it is missing or its WAL has content."""
    try:
        seen = os.stat(file)  # noqa: PTH116 - 3 µs instead of 12, at every read
    except OSError:
        return None
    try:
        has_wal = os.stat(f"{file}-wal").st_size > 0  # noqa: PTH116 - as above
    except OSError:
        has_wal = False
    return None if has_wal else (seen.st_ino, seen.st_size, seen.st_mtime_ns)


def _uri(file: Path, query: str) -> str:
    return f"file:{quote(os.fsencode(file))}?{query}"


def make_private_file(file: Path) -> None:
    """Create an empty file that only the user can read; SQLite's other files get the same mode.

    An existing file is not opened: closing it would drop the locks that other connections of this process hold on
    it. Where no file can be created, SQLite says so.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
