"""The references of a store, read when they are first asked for and kept in step with its catalog from then on.

Searches do not need them, and reading them would take a fifth of the time of indexing. The documents that
lack them are found by comparing ids with the catalog.
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from math import inf
from pathlib import Path

from dowse.chunking.source_references import VERSION
from dowse.errors import Failed, StoreDamaged
from dowse.platform import Lock
from dowse.store.catalog import Catalog
from dowse.store.lock_waits import WRITE_WAIT_SECONDS
from dowse.store.reference_database import (
    REFERENCES_FILE,
    ReferenceDatabase,
    ReferenceRow,
    database_files,
    remove_database,
)
from dowse.types import Progress, StoredDocument, View

ReadReferences = Callable[[Iterable[StoredDocument]], Iterator[tuple[StoredDocument, bytes | None]]]
"""A function that yields documents with their references; None for a file that has changed since it was indexed."""

QUICK_DOCUMENTS = 50
"""More documents than these are left to a process of its own, where there is one: they take more than a second."""
_READ_DOCUMENTS = 250
"""Documents whose references are read before they are stored: enough for two processes."""


def read_none(documents: Iterable[StoredDocument]) -> Iterator[tuple[StoredDocument, bytes | None]]:
    """Yield the documents without references."""
    return ((document, b"") for document in documents)


class ReferenceIndex:
    """The references of one store, brought up to date from its catalog and its files."""

    def __init__(self, folder: Path, catalog: Catalog, lock: Lock, read_references: ReadReferences) -> None:
        self._folder, self._catalog, self._lock, self._read = folder, catalog, lock, read_references
        self._opened: ReferenceDatabase | None = None
        self._inode = 0
        self._current_at: object = None
        """The state of the catalog in which nothing was missing."""

    @property
    def is_used(self) -> bool:
        """Whether references were ever asked for, and are kept since then."""
        return bool(database_files(self._folder))

    @property
    def database(self) -> ReferenceDatabase:
        """The open database; raises StoreDamaged if its file is not one."""
        file = self._folder / REFERENCES_FILE
        with contextlib.suppress(OSError):
            if self._opened is not None and file.stat().st_ino == self._inode:
                return self._opened
        self.close()
        self._opened = ReferenceDatabase(self._folder)
        self._inode = file.stat().st_ino
        return self._opened

    def is_current(self) -> bool:
        """Return whether the references of all documents are here."""
        state = self._catalog.state()
        if state is not None and state == self._current_at and self._opened is not None:
            return True
        try:
            is_current = not any(self._differences())
        except Failed:
            return False
        self._current_at = state if is_current else None
        return is_current

    def missing(self) -> int:
        """Return how many documents lack their references."""
        try:
            return len(self._differences()[1])
        except Failed:
            return len(self._catalog.document_ids(View.PROJECT))

    def has_backlog(self) -> bool:
        """Return whether so many documents lack their references that a process of its own reads them."""
        return self.is_used and not self.is_current() and self.missing() > QUICK_DOCUMENTS

    def catch_up(self, progress: Progress | None = None, seconds: float | None = None) -> None:
        """Read the references of the documents that lack them, in steps that are kept if it is interrupted.

        With `seconds`, it ends after this time with what has been read.
        """
        deadline, reached = time.monotonic() + (inf if seconds is None else seconds), self._catalog.sequence()
        try:
            removed, missing = self._differences()
        except StoreDamaged:
            self._start_over()
            removed, missing = self._differences()
        if not removed and not missing:
            return
        has_all = True
        for start in range(0, len(missing), _READ_DOCUMENTS):
            if time.monotonic() > deadline:
                return
            documents = self._catalog.documents_by_id(missing[start : start + _READ_DOCUMENTS])
            read = list(takewhile(lambda _: time.monotonic() < deadline, self._read(documents.values())))
            rows = [
                ReferenceRow(document.id, document.path, document.language, data)
                for document, data in read
                if data is not None
            ]
            has_all = has_all and len(rows) == len(read)
            with self._lock.held(WRITE_WAIT_SECONDS):
                self._write(removed, rows)
            removed = []
            if len(read) < len(documents):
                return
            if progress:
                progress(min(start + _READ_DOCUMENTS, len(missing)), len(missing))
        with self._lock.held(WRITE_WAIT_SECONDS):
            self._write(removed, [], reached if has_all else None)

    def problems(self) -> list[str]:
        """Return damage to the references. Those that are only behind the catalog are read when they are asked for."""
        if not self.is_used:
            return []
        try:
            return self.database.problems()
        except Failed as error:
            return [str(error)]

    def repair(self) -> None:
        """Remove references that are wrong; they are read again when they are asked for."""
        if self.problems():
            self._start_over()

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
        self._opened = self._current_at = None

    def _start_over(self) -> None:
        self.close()
        remove_database(self._folder)

    def _differences(self) -> tuple[list[int], list[int]]:
        """Return the ids of documents that are here and should not be, and of those that are missing."""
        facts = self.database.facts()
        if _owner(facts) != self._owner():
            return sorted(self.database.document_ids()), self._catalog.document_ids(View.PROJECT)
        if "sequence" in facts:
            changes = self._catalog.changes_since(int(facts["sequence"]), View.PROJECT)
            if changes and changes.is_empty:
                return [], []
        # Some of the changes may be here already, if reading them was interrupted.
        expected, known = set(self._catalog.document_ids(View.PROJECT)), self.database.document_ids()
        return sorted(known - expected), sorted(expected - known)

    def _owner(self) -> dict[str, str]:
        return {"catalog": self._catalog.id, "version": str(VERSION)}

    def _write(self, removed: Iterable[int], added: list[ReferenceRow], sequence: int | None = None) -> None:
        """Replace documents; `sequence` is the transaction of the catalog after which none is missing."""
        facts = self.database.facts()
        if facts.keys() >= self._owner().keys() and _owner(facts) != self._owner():
            self._start_over()
        reached = {"sequence": str(sequence)} if sequence is not None else {}
        self.database.write(removed, added, {**self._owner(), **reached})


def _owner(facts: dict[str, str]) -> dict[str, str | None]:
    """Return the catalog and the version that references belong to."""
    return {key: facts.get(key) for key in ("catalog", "version")}
