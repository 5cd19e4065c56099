"""Keeps one index equal to its files for as long as a server runs.

One process leads, the one that holds the lease; when it ends, another takes over. The others watch as
well, so that they know what they do not know, and index what is asked for.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dowse.errors import DowseError, NotIndexed
from dowse.indexes.index import ProjectIndex, What, folder_of
from dowse.indexes.index_log import open_log
from dowse.keeping.catch_up import CATCH_UP_SECONDS
from dowse.keeping.watch_session import SessionCallbacks, WatchSession
from dowse.keeping.watch_status import WatchStatus, watch_lease, watch_of
from dowse.keeping.watched_index import RETRY_SECONDS

INDEX_CHECK_SECONDS = 1.0
"""Time between two checks whether there is an index to keep fresh."""

Changed = Callable[[ProjectIndex], None]


class Keeper:
    """A thread that keeps one index fresh; `catch_up` and `watch` are for the thread that answers."""

    def __init__(
        self,
        root: Path,
        may_resume: Callable[[], bool] = lambda: True,
        what: What = "project",
        changed: "Changed | None" = None,
        encode: "Changed | None" = None,
    ) -> None:
        self.root = root
        self._what = what
        self._changed = changed
        self._encode = encode
        self._may_resume = may_resume
        """Whether an index that was not finished may be finished: not while somebody has just stopped that."""
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._working = threading.Lock()
        """Held while pending paths are looked at and applied."""
        self._session: WatchSession | None = None
        self._is_ours = False
        """We hold the lease."""
        self._last_error: str | None = None
        self._thread = threading.Thread(target=self._keep, daemon=True, name=f"keeps {root.name}")
        self._thread.start()

    def stop(self) -> None:
        """End; what is pending is written down."""
        self._stop.set()
        self._wake.set()
        self._thread.join(5)

    def catch_up(self, project: ProjectIndex) -> list[str]:
        """Index what is pending before an answer, within a bound; the paths that are left."""
        deadline = time.monotonic() + CATCH_UP_SECONDS
        while self._session is None and project.exists and time.monotonic() < deadline:
            self._wake.set()  # there is an index, perhaps since a moment ago
            time.sleep(0.01)
        session = self._session
        if session is None:
            return ["."] if project.exists else []
        return session.catch_up(project)

    def watch(self, project: ProjectIndex) -> WatchStatus:
        """How the index is kept fresh now."""
        session = self._session
        if session is None:
            found = watch_of(project)
            if found.mode == "elsewhere" and self._is_ours:
                found = replace(found, mode="watching", why="the first look has not ended")
            return replace(found, last_error=self._last_error or found.last_error)
        if not session.leads:
            return replace(watch_of(project), pending=session.pending_paths())
        return replace(session.status, pending=session.pending_paths())

    def _keep(self) -> None:
        while not self._stop.is_set():
            try:
                self._keep_while_possible()
            except NotIndexed:
                pass
            except DowseError as error:
                self._rest(str(error))
            except Exception as error:  # a part that fails is started again, after a full look
                self._rest(f"{type(error).__name__}: {error}")
            self._wake.wait(INDEX_CHECK_SECONDS)
            self._wake.clear()

    def _keep_while_possible(self) -> None:
        lease = watch_lease(folder_of(self.root, self._what))
        if not self.root.is_dir() or not lease.path.parent.is_dir():
            return
        self._is_ours = lease.try_acquire()
        try:
            project = ProjectIndex(self.root, self._what)
            if project.exists:
                callbacks = SessionCallbacks(self._may_resume, self._changed, self._encode)
                self._keep_with(WatchSession(project, self._stop, self._working, callbacks, leads=self._is_ours))
        finally:
            lease.release()
            self._is_ours = False

    def _keep_with(self, session: WatchSession) -> None:
        try:
            session.begin()
            self._session, self._last_error = session, None
            session.keep()
        finally:
            self._session = None
            session.end()

    def _rest(self, problem: str) -> None:
        self._last_error = problem
        with contextlib.suppress(DowseError, OSError):
            open_log(folder_of(self.root, self._what)).error("keeping fresh: %s", problem)
        self._stop.wait(RETRY_SECONDS)
