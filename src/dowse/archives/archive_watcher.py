"""Keeps the database equal to the archives while somebody needs it: looks once, then after every change."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from dowse.archives.archive_database import ArchiveDatabase, create_database
from dowse.archives.archive_indexing import update
from dowse.archives.archive_locations import Archive, ArchiveLocations
from dowse.archives.archive_types import ArchiveReport
from dowse.errors import CannotWatch, DowseError
from dowse.freshness.watcher import Watcher
from dowse.platform import Lock, make_private_folder
from dowse.types import Progress

QUIET_SECONDS = 0.5
"""How long nothing has to happen before what happened is taken in: a capture is several files."""
RESCAN_SECONDS = 600.0
"""How often all is looked at without any event; 10,000 documents take a second."""
POLL_SECONDS = 5.0
"""The same where the system tells of no changes, where no archive is there yet, and for who waits for its turn."""
WRITE_SECONDS = 600.0
"""How long a run waits for another one."""


def index_once(
    database: ArchiveDatabase,
    places: ArchiveLocations,
    progress: Progress | None = None,
    *,
    prunes: bool = False,
    quotes: bool | None = None,
    entered: "dict[Archive, Callable[[str], None]] | None" = None,
) -> ArchiveReport:
    """One run, after any other that is going on."""
    with run_lock(places).held(WRITE_SECONDS):
        return update(database, places, progress, prunes=prunes, quotes=quotes, entered=entered)


def run_lock(places: ArchiveLocations) -> Lock:
    """Held while a run goes on; it says whose."""
    return Lock(places.database.with_name(f"{places.database.name}.lock"))


def keep(places: ArchiveLocations, stop: threading.Event, told: Callable[[ArchiveReport | DowseError], None]) -> None:
    """Index, and again after every change, until `stop`. One process does so for a database; others wait for its end."""
    make_private_folder(places.database.parent)
    lease = Lock(places.database.with_name(f"{places.database.name}.watch.lock"))
    while not lease.try_acquire():
        if stop.wait(POLL_SECONDS):
            return
    database = create_database(places.database)
    watched = _Watched()
    try:
        while not stop.is_set():
            _look(database, places, watched, told)
            watched.wait_for_change(stop)
    finally:
        watched.close()
        database.close()
        lease.release()


def _look(
    database: ArchiveDatabase,
    places: ArchiveLocations,
    watched: "_Watched",
    told: Callable[[ArchiveReport | DowseError], None],
) -> None:
    """Runs until one finds no folder that is not watched yet: what happened in it before may have been missed."""
    while True:
        folders: dict[Archive, set[str]] = {archive: set() for archive in places.present}
        try:
            report = index_once(database, places, entered={archive: found.add for archive, found in folders.items()})
            told(report)
        except DowseError as error:  # tried again when something changes, or when it is time to look anyway
            told(error)
        if not watched.extend({places.roots[archive]: found for archive, found in folders.items()}):
            return


class _Watched:
    """The watchers of the archives that are there."""

    def __init__(self) -> None:
        self._watchers: dict[Path, Watcher] = {}
        self._is_blind = True

    def extend(self, folders: dict[Path, set[str]]) -> bool:
        """Watch these folders as well; whether some are new. Where that cannot be done, looking now and then has to do."""
        self._is_blind = not folders
        is_new = False
        for root, below in folders.items():
            try:
                if root in self._watchers:
                    is_new |= self._watchers[root].extend(below)
                else:
                    self._watchers[root] = Watcher(root, below)
                    is_new = True
            except CannotWatch:
                self._forget(root)
                self._is_blind = True
        return is_new and not self._is_blind

    def wait_for_change(self, stop: threading.Event) -> None:
        """Return when something has changed and then nothing for a moment, or when it is time to look anyway."""
        deadline = time.monotonic() + (POLL_SECONDS if self._is_blind else RESCAN_SECONDS)
        while not stop.is_set() and time.monotonic() < deadline:
            if self._has_changed(stop):
                while not stop.is_set() and self._has_changed(stop):
                    pass
                return

    def close(self) -> None:
        for watcher in self._watchers.values():
            watcher.close()

    def _has_changed(self, stop: threading.Event) -> bool:
        """Whether something changes within a moment."""
        if not self._watchers:
            stop.wait(QUIET_SECONDS)
            return False
        has_changed = False
        for root, watcher in list(self._watchers.items()):
            try:
                has_changed |= bool(watcher.wait(QUIET_SECONDS / len(self._watchers), stop))
            except CannotWatch:
                self._forget(root)
                has_changed = True
        return has_changed

    def _forget(self, root: Path) -> None:
        watcher = self._watchers.pop(root, None)
        if watcher:
            watcher.close()
