"""Keeps one index equal to its files for as long as a server runs.

One process watches a project, the one that holds the lease; when it ends, another takes over.
"""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dowse.errors import DowseError, NotIndexed
from dowse.freshness.dirty import read_dirty
from dowse.serving.logs import open_log
from dowse.serving.project import ProjectIndex, What, folder_of
from dowse.serving.session import ASKED_SECONDS, LOOK_SECONDS, RETRY_SECONDS, Session
from dowse.serving.watches import Watch, watch_lease, watch_of

Changed = Callable[[ProjectIndex], None]


class Keeper:
    """A thread that keeps one index fresh; `catch_up` and `watch` are for the thread that answers."""

    def __init__(
        self,
        root: Path,
        may_resume: Callable[[], bool] = lambda: True,
        what: What = "project",
        changed: "Changed | None" = None,
    ) -> None:
        self.root = root
        self._what = what
        self._changed = changed
        self._may_resume = may_resume
        """Whether an index that was not finished may be finished: not while somebody has just stopped that."""
        self._stop = threading.Event()
        self._has_begun = threading.Event()
        """The first look is done, or it is known that we do not look."""
        self._working = threading.Lock()
        """Held while pending paths are looked at and applied."""
        self._session: Session | None = None
        self._last_error: str | None = None
        self._thread = threading.Thread(target=self._keep, daemon=True, name=f"keeps {root.name}")
        self._thread.start()

    def stop(self) -> None:
        """End; what is pending is written down."""
        self._stop.set()
        self._thread.join(5)

    def catch_up(self, project: ProjectIndex) -> list[str]:
        """Index what is pending before an answer, within a bound; the paths that are left."""
        if not self._has_begun.wait(ASKED_SECONDS):
            return ["."]
        session = self._session
        if session is None:
            return [path or "." for path in read_dirty(project.folder)]
        return session.catch_up(project)

    def watch(self, project: ProjectIndex) -> Watch:
        """How the index is kept fresh now."""
        session = self._session
        if session is None:
            found = watch_of(project)
            return replace(found, last_error=self._last_error or found.last_error)
        return replace(session.state, pending=session.pending_paths())

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
            self._has_begun.set()
            self._stop.wait(LOOK_SECONDS)

    def _keep_while_possible(self) -> None:
        lease = watch_lease(folder_of(self.root, self._what))
        if not self.root.is_dir() or not lease.path.parent.is_dir() or not lease.try_acquire():
            return
        try:
            project = ProjectIndex(self.root, self._what)
            if project.exists:
                self._keep_with(Session(project, self._stop, self._working, self._may_resume, self._changed))
        finally:
            lease.release()

    def _keep_with(self, session: Session) -> None:
        try:
            session.begin()
            self._session, self._last_error = session, None
            self._has_begun.set()
            session.keep()
        finally:
            self._session = None
            session.end()

    def _rest(self, problem: str) -> None:
        self._last_error = problem
        with contextlib.suppress(DowseError, OSError):
            open_log(folder_of(self.root, self._what)).error("keeping fresh: %s", problem)
        self._stop.wait(RETRY_SECONDS)
