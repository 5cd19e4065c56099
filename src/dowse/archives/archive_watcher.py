"""Keeping the database up to date with the archives: an indexing run at the start, and one after every change."""

import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.archives.archive_database import ArchiveDatabase, create_database
from dowse.archives.archive_indexing import update_database
from dowse.archives.archive_locations import Archive, ArchiveLocations
from dowse.archives.archive_types import ArchiveReport
from dowse.errors import CannotWatch, DowseError, NotWritable
from dowse.freshness.watching import start_watcher
from dowse.platform import Lock, make_private_folder
from dowse.types import Progress

if TYPE_CHECKING:
    from dowse.freshness.tree_watcher import Watcher

QUIET_SECONDS = 0.5
"""A run begins after this time without changes, because a capture is several files."""
RESCAN_SECONDS = 600.0
"""Time between runs without any change; checking 10,000 documents takes a second."""
POLL_SECONDS = 5.0
"""Time between runs where the system reports no changes or no archive exists yet, and between attempts to get the lock."""
RUN_LOCK_SECONDS = 600.0
"""Maximum time that a run waits for another run."""


def index_once(
    database: ArchiveDatabase,
    locations: ArchiveLocations,
    progress: Progress | None = None,
    *,
    prunes: bool = False,
    on_folder: dict[Archive, Callable[[str], None]] | None = None,
) -> ArchiveReport:
    """Run once, after any run of another process has ended."""
    with run_lock(locations).held(RUN_LOCK_SECONDS):
        return update_database(database, locations, progress, prunes=prunes, on_folder=on_folder)


def run_lock(locations: ArchiveLocations) -> Lock:
    """Return the lock that is held during a run; it names the process that holds it."""
    return Lock(locations.database.with_name(f"{locations.database.name}.lock"))


def keep_indexed(
    locations: ArchiveLocations, stop: threading.Event, on_result: Callable[[ArchiveReport | DowseError], None]
) -> None:
    """Index, and index again after every change, until `stop` is set.

    One process does this for a database; others wait until it ends. Where nothing can be written, it is tried again.
    """
    while not stop.is_set():
        try:
            _keep_indexed(locations, stop, on_result)
        except NotWritable as error:
            on_result(error)
            stop.wait(POLL_SECONDS)


def _keep_indexed(
    locations: ArchiveLocations, stop: threading.Event, on_result: Callable[[ArchiveReport | DowseError], None]
) -> None:
    make_private_folder(locations.database.parent)
    lease = Lock(locations.database.with_name(f"{locations.database.name}.watch.lock"))
    while not lease.try_acquire():
        if stop.wait(POLL_SECONDS):
            return
    database = create_database(locations.database)
    watchers = _ArchiveWatchers()
    try:
        while not stop.is_set():
            known = _index_and_watch(database, locations, watchers, on_result)
            watchers.wait_for_change(stop, partial(_has_others, locations, known))
    finally:
        watchers.close()
        database.close()
        lease.release()


def _has_others(locations: ArchiveLocations, known: set[Archive]) -> bool:
    return set(locations.present) != known


def _index_and_watch(
    database: ArchiveDatabase,
    locations: ArchiveLocations,
    watchers: "_ArchiveWatchers",
    on_result: Callable[[ArchiveReport | DowseError], None],
) -> set[Archive]:
    """Index and watch, again until a run finds no new folder: changes before a folder is watched may be missed.

    Return the archives that are there.
    """
    while True:
        folders: dict[Archive, set[str]] = {archive: set() for archive in locations.present}
        try:
            report = index_once(
                database, locations, on_folder={archive: found.add for archive, found in folders.items()}
            )
            on_result(report)
        except DowseError as error:  # tried again after the next change or RESCAN_SECONDS
            on_result(error)
        if not watchers.extend({locations.roots[archive]: found for archive, found in folders.items()}):
            return set(folders)


class _ArchiveWatchers:
    """The watchers of the archives that exist."""

    def __init__(self) -> None:
        self._watchers: dict[Path, Watcher] = {}
        self._must_poll = True

    def extend(self, folders: dict[Path, set[str]]) -> bool:
        """Watch these folders as well, and return whether some are new. Fall back to polling where a folder cannot be watched."""
        self._must_poll = not folders
        is_new = False
        for root, below in folders.items():
            try:
                if root not in self._watchers:
                    self._watchers[root] = start_watcher(root)
                    is_new = True
                is_new |= self._watchers[root].extend(below)
            except CannotWatch:
                self._stop_watching(root)
                self._must_poll = True
        return is_new and not self._must_poll

    def wait_for_change(self, stop: threading.Event, are_others_there: Callable[[], bool]) -> None:
        """Return after a change followed by QUIET_SECONDS without one, or when the time for the next run has come.

        An archive that appears or goes is a change, although nobody watches the place of one that is missing.
        """
        deadline = time.monotonic() + (POLL_SECONDS if self._must_poll else RESCAN_SECONDS)
        while not stop.is_set() and time.monotonic() < deadline:
            if self._has_changed(stop):
                while not stop.is_set() and self._has_changed(stop):
                    pass
                return
            if are_others_there():
                return

    def close(self) -> None:
        for watcher in self._watchers.values():
            watcher.close()

    def _has_changed(self, stop: threading.Event) -> bool:
        """Return whether something changes within QUIET_SECONDS."""
        if not self._watchers:
            stop.wait(QUIET_SECONDS)
            return False
        has_changed = False
        for root, watcher in list(self._watchers.items()):
            try:
                if watcher.wait(QUIET_SECONDS / len(self._watchers), stop):
                    has_changed |= bool(watcher.drain())
            except CannotWatch:
                self._stop_watching(root)
                has_changed = True
        return has_changed

    def _stop_watching(self, root: Path) -> None:
        watcher = self._watchers.pop(root, None)
        if watcher:
            watcher.close()
