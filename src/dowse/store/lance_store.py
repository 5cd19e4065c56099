"""The store that keeps the tables of the specification beside the default one: with them, others read the index."""

from collections.abc import Mapping
from pathlib import Path

from dowse.errors import Failed
from dowse.store.lance_tables import LanceTables, TablesRecord
from dowse.store.local import LocalStore
from dowse.store.lock_waits import WRITE_WAIT_SECONDS
from dowse.store.reference_index import ReadReferences, read_none
from dowse.types import Finding, ReadText


class LanceStore(LocalStore):
    """A store in one folder with LanceDB tables."""

    def __init__(self, folder: Path, read_text: ReadText, read_references: ReadReferences = read_none) -> None:
        super().__init__(folder, read_text, read_references)
        self._tables = LanceTables(folder, self.catalog, read_text)

    def write_tables(self) -> None:
        """Bring the tables up to date."""
        with self._lock.held(WRITE_WAIT_SECONDS):
            self._tables.follow()

    def check(self) -> list[Finding]:
        """Check the parts of the default store, and compare the tables with the catalog."""
        return super().check() or [Finding("tables", problem) for problem in self._tables.problems()]

    def repair(self) -> None:
        """Rebuild the derived parts that are wrong."""
        super().repair()
        with self._lock.held(WRITE_WAIT_SECONDS):
            if self._tables.problems():
                self._tables.set_aside()
                self._tables.follow()


def write_tables_to(store: LocalStore, read_text: ReadText, place: str, options: Mapping[str, str]) -> TablesRecord:
    """Bring the tables of another place up to date with a store; return what they hold then."""
    tables = LanceTables(store.folder, store.catalog, read_text, place=place, options=options)
    tables.follow()
    written = tables.record()
    if written is None:
        raise Failed(f"The tables in {place} cannot be read after they were written. Try again.")
    return written
