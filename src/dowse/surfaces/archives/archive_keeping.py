"""The archives of a server: their indexes are kept fresh like those of other roots, and the database after them."""

import contextlib
import threading
import time
from collections.abc import Callable

from dowse.archives.archive_database import ArchiveDatabase, create_database
from dowse.archives.archive_index import ArchiveIndex, open_indexes, searchable_roots
from dowse.archives.archive_locations import Archive, ArchiveLocations
from dowse.archives.archive_types import ArchiveReport
from dowse.archives.archive_update import is_current, update_database
from dowse.errors import DowseError
from dowse.indexes.index import ProjectIndex
from dowse.keeping.served_index import ServedIndex
from dowse.types import View

RETRY_SECONDS = 0.2
"""Time between two checks whether the indexes are complete, so that the database can be written."""


class ArchiveKeeping:
    """The indexes of the archives that exist, and the database that is written when they have changed."""

    def __init__(
        self,
        locations: ArchiveLocations,
        reported: Callable[[ArchiveReport | DowseError], None] = lambda _: None,
        *,
        keeps_fresh: bool = True,
    ) -> None:
        self.locations = locations
        self.keeps_fresh = keeps_fresh
        self._reported = reported
        self._served: dict[Archive, ServedIndex] = {}
        self._database: ArchiveDatabase | None = None
        self._lock = threading.Lock()
        """Held while indexes are opened, or the database is."""
        self._changed, self._stop = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def open(self) -> dict[Archive, ServedIndex]:
        """Index the archives that exist and keep them fresh; return them, and missing ones that are indexed."""
        with self._lock:
            roots = searchable_roots(self.locations)
            for archive in [] if self._stop.is_set() else roots:
                if archive not in self._served:
                    self._served[archive] = ServedIndex(roots[archive], archive, index_type=ArchiveIndex)
                served = self._served[archive]
                if self.keeps_fresh and served.keeper is None and served.root.is_dir():
                    served.keep_fresh(self._note_change)
                    served.make_index(View.DOCUMENTS)
                    self._changed.set()
            if self.keeps_fresh and self._thread is None and self._served:
                self._thread = threading.Thread(target=self._follow, daemon=True, name="writes the archives' database")
                self._thread.start()
            return {archive: self._served[archive] for archive in roots if archive in self._served}

    def database(self) -> ArchiveDatabase:
        """Return the database as it is; raise the error of a file that cannot be one."""
        with self._lock:
            if self._database is None:
                self._database = create_database(self.locations.database)
            return self._database

    def write_database(self) -> bool:
        """Bring the database up to date; return whether it is: not while an index is not complete."""
        started, database = time.perf_counter(), self.database()
        with open_indexes(self.locations) as indexes:
            if not all(index.is_ready() for index in indexes.values()):
                return False
            if indexes and not is_current(database, indexes):
                report = update_database(database, self.locations, indexes)
                report.seconds = time.perf_counter() - started
                self._reported(report)
        return True

    def is_indexing(self) -> bool:
        """Return whether any process is indexing an archive."""
        with open_indexes(self.locations) as indexes:
            return any(index.is_being_updated() for index in indexes.values())

    def has_indexes(self) -> bool:
        """Return whether every archive that exists is indexed; this starts no indexing."""
        with open_indexes(self.locations) as indexes:
            return bool(indexes) and all(index.exists for index in indexes.values())

    def close(self) -> None:
        """Stop everything."""
        self._stop.set()
        self._changed.set()
        with self._lock:
            served, database, thread = list(self._served.values()), self._database, self._thread
        for one in served:
            one.close()
        if thread:
            thread.join(5)
        if database:
            database.close()

    def _note_change(self, _index: ProjectIndex) -> None:
        self._changed.set()

    def _follow(self) -> None:
        """Write the database after each change, once the indexes are complete."""
        while self._changed.wait() and not self._stop.is_set():
            self._changed.clear()
            try:
                while not self._stop.is_set() and not self.write_database():
                    self._stop.wait(RETRY_SECONDS)
            except DowseError as error:  # tried again after the next change
                with contextlib.suppress(OSError):
                    self._reported(error)
