"""The SQLite database of the references of a store: the packed references of each document, and which have a name."""

import contextlib
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from dowse.chunking.source_references import SourceReferences, name_checksum, packed_checksums, unpack_references
from dowse.errors import StoreDamaged
from dowse.sqlite_database import SqliteDatabase

REFERENCES_FILE = "references.sqlite"
_APPLICATION_ID = 0x646F7772
"""Spells `dowr`."""
_STEPS = (
    """
    CREATE TABLE facts (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID;

    -- The ids are those of the catalog. `module` is the last part of the name by which others import the file.
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        path TEXT NOT NULL,
        language TEXT NOT NULL,
        module TEXT NOT NULL,
        data BLOB NOT NULL
    );
    CREATE INDEX documents_by_path ON documents (path);
    CREATE INDEX documents_by_module ON documents (module);

    -- Checksums of names: two names with the same one are told apart by the references themselves.
    CREATE TABLE postings (
        name INTEGER NOT NULL,
        document_id INTEGER NOT NULL,
        PRIMARY KEY (name, document_id)
    ) WITHOUT ROWID;
    """,
)
_DOCUMENTS = "SELECT id, path, language, data FROM documents"
_FOLDER_MODULES = frozenset({"__init__", "index", "mod", "lib", "init", "main", "package"})
"""Names of files that are imported by the name of their folder."""


class ReferenceRow(NamedTuple):
    """The references of one document, packed."""

    id: int
    path: str
    language: str
    data: bytes

    def unpack(self, name: str | None = None) -> SourceReferences:
        """Return its references, with a name those that say something about it; none in a language without any."""
        try:
            return unpack_references(self.data, name)
        except ValueError as error:
            raise StoreDamaged(f"The references of {self.path} cannot be read. {ReferenceDatabase.remedy}") from error


def module_of(path: str) -> str:
    """Return the last part of the name by which other files import a file."""
    file = PurePosixPath(path)
    stem = file.name.partition(".")[0]
    return file.parent.name if stem in _FOLDER_MODULES or file.suffix == ".go" else stem


class ReferenceDatabase(SqliteDatabase):
    """The references of a store."""

    application_id = _APPLICATION_ID
    remedy = "Run: dowse index"
    settings = ("synchronous = NORMAL",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / REFERENCES_FILE, _STEPS)

    @property
    def label(self) -> str:
        """The words for the database in messages."""
        return f"database of references {self.file}"

    # Reading

    def facts(self) -> dict[str, str]:
        """Return what the references belong to: the catalog, the transaction and the version."""
        return dict(self.rows("SELECT key, value FROM facts"))

    def document_ids(self) -> set[int]:
        """Return the ids of the documents whose references are here."""
        return {row[0] for row in self.rows("SELECT id FROM documents")}

    def documents_with(self, name: str) -> list[ReferenceRow]:
        """Return the documents that may define, use or import a name, by path."""
        query = f"{_DOCUMENTS} WHERE id IN (SELECT document_id FROM postings WHERE name = ?) ORDER BY path"  # noqa: S608 - constant columns
        return [ReferenceRow(*row) for row in self.rows(query, (name_checksum(name),))]

    def paths_with(self, name: str) -> list[str]:
        """Return the paths of the documents that may define, use or import a name."""
        query = "SELECT path FROM documents WHERE id IN (SELECT document_id FROM postings WHERE name = ?)"
        return [row[0] for row in self.rows(query, (name_checksum(name),))]

    def document_at(self, path: str) -> ReferenceRow | None:
        rows = self.rows(f"{_DOCUMENTS} WHERE path = ?", (path,))
        return ReferenceRow(*rows[0]) if rows else None

    def paths_of_module(self, module: str) -> list[str]:
        """Return the paths of the files that are imported by this name."""
        return [row[0] for row in self.rows("SELECT path FROM documents WHERE module = ? ORDER BY path", (module,))]

    def has_path(self, path: str) -> bool:
        return bool(self.rows("SELECT 1 FROM documents WHERE path = ?", (path,)))

    def all_documents(self) -> Iterable[ReferenceRow]:
        """Yield all documents, a page at a time."""
        last = 0
        while rows := self.rows(f"{_DOCUMENTS} WHERE id > ? ORDER BY id LIMIT 500", (last,)):
            yield from (ReferenceRow(*row) for row in rows)
            last = rows[-1][0]

    # Writing; the caller holds the index's write lock

    def write(self, removed: Iterable[int], added: Sequence[ReferenceRow], facts: dict[str, str]) -> None:
        """Replace documents in one transaction, and say what the database has reached."""
        with self.transaction() as connection:
            _remove(connection, [*removed, *(row.id for row in added)])
            connection.executemany(
                "INSERT INTO documents VALUES (?, ?, ?, ?, ?)",
                [(row.id, row.path, row.language, module_of(row.path), row.data) for row in added],
            )
            postings = sorted([(name, row.id) for row in added for name in packed_checksums(row.data)])
            connection.executemany("INSERT OR IGNORE INTO postings VALUES (?, ?)", postings)
            connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", list(facts.items()))

    def problems(self) -> list[str]:
        """Return the problems that SQLite finds in the file, and references that cannot be read."""
        found = [str(row[0]) for row in self.rows("PRAGMA integrity_check(20)") if row[0] != "ok"]
        if found:
            return found
        expected = 0
        for row in self.all_documents():
            try:
                row.unpack()
                expected += len(packed_checksums(row.data))
            except StoreDamaged as error:
                return [str(error)]
        return [] if expected == self.rows("SELECT count(*) FROM postings")[0][0] else ["have names without a file"]


def remove_database(folder: Path) -> None:
    """Remove the references of a store."""
    for file in database_files(folder):
        with contextlib.suppress(OSError):
            file.unlink()


def database_files(folder: Path) -> list[Path]:
    """Return the files of the references of a store."""
    files = [folder / f"{REFERENCES_FILE}{suffix}" for suffix in ("", "-wal", "-shm")]
    return [file for file in files if file.exists()]


def _remove(connection: sqlite3.Connection, ids: Sequence[int]) -> None:
    for document_id in ids:
        row = connection.execute(f"{_DOCUMENTS} WHERE id = ?", (document_id,)).fetchone()
        if row:
            names = [(name, document_id) for name in packed_checksums(row[3])]
            connection.executemany("DELETE FROM postings WHERE name = ? AND document_id = ?", names)
            connection.execute("DELETE FROM documents WHERE id = ?", (document_id,))
