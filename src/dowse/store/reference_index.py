"""The references of a store, read when they are first asked for and kept with its documents from then on.

Searches do not need them, and reading them would take a fifth of the time of indexing. They are rows of the catalog,
which go with their documents; what is missing is what a document has no row for.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from math import inf
from pathlib import PurePosixPath
from typing import NamedTuple

from dowse.errors import StoreDamaged
from dowse.parsing.source_references import (
    VERSION,
    SourceReferences,
    name_checksum,
    packed_checksums,
    unpack_references,
)
from dowse.store.catalog import Catalog
from dowse.store.storage_layout import READ_WAIT_SECONDS, WRITE_WAIT_SECONDS
from dowse.system.platform import Lock
from dowse.types import Progress, StoredDocument

ReadReferences = Callable[[Iterable[StoredDocument]], Iterator[tuple[StoredDocument, bytes | None]]]
"""A function that yields documents with their references; None for a file that has changed since it was indexed."""

QUICK_DOCUMENTS = 50
"""More documents than these are left to a process of its own, where there is one: they take more than a second."""
_READ_DOCUMENTS = 250
"""Documents whose references are read before they are stored: enough for two processes."""
_FACT = "references"
"""The fact of the catalog that names the version of its references; without it, none were asked for yet."""
_FOLDER_FILE = re.compile(
    r"(?:^|/)(?:__init__\.pyi?|index(?:\.d)?\.(?:[cm]?[jt]s|[jt]sx|vue|svelte)|(?:mod|lib|main)\.rs|init\.lua)$"
)
"""Files that are imported by the name of their folder. Another language's `main` or `lib` is a module like any other."""

_ROW = "SELECT documents.id, path, language, data FROM"
_OF_DOCUMENT = "CROSS JOIN source_references ON document_id = documents.id"
_AND_DOCUMENT = "CROSS JOIN documents ON documents.id = document_id AND views & 1"
_NAMED = f"reference_names {_AND_DOCUMENT}"


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
            raise StoreDamaged(f"The references of {self.path} cannot be read. Run: dowse doctor --fix") from error


def module_of(path: str) -> str:
    """Return the last part of the name by which other files import a file."""
    if path.endswith(".go"):
        return PurePosixPath(path).parent.name
    return PurePosixPath(import_path(path)).name.partition(".")[0]


def import_path(path: str) -> str:
    """Return a path as imports name it: without its ending, and the folder for a file that stands for it."""
    folder = _FOLDER_FILE.sub("", path)
    return folder if folder != path else re.sub(r"(\.d)?\.\w+$", "", path)


def read_none(documents: Iterable[StoredDocument]) -> Iterator[tuple[StoredDocument, bytes | None]]:
    """Yield the documents without references."""
    return ((document, b"") for document in documents)


class ReferenceIndex:
    """The references of the files of one project."""

    def __init__(self, catalog: Catalog, lock: Lock, read_references: ReadReferences = read_none) -> None:
        self._catalog, self._lock, self._read = catalog, lock, read_references
        self._current_at: object = None
        """The state of the catalog in which nothing was missing."""

    # Asking

    def documents_with(self, name: str) -> list[ReferenceRow]:
        """Return the documents that may define, use or import a name, by path."""
        query = f"{_ROW} {_NAMED} CROSS JOIN source_references USING (document_id) WHERE name = ? ORDER BY path"
        return [ReferenceRow(*row) for row in self._catalog.rows(query, (name_checksum(name),))]

    def paths_with(self, name: str) -> list[str]:
        """Return the paths of the documents that may define, use or import a name."""
        query = f"SELECT path FROM {_NAMED} WHERE name = ?"  # noqa: S608 - a constant join
        return [row[0] for row in self._catalog.rows(query, (name_checksum(name),))]

    def document_at(self, path: str) -> ReferenceRow | None:
        rows = self._catalog.rows(f"{_ROW} documents {_OF_DOCUMENT} WHERE path = ? AND views & 1", (path,))
        return ReferenceRow(*rows[0]) if rows else None

    def paths_of_module(self, module: str) -> list[tuple[str, str]]:
        """Return the paths of the files that are imported by this name, each with its language."""
        query = f"SELECT path, language FROM source_references {_AND_DOCUMENT} WHERE module = ? ORDER BY path"  # noqa: S608 - as above
        return [(path, language) for path, language in self._catalog.rows(query, (module,))]

    def has_path(self, path: str) -> bool:
        return bool(self._catalog.rows("SELECT 1 FROM documents WHERE path = ? AND views & 1", (path,)))

    def all_documents(self) -> Iterable[ReferenceRow]:
        """Yield all documents, a page at a time."""
        last, query = (
            0,
            f"{_ROW} source_references {_AND_DOCUMENT} WHERE document_id > ? ORDER BY document_id LIMIT 500",
        )
        while rows := self._catalog.rows(query, (last,)):
            yield from (ReferenceRow(*row) for row in rows)
            last = rows[-1][0]

    # Keeping

    @property
    def is_used(self) -> bool:
        """Whether references were ever asked for, and are kept since then."""
        return self._catalog.fact(_FACT) is not None

    def is_current(self) -> bool:
        """Return whether the references of all documents are here."""
        state = self._catalog.state()
        if state is not None and state == self._current_at:
            return True
        is_current = not self.missing_documents()
        self._current_at = state if is_current else None
        return is_current

    def missing(self) -> int:
        """Return how many documents lack their references."""
        return len(self.missing_documents())

    def has_backlog(self) -> bool:
        """Return whether so many documents lack their references that a process of its own reads them."""
        return self.is_used and not self.is_current() and self.missing() > QUICK_DOCUMENTS

    def catch_up(self, progress: Progress | None = None, seconds: float | None = None) -> None:
        """Read the references of the documents that lack them, in steps that are kept if it is interrupted.

        With `seconds`, no step begins after this time, and none waits long for another process that writes.
        """
        wait_seconds = WRITE_WAIT_SECONDS if seconds is None else READ_WAIT_SECONDS
        deadline, missing = time.monotonic() + (inf if seconds is None else seconds), self.missing_documents()
        if self._catalog.fact(_FACT) != str(VERSION):
            with self._lock.held(wait_seconds):
                if self._catalog.fact(_FACT) != str(VERSION):  # another process may have been first
                    self.forget()
        for start in range(0, len(missing), _READ_DOCUMENTS):
            if time.monotonic() > deadline:
                return
            self.read(missing[start : start + _READ_DOCUMENTS], wait_seconds)
            if progress:
                progress(min(start + _READ_DOCUMENTS, len(missing)), len(missing))

    def read(self, ids: Iterable[int], wait_seconds: float) -> None:
        """Read the references of some documents and store them, as soon as other processes let this one write."""
        documents = self._catalog.documents_by_id(ids)
        rows = [(document, data) for document, data in self._read(documents.values()) if data is not None]
        names = []
        with self._lock.held(wait_seconds), self._catalog.transaction() as connection:
            if self._catalog.fact(_FACT) not in (None, str(VERSION)):
                return  # another version of dowse keeps them by now
            for document, data in rows:  # those of the documents that are still there
                added = connection.execute(
                    "INSERT OR IGNORE INTO source_references SELECT id, ?, ? FROM documents WHERE id = ?",
                    (module_of(document.path), data, document.id),
                ).rowcount
                names += [(name, document.id) for name in packed_checksums(data)] if added else []
            connection.executemany("INSERT OR IGNORE INTO reference_names VALUES (?, ?)", sorted(names))

    def forget(self) -> None:
        """Remove all references, and note that they are kept in today's version from now on; the caller holds the write lock."""
        with self._catalog.transaction() as connection:
            connection.execute("DELETE FROM reference_names")
            connection.execute("DELETE FROM source_references")
            connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (_FACT, str(VERSION)))

    def problems(self) -> list[str]:
        """Return damage to the references. Those that are missing are read when they are asked for."""
        names = 0
        try:
            for row in self.all_documents():
                row.unpack()
                names += len(packed_checksums(row.data))
        except StoreDamaged as error:
            return [str(error)]
        kept = self._catalog.rows(f"SELECT count(*) FROM {_NAMED}")[0][0]  # noqa: S608 - as above
        return [] if names == kept else ["have names without a file"]

    def missing_documents(self) -> list[int]:
        """Return the ids of the documents that lack their references."""
        query = "SELECT id FROM documents WHERE views & 1"
        if self._catalog.fact(_FACT) == str(VERSION):
            query += " AND NOT EXISTS (SELECT 1 FROM source_references WHERE document_id = id)"
        return [row[0] for row in self._catalog.rows(f"{query} ORDER BY id")]
