"""A cache of vectors for all projects, in one file of limited size that all processes share.

The key of a vector is the encoder's version and the text. Nothing depends on the cache: a damaged file is set aside,
and a locked or full one is not used.
"""

import contextlib
import hashlib
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dowse.encoding.packing import pack_vectors, unpack_vector
from dowse.errors import DowseError, StoreDamaged
from dowse.sqlite_connection import make_private_file
from dowse.sqlite_database import SqliteDatabase
from dowse.system.platform import make_private_folder

if TYPE_CHECKING:
    from dowse.types import Vectors

ROW_OVERHEAD_BYTES = 100
"""The size of a row in the file, without the bytes of its vector."""
FILE_SIZE_FACTOR = 1.45
"""The size of the file relative to its rows. The keys are random, so the pages are two thirds full."""
KEPT_SHARE = 0.9
"""The share of the maximum size that is kept when the cache is full. The oldest tenth is removed at once, so that not
every new vector removes another."""
USE_INTERVAL_SECONDS = 3600
"""The resolution of the time of the last use, so that a vector in frequent use is not written each time."""

_STEPS = (
    """
    CREATE TABLE vectors (
        key BLOB PRIMARY KEY,
        vector BLOB NOT NULL,
        used INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX vectors_by_use ON vectors (used);
    CREATE TABLE size (bytes INTEGER NOT NULL);
    INSERT INTO size VALUES (0);
    CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    """,
)
_SIZE = f"sum(length(vector) + {ROW_OVERHEAD_BYTES})"

_Result = TypeVar("_Result")


class _CacheDatabase(SqliteDatabase):
    application_id = 0
    remedy = "Delete it: it holds nothing that cannot be computed again."
    busy_seconds = 1.0  # computing a vector again takes less than 25 ms


class VectorCache:
    """A cache of vectors in one file of limited size, for use by one thread."""

    def __init__(self, file: Path, max_bytes: int, clock: Callable[[], float] = time.time) -> None:
        self._file = file
        self._max_bytes = int(max_bytes / FILE_SIZE_FACTOR)
        self._clock = clock
        self._database: _CacheDatabase | None = None
        self._inode = 0

    def get(self, version: str, texts: Sequence[str]) -> "list[Vectors | None]":
        """Return the vector of each text, or None where it is not cached. Recently used vectors are kept longest."""
        keys = [_key(version, text) for text in texts]
        nothing: dict[bytes, Vectors] = {}
        found = self._try(lambda database: self._find(database, keys), nothing)
        return [found.get(key) for key in keys]

    def put(self, version: str, texts: Sequence[str], vectors: "Vectors") -> None:
        """Store vectors with eight bits for each number."""
        now = self._now()
        rows = [(_key(version, text), vector, now) for text, vector in zip(texts, pack_vectors(vectors), strict=True)]
        self._try(lambda database: self._add(database, rows), None)

    def close(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def _find(self, database: _CacheDatabase, keys: Sequence[bytes]) -> "dict[bytes, Vectors]":
        found, now = dict[bytes, "Vectors"](), self._now()
        stale = list[tuple[int, bytes]]()
        for key in dict.fromkeys(keys):
            for vector, used in database.rows("SELECT vector, used FROM vectors WHERE key = ?", (key,)):
                found[key] = unpack_vector(vector)
                if used < now:
                    stale.append((now, key))
        if stale:
            with contextlib.suppress(DowseError), database.transaction() as connection:  # the vectors are valid
                connection.executemany("UPDATE vectors SET used = ? WHERE key = ?", stale)
        return found

    def _add(self, database: _CacheDatabase, rows: Sequence[tuple[bytes, bytes, int]]) -> None:
        with database.transaction() as connection:
            grown = 0
            for row in rows:
                if connection.execute("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", row).rowcount:
                    grown += len(row[1]) + ROW_OVERHEAD_BYTES
            connection.execute("UPDATE size SET bytes = bytes + ?", (grown,))
            if self._stored_bytes(connection) > self._max_bytes:
                self._forget_oldest(connection)

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

    def _try(self, work: Callable[[_CacheDatabase], _Result], otherwise: _Result) -> _Result:
        """Run `work` on the file, or on a new file if it is damaged. Return `otherwise` if that fails, too."""
        for _ in range(2):
            try:
                return work(self._open())
            except StoreDamaged:
                self._set_aside()
            except (DowseError, OSError):  # locked, full or read-only; the next call may succeed
                return otherwise
        return otherwise

    def _open(self) -> _CacheDatabase:
        if self._database is None:
            make_private_folder(self._file.parent)
            make_private_file(self._file)
            self._inode = self._file.stat().st_ino
            self._database = _CacheDatabase(self._file, _STEPS)
            self._shrink(self._database)
        return self._database

    def _shrink(self, database: _CacheDatabase) -> None:
        """Shrink the file if the limit was lowered."""
        if database.rows("SELECT bytes FROM size")[0][0] > self._max_bytes:
            with database.transaction() as connection:
                self._forget_oldest(connection)
            with contextlib.suppress(DowseError):
                database.rows("VACUUM")

    def _set_aside(self) -> None:
        """Rename a damaged file so that the next call creates a new one, unless another process has done so."""
        self.close()
        with contextlib.suppress(OSError):
            if self._file.stat().st_ino == self._inode:
                for suffix in ("-wal", "-shm"):
                    Path(f"{self._file}{suffix}").unlink(missing_ok=True)
                self._file.replace(f"{self._file}.bak")


def _key(version: str, text: str) -> bytes:
    digest = hashlib.blake2b(version.encode(), digest_size=16)
    digest.update(b"\0")
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()
