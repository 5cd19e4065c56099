"""The time in which a process watches one root, from the first scan until the root, the index or the server goes.

Events become pending paths. The strategy decides when they are compared with the index, and the differences are
applied.
"""

import contextlib
import threading
import time
from collections.abc import Callable

from dowse.errors import CannotWatch, DowseError, NotWritable
from dowse.freshness.git_head import CheckoutDetector
from dowse.freshness.pending_paths import QUIET_SECONDS, ChangeTimes, due_paths
from dowse.freshness.tree_watcher import EVERYWHERE, STEP_SECONDS
from dowse.indexes.index import ProjectIndex
from dowse.keeping.watch_status import watch_lease
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


class WatchSession:
    """One process watching one root; `keep` runs on a thread of its own."""

    def __init__(
        self,
        watched: WatchedIndex,
        stop: threading.Event,
        may_continue: Callable[[], bool],
        changed: Callable[[ProjectIndex], None] | None,
        encode: Callable[[ProjectIndex], None] | None,
    ) -> None:
        """`changed` is called after each change of the index, `encode` when it lacks vectors and is quiet."""
        self._watched, self._stop, self._may_continue = watched, stop, may_continue
        self._changed, self._encode = changed, encode
        self._checkouts = CheckoutDetector(watched.project.root)
        self._checked_at = 0.0
        self._encoded_at = time.monotonic()
        self._reported_sequence = -1

    # The life of a session

    def begin(self) -> None:
        """Start watching and scan everything: a folder is watched before it is listed, so no change is missed."""
        watched = self._watched
        watched.start_watching()
        if watched.leads:
            watched.publish_status()
            watched.pending_paths.load(time.monotonic())
            watched.update_everything()
        else:
            watched.find_changes(watched.project)

    def keep(self) -> None:
        """Follow events until the root, the index or this server is gone."""
        while not self._stop.is_set() and self._can_continue():
            self._wait_for_events()
            now = time.monotonic()
            if self._watched.leads:
                self._lead(now)
            else:
                self._follow(now)

    def _can_continue(self) -> bool:
        watched = self._watched
        has_leader = watched.leads or watch_lease(watched.project.folder).is_taken()
        return has_leader and watched.is_in_place() and self._may_continue()

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
        watched.finish_run()
        if watched.run is None and watched.may_try(now):
            self._update_if_due(now)

    def _update_if_due(self, now: float) -> None:
        watched = self._watched
        if watched.must_scan:
            watched.update_everything()
        settings, pending = watched.project.settings, watched.pending_paths.pending()
        is_checkout = settings.indexing_strategy == "git" and self._checkouts.has_just_ended(
            now, watched.lost_events.last_event_at
        )
        if paths := due_paths(
            settings, pending, now, has_head_moved=is_checkout, is_searching=watched.is_search_waiting
        ):
            watched.is_search_waiting = False
            watched.update(paths)

    def _check_what_no_event_reports(self, now: float) -> None:
        self._checked_at = now
        watched = self._watched
        if watched.has_new_settings():
            watched.adopt_settings()
        if self._is_scan_due(now):
            watched.could_find_changes(watched.project)
        whole = watched.project.whole
        if watched.run is None and (whole.has_backlog() or whole.references.has_backlog()):
            watched.must_scan = True  # which starts a process for the words or references that are missing
        if watched.recently_read and now - watched.changed_at >= QUIET_SECONDS:
            paths, watched.recently_read = watched.recently_read, set()
            watched.update(dict.fromkeys(paths, ChangeTimes(now, now)))
        self._settle_when_quiet(now)
        if watched.run is None and watched.may_try(now) and watched.project.needs_verification():
            watched.start_verification()
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
        project = self._watched.project
        if self._changed and (sequence := project.whole.catalog.sequence()) != self._reported_sequence:
            self._reported_sequence = sequence
            self._changed(project)

    def _encode_when_quiet(self, now: float) -> None:
        """Have missing vectors made once the index is equal to its files."""
        watched = self._watched
        is_quiet = watched.run is None and watched.is_quiet(now)
        if self._encode and is_quiet and now - self._encoded_at >= ENCODE_EVERY_SECONDS:
            self._encoded_at = now
            with contextlib.suppress(DowseError, OSError):  # it is tried again, and searches work without vectors
                self._encode(watched.project)
