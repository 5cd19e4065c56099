"""The thread that keeps one index equal to its files for as long as a server runs.

The process that holds the lease leads and updates the index; when it ends, another takes over. The others watch
as well, so that they know which paths are pending, and index what a search needs.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dowse.errors import DowseError, NotIndexed, NotWritable
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_log import open_log
from dowse.keeping.catch_up import CATCH_UP_SECONDS, MAX_CATCH_UP_PATHS, catch_up, pending_names
from dowse.keeping.watch_session import WatchSession
from dowse.keeping.watch_status import WatchStatus, read_watch_status, watch_lease
from dowse.keeping.watched_index import RETRY_SECONDS, WatchedIndex
from dowse.platform import Lock
from dowse.types import KINDS

INDEX_CHECK_SECONDS = 1.0
"""Time between two checks whether there is an index to keep fresh."""

QUICK_SCAN_FILES = 10_000
"""A search waits for a scan of a root with up to this many indexed files: it takes 0.3 s at most."""
SCAN_WAIT_SECONDS = 1.0
"""A search waits for no scan if the last one took longer, on a busy machine or a slow disk."""

IndexCallback = Callable[[ProjectIndex], None]


class Keeper:
    """A thread that keeps one index fresh; the thread that answers calls `catch_up` and `watch_status`."""

    def __init__(
        self,
        root: Path,
        may_resume: Callable[[], bool] = lambda: True,
        changed: "IndexCallback | None" = None,
        encode: "IndexCallback | None" = None,
        index_type: type[ProjectIndex] = ProjectIndex,
    ) -> None:
        self.root = root
        self._index_type = index_type
        self._changed = changed
        self._encode = encode
        self._may_resume = may_resume
        """Returns whether an unfinished index may be finished: not after the user has stopped indexing."""
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._working = threading.Lock()
        """Held while pending paths are compared and applied."""
        self._watched: WatchedIndex | None = None
        """The index while a session watches it."""
        self._leads = False
        """This process updates the index."""
        self._last_error: str | None = None
        self._thread = threading.Thread(target=self._keep, daemon=True, name=f"keeps {root.name}")
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; pending paths are saved."""
        self._stop.set()
        self._wake.set()
        self._thread.join(5)

    def catch_up(self, project: ProjectIndex) -> list[str]:
        """Apply some pending changes before an answer; return the paths that are left."""
        watched = self._started(project)
        unknown = ["."] if project.has_catalog else []
        pending = catch_up(watched, project) if watched else unknown
        is_slow = watched is not None and watched.lost_events.scan_seconds > SCAN_WAIT_SECONDS
        may_wait = _has_quick_scan(project) and not is_slow
        return [] if "." in pending and may_wait and _is_current(project) else pending

    def _started(self, project: ProjectIndex) -> WatchedIndex | None:
        """Return the watched index; wait a moment for a session that is about to start, unless its first scan takes longer."""
        deadline = time.monotonic() + (CATCH_UP_SECONDS if self._watched or _has_quick_scan(project) else 0)
        while self._watched is None and project.has_catalog and time.monotonic() < deadline:
            self._wake.set()  # the index may just have been created
            time.sleep(0.01)
        return self._watched

    def watch_status(self, project: ProjectIndex) -> WatchStatus:
        """Return how the index is kept fresh now."""
        watched = self._started(project)
        if watched is None:
            status = read_watch_status(project)
            is_starting = (
                status.mode == "off" and self._last_error is None and project.has_catalog and self.root.is_dir()
            )
            if self._leads or is_starting:
                status = replace(status, mode="watching", why="the first scan has not ended")
            return replace(status, last_error=self._last_error or status.last_error)
        watched.take_events()
        status = watched.status if watched.leads else read_watch_status(project)
        return replace(status, pending=_differing(project, pending_names(watched)))

    def _keep(self) -> None:
        while not self._stop.is_set():
            try:
                self._keep_while_possible()
            except NotIndexed:
                pass
            except DowseError as error:
                self._report_and_wait(str(error))
            except Exception as error:  # a session that crashes is started again, after a full scan
                self._report_and_wait(f"{type(error).__name__}: {error}")
            self._wake.wait(INDEX_CHECK_SECONDS)
            self._wake.clear()

    def _keep_while_possible(self) -> None:
        lease = watch_lease(self._index_type.folder_of(self.root))
        if not self.root.is_dir() or not lease.path.parent.is_dir():
            return
        self._leads = _take_lead(lease)
        try:
            project = self._index_type(self.root)
            if project.has_catalog:
                self._watch(WatchedIndex(project, self._working, self._may_resume, leads=self._leads), lease)
        finally:
            lease.release()
            self._leads = False

    def _watch(self, watched: WatchedIndex, lease: Lock) -> None:
        def may_continue() -> bool:
            """Return whether this process leads or follows as before. A lease is taken as soon as it can be written."""
            return not self._leads or lease.is_held or _take_lead(lease)

        session = WatchSession(watched, self._stop, may_continue, self._changed, self._encode)
        try:
            session.begin()
            self._watched, self._last_error = watched, None
            session.keep()
        finally:
            self._watched = None
            watched.close()

    def _report_and_wait(self, problem: str) -> None:
        self._last_error = problem
        with contextlib.suppress(DowseError, OSError):
            open_log(self._index_type.folder_of(self.root)).error("keeping fresh: %s", problem)
        self._stop.wait(RETRY_SECONDS)


def _has_quick_scan(project: ProjectIndex) -> bool:
    """Return whether a scan of the root takes no longer than a search may wait, judged by the last one."""
    try:
        return sum(project.whole.totals(kind).documents for kind in KINDS) <= QUICK_SCAN_FILES
    except DowseError:
        return True


def _is_current(project: ProjectIndex) -> bool:
    """Return whether a scan finds now that a complete index is equal to its files."""
    try:
        is_complete = project.whole.fact("state") == "complete" and not project.is_being_updated()
        return is_complete and project.whole.refresh() and not project.drift().pending
    except (DowseError, OSError):  # the search meets the same problem, and reports it
        return False


def _differing(project: ProjectIndex, pending: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that differ from the index: another process may have indexed those at the pending paths."""
    if "." in pending and _has_quick_scan(project) and _is_current(project):
        return ()
    if "." in pending or len(pending) > MAX_CATCH_UP_PATHS:
        return pending
    try:
        return tuple(sorted(project.drift_at(pending).paths))
    except (DowseError, OSError):  # as above
        return pending


def _take_lead(lease: Lock) -> bool:
    """Return whether this process leads: it holds the lease, or nobody can write one and nobody holds it."""
    try:
        return lease.try_acquire()
    except NotWritable:
        return not lease.is_taken()
