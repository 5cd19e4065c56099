"""A cache of vectors for all projects, in one file of limited size that all processes share.

The key of a vector is the encoder's version and the text. Nothing depends on the cache: a damaged file is set aside,
and a locked or full one is not used.
"""

import contextlib
import hashlib
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

ROW_BYTES = 560
"""The size of the file for each vector of 384 dimensions: the row, its key twice, and what the pages leave free."""
KEPT_SHARE = 0.9
"""The share of the vectors that is kept when the cache is full. The oldest tenth is removed at once, so that not every new
vector removes another."""

_STEPS = (
    """
    CREATE TABLE vectors (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key BLOB UNIQUE NOT NULL,
        vector BLOB NOT NULL
    );
    CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    """,
)

_Result = TypeVar("_Result")


class _CacheDatabase(SqliteDatabase):
    application_id = 0
    remedy = "Delete it: it holds nothing that cannot be computed again."
    busy_seconds = 1.0  # computing a vector again takes less than 25 ms


class VectorCache:
    """A cache of vectors in one file of limited size, for use by one thread."""

    def __init__(self, file: Path, max_bytes: int) -> None:
        self._file = file
        self._max_rows = max_bytes // ROW_BYTES
        self._database: _CacheDatabase | None = None
        self._inode = 0

    def get(self, version: str, texts: Sequence[str]) -> "list[Vectors | None]":
        """Return the vector of each text, or None where it is not cached."""
        keys = [_key(version, text) for text in texts]
        nothing: dict[bytes, Vectors] = {}
        found = self._try(lambda database: self._find(database, keys), nothing)
        return [found.get(key) for key in keys]

    def put(self, version: str, texts: Sequence[str], vectors: "Vectors") -> None:
        """Store vectors with eight bits for each number."""
        rows = [(_key(version, text), vector) for text, vector in zip(texts, pack_vectors(vectors), strict=True)]
        self._try(lambda database: self._add(database, rows), None)

    def close(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def _find(self, database: _CacheDatabase, keys: Sequence[bytes]) -> "dict[bytes, Vectors]":
        found = dict[bytes, "Vectors"]()
        for key in dict.fromkeys(keys):
            for (vector,) in database.rows("SELECT vector FROM vectors WHERE key = ?", (key,)):
                found[key] = unpack_vector(vector)
        return found

    def _add(self, database: _CacheDatabase, rows: Sequence[tuple[bytes, bytes]]) -> None:
        with database.transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows)
        self._forget_oldest(database)

    def _forget_oldest(self, database: _CacheDatabase) -> bool:
        """Remove the vectors that came first if there are too many; return whether that was so."""
        ((newest, count),) = database.rows("SELECT max(id), max(id) - min(id) FROM vectors")
        if (count or 0) < self._max_rows:
            return False
        with database.transaction() as connection:
            connection.execute("DELETE FROM vectors WHERE id <= ?", (newest - int(self._max_rows * KEPT_SHARE),))
        return True

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
            if self._forget_oldest(self._database):  # the limit was lowered
                with contextlib.suppress(DowseError):
                    self._database.rows("VACUUM")
        return self._database

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
