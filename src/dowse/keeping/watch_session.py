"""The time in which a process watches one root, from the first scan until the root, the index or the server goes.

Events become pending paths. The strategy decides when they are compared with the index, and the differences are
applied.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from dowse.errors import CannotWatch, DowseError, NotWritable
from dowse.freshness.git_head import CheckoutDetector
from dowse.freshness.pending_paths import QUIET_SECONDS, ChangeTimes, due_paths
from dowse.freshness.watcher import EVERYWHERE, STEP_SECONDS
from dowse.indexes.index import ProjectIndex
from dowse.keeping.catch_up import catch_up, pending_names
from dowse.keeping.index_updates import IndexUpdater
from dowse.keeping.watch_status import WatchStatus, watch_lease
from dowse.keeping.watched_index import WatchedIndex
from dowse.platform import release_memory

SETTINGS_CHECK_SECONDS = 1.0
"""Time between two checks of what no event reports: settings, the state of the index."""
TICK_SECONDS = 0.05
"""The longest wait for events while paths are pending, or where nothing can be watched."""
FOLLOW_SECONDS = 1.5
"""How long the leading process may take to index a change; then a follower checks whether it has."""
ENCODE_EVERY_SECONDS = 5.0
"""Time between two requests to encode what lacks vectors, once nothing changes any more; only new chunks are asked for."""


class SessionCallbacks(NamedTuple):
    """The functions that a session calls."""

    may_resume: Callable[[], bool]
    """Returns whether an unfinished index may be finished."""
    changed: Callable[[ProjectIndex], None] | None = None
    """Called after each change of the index."""
    encode: Callable[[ProjectIndex], None] | None = None
    """Makes the vectors of an index that is equal to its files."""
    may_continue: Callable[[], bool] = lambda: True
    """Returns whether this process may go on as it does."""


class WatchSession:
    """One process watching one root; `keep` runs on a thread, `catch_up` on the one that answers."""

    def __init__(
        self,
        project: ProjectIndex,
        stop: threading.Event,
        working: threading.Lock,
        callbacks: SessionCallbacks,
        *,
        leads: bool = True,
    ) -> None:
        self._stop, self._callbacks = stop, callbacks
        self._watched = WatchedIndex(project, working, leads=leads)
        self._updater = IndexUpdater(self._watched, callbacks.may_resume)
        self._checkouts = CheckoutDetector(project.root)
        self._checked_at = 0.0
        self._encoded_at = time.monotonic()
        self._reported_sequence = -1

    @property
    def leads(self) -> bool:
        """Whether this process updates the index."""
        return self._watched.leads

    @property
    def status(self) -> WatchStatus:
        """How the index is kept fresh, without its pending paths."""
        return self._watched.status

    @property
    def scan_seconds(self) -> float:
        """How long the last scan of the whole root took; infinity before the first one."""
        return self._watched.lost_events.scan_seconds

    def pending_paths(self) -> tuple[str, ...]:
        """Return the pending paths in order, the root as a dot, with those that changed up to now."""
        self._watched.take_events()
        return pending_names(self._watched)

    def catch_up(self, project: ProjectIndex) -> list[str]:
        """Apply some pending changes before an answer; return the paths that are left."""
        return catch_up(self._watched, project)

    # The life of a session

    def begin(self) -> None:
        """Start watching and scan everything: a folder is watched before it is listed, so no change is missed."""
        self._watched.start_watching()
        if self.leads:
            self._watched.publish_status()
            self._watched.pending_paths.load(time.monotonic())
            self._updater.update_everything()
        else:
            self._watched.find_changes(self._watched.project)

    def keep(self) -> None:
        """Follow events until the root, the index or this server is gone."""
        while not self._stop.is_set() and self._can_continue():
            self._wait_for_events()
            now = time.monotonic()
            if self.leads:
                self._lead(now)
            else:
                self._follow(now)

    def end(self) -> None:
        """Stop watching; pending paths are saved."""
        self._watched.close()

    def _can_continue(self) -> bool:
        watched = self._watched
        has_leader = self.leads or watch_lease(watched.project.folder).is_taken()
        return has_leader and watched.is_in_place() and self._callbacks.may_continue()

    def _wait_for_events(self) -> None:
        """Add the paths that change."""
        watched, watcher = self._watched, self._watched.watcher
        if watcher is None:
            self._stop.wait(TICK_SECONDS)
            return
        seconds = TICK_SECONDS if watched.pending_paths.pending() or watched.run else SETTINGS_CHECK_SECONDS
        try:
            watcher.wait(seconds, self._stop)
            watched.take_events(STEP_SECONDS)
        except CannotWatch as error:
            watched.poll(str(error))
            watched.add_paths([EVERYWHERE])

    # In a process that follows

    def _follow(self, now: float) -> None:
        """Drop pending paths that the leading process has indexed."""
        if now - self._checked_at < SETTINGS_CHECK_SECONDS:
            return
        self._checked_at = now
        watched = self._watched
        pending = watched.pending_paths.pending().items()
        rested = {path: times for path, times in pending if now - times.last >= FOLLOW_SECONDS}
        with watched.working, contextlib.suppress(DowseError):
            if rested and not watched.scan(watched.project, rested).pending:
                watched.pending_paths.remove(rested)
            self._report_change()
            self._encode_when_quiet(now)

    # In the process that leads

    def _lead(self, now: float) -> None:
        watched = self._watched
        if now - self._checked_at >= SETTINGS_CHECK_SECONDS or watched.has_new_settings():
            self._check_what_no_event_reports(now)
        self._updater.finish_run()
        if watched.run is None and watched.may_try(now):
            self._update_if_due(now)

    def _update_if_due(self, now: float) -> None:
        watched = self._watched
        if watched.must_scan:
            self._updater.update_everything()
        settings, pending = watched.project.settings, watched.pending_paths.pending()
        is_checkout = settings.indexing_strategy == "git" and self._checkouts.has_just_ended(
            now, watched.lost_events.last_event_at
        )
        if paths := due_paths(
            settings, pending, now, has_head_moved=is_checkout, is_searching=watched.is_search_waiting
        ):
            watched.is_search_waiting = False
            self._updater.update(paths)

    def _check_what_no_event_reports(self, now: float) -> None:
        self._checked_at = now
        watched = self._watched
        if watched.has_new_settings():
            self._updater.adopt_settings()
        if self._is_scan_due(now):
            self._updater.find_lost_events()
        whole = watched.project.whole
        if watched.run is None and (whole.has_backlog() or whole.references.has_backlog()):
            watched.must_scan = True  # which starts a process for the words or references that are missing
        if watched.recently_read and now - watched.changed_at >= QUIET_SECONDS:
            paths, watched.recently_read = watched.recently_read, set()
            self._updater.update(dict.fromkeys(paths, ChangeTimes(now, now)))
        self._settle_when_quiet(now)
        if watched.run is None and watched.may_try(now) and watched.project.needs_verification():
            self._updater.start_verification()
        watched.pending_paths.save()
        self._report_change()
        self._encode_when_quiet(now)

    def _is_scan_due(self, now: float) -> bool:
        watched = self._watched
        if watched.run is not None:
            return False
        if watched.project.is_being_updated():
            watched.must_scan = True
            return False
        return watched.lost_events.is_scan_due(now)

    def _settle_when_quiet(self, now: float) -> None:
        """Write the JSON files of the index again, once it is quiet."""
        watched = self._watched
        is_settled = watched.is_settled and watched.project.is_settled()
        if not is_settled and watched.is_quiet(now) and watched.may_try(now):
            with contextlib.suppress(DowseError):
                self._settle()

    def _settle(self) -> None:
        watched = self._watched
        try:
            watched.project.settle()
        except NotWritable as error:
            watched.note_failure(str(error))  # it is not tried every second
            raise
        watched.is_settled = True
        release_memory()  # 70 of the 90 MB that indexing took

    def _report_change(self) -> None:
        """Call `changed` if the index has changed since the last call."""
        project, changed = self._watched.project, self._callbacks.changed
        if changed and (sequence := project.whole.catalog.sequence()) != self._reported_sequence:
            self._reported_sequence = sequence
            changed(project)

    def _encode_when_quiet(self, now: float) -> None:
        """Have missing vectors made once the index is equal to its files."""
        watched, encode = self._watched, self._callbacks.encode
        is_quiet = watched.run is None and watched.is_quiet(now)
        if encode and is_quiet and now - self._encoded_at >= ENCODE_EVERY_SECONDS:
            self._encoded_at = now
            with contextlib.suppress(DowseError, OSError):  # it is tried again, and searches work without vectors
                encode(watched.project)
