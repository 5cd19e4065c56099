"""A cache of vectors for all projects, in one file of limited size that all processes share.

The key of a vector is the encoder's version and the text. Nothing depends on the cache: a damaged file is set aside,
and a locked or full one is not used.
"""

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dowse.encoding.packing import pack_vectors, unpack_vector
from dowse.errors import NotWritable
from dowse.platform import make_private_folder

if TYPE_CHECKING:
    from dowse.types import Vectors

ROW_OVERHEAD_BYTES = 100
"""The size of a row in the file, without the bytes of its vector."""
FILE_SIZE_FACTOR = 1.45
"""The size of the file relative to its rows. The keys are random, so the pages are two thirds full."""
KEPT_SHARE = 0.9
"""The share of the maximum size that is kept when the cache is full. The oldest tenth is removed at once, so that not
every new vector removes another."""
BUSY_TIMEOUT_SECONDS = 1.0
"""How long to wait for another process; computing a vector again takes less than 25 ms."""
USE_INTERVAL_SECONDS = 3600
"""The resolution of the time of the last use, so that a vector in frequent use is not written each time."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    key BLOB PRIMARY KEY,
    vector BLOB NOT NULL,
    used INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS vectors_by_use ON vectors (used);
CREATE TABLE IF NOT EXISTS size (bytes INTEGER NOT NULL);
INSERT INTO size SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM size);
PRAGMA user_version = 1;
"""
_SIZE = f"sum(length(vector) + {ROW_OVERHEAD_BYTES})"

_Result = TypeVar("_Result")


class VectorCache:
    """A cache of vectors in one file of limited size, for use by one thread."""

    def __init__(self, file: Path, max_bytes: int, clock: Callable[[], float] = time.time) -> None:
        self._file = file
        self._max_bytes = int(max_bytes / FILE_SIZE_FACTOR)
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        self._inode = 0

    def get(self, version: str, texts: Sequence[str]) -> "list[Vectors | None]":
        """Return the vector of each text, or None where it is not cached. Recently used vectors are kept longest."""
        keys = [_key(version, text) for text in texts]
        nothing: dict[bytes, Vectors] = {}
        found = self._try(lambda connection: self._find(connection, keys), nothing)
        return [found.get(key) for key in keys]

    def put(self, version: str, texts: Sequence[str], vectors: "Vectors") -> None:
        """Store vectors with eight bits for each number."""
        now = self._now()
        rows = [(_key(version, text), vector, now) for text, vector in zip(texts, pack_vectors(vectors), strict=True)]
        self._try(lambda connection: self._add(connection, rows), None)

    def close(self) -> None:
        """Close the file."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    def _find(self, connection: sqlite3.Connection, keys: Sequence[bytes]) -> "dict[bytes, Vectors]":
        found, now = dict[bytes, "Vectors"](), self._now()
        stale = list[tuple[int, bytes]]()
        for key in dict.fromkeys(keys):
            row = connection.execute("SELECT vector, used FROM vectors WHERE key = ?", (key,)).fetchone()
            if row is not None:
                found[key] = unpack_vector(row[0])
                if row[1] < now:
                    stale.append((now, key))
        if stale:
            with contextlib.suppress(sqlite3.OperationalError):  # another process writes; the vectors are valid
                _in_transaction(
                    connection, lambda: connection.executemany("UPDATE vectors SET used = ? WHERE key = ?", stale)
                )
        return found

    def _add(self, connection: sqlite3.Connection, rows: Sequence[tuple[bytes, bytes, int]]) -> None:
        def add() -> None:
            grown = 0
            for row in rows:
                if connection.execute("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", row).rowcount:
                    grown += len(row[1]) + ROW_OVERHEAD_BYTES
            connection.execute("UPDATE size SET bytes = bytes + ?", (grown,))
            if self._stored_bytes(connection) > self._max_bytes:
                self._forget_oldest(connection)

        _in_transaction(connection, add)

    def _forget_oldest(self, connection: sqlite3.Connection) -> None:
        """Remove the vectors that were not used for the longest time, a tenth at a time because their sizes differ."""
        while self._stored_bytes(connection) > self._max_bytes * KEPT_SHARE:
            (count,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
            if not count:
                break
            oldest = "SELECT key FROM vectors ORDER BY used, key LIMIT ?"
            connection.execute(f"DELETE FROM vectors WHERE key IN ({oldest})", (count // 10 + 1,))  # noqa: S608 - constant
            connection.execute(f"UPDATE size SET bytes = (SELECT coalesce({_SIZE}, 0) FROM vectors)")  # noqa: S608 - constant

    def _stored_bytes(self, connection: sqlite3.Connection) -> int:
        return int(connection.execute("SELECT bytes FROM size").fetchone()[0])

    def _now(self) -> int:
        return int(self._clock() // USE_INTERVAL_SECONDS)

    # Opening the file, and handling its errors

    def _try(self, work: Callable[[sqlite3.Connection], _Result], otherwise: _Result) -> _Result:
        """Run `work` on the file, or on a new file if it is damaged. Return `otherwise` if that fails, too."""
        for _ in range(2):
            try:
                return work(self._open())
            except sqlite3.OperationalError:  # locked, full or read-only; the next call may succeed
                return otherwise
            except (sqlite3.DatabaseError, TypeError, ValueError):
                self._set_aside()
            except (NotWritable, OSError):
                return otherwise
        return otherwise

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            make_private_folder(self._file.parent)
            os.close(os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite's other files get the same mode
            self._inode = self._file.stat().st_ino
            connection = sqlite3.connect(self._file, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None)
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA synchronous = NORMAL")
        if not connection.execute("PRAGMA user_version").fetchone()[0]:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)
        self._shrink(connection)

    def _shrink(self, connection: sqlite3.Connection) -> None:
        """Shrink the file if the limit was lowered."""
        if self._stored_bytes(connection) > self._max_bytes:
            _in_transaction(connection, lambda: self._forget_oldest(connection))
            with contextlib.suppress(sqlite3.OperationalError):
                connection.execute("VACUUM")

    def _set_aside(self) -> None:
        """Rename a damaged file so that the next call creates a new one, unless another process has done so."""
        self.close()
        with contextlib.suppress(OSError):
            if self._file.stat().st_ino == self._inode:
                for suffix in ("-wal", "-shm"):
                    Path(f"{self._file}{suffix}").unlink(missing_ok=True)
                self._file.replace(f"{self._file}.bak")


def _in_transaction(connection: sqlite3.Connection, work: Callable[[], object]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        work()
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _key(version: str, text: str) -> bytes:
    digest = hashlib.blake2b(version.encode(), digest_size=16)
    digest.update(b"\0")
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()
