"""The thread that keeps one index equal to its files for as long as a server runs, and the part that a search waits for.

Every server watches its files and may update their index. The one that came first does so at once; the others
compare what is still pending a moment later, so that no change waits for a process that does not come to run.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from dowse.errors import CannotWatch, DowseError, NotIndexed, NotWritable, StoreBusy
from dowse.indexes.freshness.git_head import CheckoutDetector
from dowse.indexes.freshness.pending_paths import ChangeTimes, due_paths
from dowse.indexes.freshness.scan import Drift
from dowse.indexes.freshness.tree_watcher import EVERYWHERE, STEP_SECONDS
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_log import open_log
from dowse.keeping.indexing_run import VERIFY
from dowse.keeping.watch_status import MAX_COMPARED_PATHS, WatchStatus, is_much, pending_names, read_watch_status
from dowse.keeping.watched_index import RETRY_SECONDS, SCAN_WAIT_SECONDS, WatchedIndex
from dowse.store.storage_layout import READ_WAIT_SECONDS
from dowse.system.platform import release_memory

MAX_CATCH_UP_FILES = 20
MAX_CATCH_UP_BYTES = 2_000_000
"""Files, and their bytes, indexed before an answer; the answer names the rest as pending."""
CATCH_UP_SECONDS = 0.3
"""How long an answer waits for other work on the index to end."""
INDEX_CHECK_SECONDS = 1.0
"""Time between two checks whether there is an index to keep fresh."""
SETTINGS_CHECK_SECONDS = 1.0
"""Time between two checks of what no event reports: settings, the state of the index."""
TICK_SECONDS = 0.05
"""The longest wait for events while paths are pending, or where nothing can be watched."""
ENCODE_EVERY_SECONDS = 5.0
"""Time between two requests to encode what lacks vectors, once nothing changes any more; only new chunks are asked for."""

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
        """`changed` is called after each change of the index, `encode` when it lacks vectors and is quiet."""
        self.root = root
        self._index_type = index_type
        self._changed = changed
        self._encode = encode
        self._may_resume = may_resume
        """Returns whether an unfinished index may be finished: not after the user has stopped indexing."""
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._watched: WatchedIndex | None = None
        """The index while it is watched."""
        self._last_error: str | None = None
        self._thread = threading.Thread(target=self._keep, daemon=True, name=f"keeps {root.name}")
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; pending paths are saved."""
        self._stop.set()
        self._wake.set()
        self._thread.join(5)

    # Before an answer, on the thread that answers

    def catch_up(self, project: ProjectIndex) -> list[str]:
        """Apply some pending changes before an answer; return the paths that are left.

        The strategy decides which changes a search applies; the limits above bound how many. The root is among the paths
        left when some change may be unknown, or known and not searchable yet.
        """
        watched = self._started(project)
        if watched is None or not project.exists:  # nobody has asked for this view, or a process is just making it
            project.has_pending = project.has_catalog
            return ["."] if project.has_catalog else []
        is_certain = _note_changes(watched, project)
        if _due_paths(watched, project) and watched.run is None and watched.working.acquire(timeout=CATCH_UP_SECONDS):
            try:
                with project.whole.waiting(READ_WAIT_SECONDS):
                    _apply_first_changes(watched, project)
            except StoreBusy:  # the answer uses the index as it is, and names what is missing
                pass
            except (DowseError, OSError) as error:  # as above
                watched.note_failure(str(error))
            finally:
                watched.working.release()
        watched.is_search_waiting = bool(_due_paths(watched, project))
        names = list(pending_names(project, watched.pending_paths.pending()))
        pending = names if "." in names or (is_certain and _is_searchable(project)) else [".", *names]
        project.has_pending = bool(pending)
        return pending

    def _started(self, project: ProjectIndex) -> WatchedIndex | None:
        """Return the watched index; wait a moment until it is watched."""
        deadline = time.monotonic() + CATCH_UP_SECONDS
        while self._watched is None and project.has_catalog and time.monotonic() < deadline:
            self._wake.set()  # the index may just have been created
            time.sleep(0.01)
        return self._watched

    def watch_status(self, project: ProjectIndex) -> WatchStatus:
        """Return how the index is kept fresh now."""
        watched = self._started(project)
        if watched is None:
            status = read_watch_status(project)
            return replace(status, last_error=self._last_error or status.last_error)
        _note_changes(watched, project)
        return replace(watched.status, pending=pending_names(project, watched.pending_paths.pending()))

    # On the thread that keeps the index, from the first scan until the root, the index or the server goes

    def _keep(self) -> None:
        while not self._stop.is_set():
            try:
                self._keep_while_possible()
            except NotIndexed:
                pass
            except DowseError as error:
                self._report_and_wait(str(error))
            except Exception as error:  # watching begins again, with a full scan
                self._report_and_wait(f"{type(error).__name__}: {error}")
            self._wake.wait(INDEX_CHECK_SECONDS)
            self._wake.clear()

    def _keep_while_possible(self) -> None:
        if not self.root.is_dir() or not self._index_type.folder_of(self.root).is_dir():
            return
        project = self._index_type(self.root)
        if not project.has_catalog:
            return
        watched = WatchedIndex(project, self._may_resume)
        try:
            checkouts = CheckoutDetector(self.root)  # before the first comparison, during which a commit may end
            watched.begin()
            self._watched, self._last_error = watched, None
            watched.update_everything()
            self._follow_events(watched, checkouts)
        finally:
            self._watched = None
            watched.close()

    def _follow_events(self, watched: WatchedIndex, checkouts: CheckoutDetector) -> None:
        checked_at, self._encoded_at, self._reported_sequence = 0.0, time.monotonic(), -1
        while not self._stop.is_set() and watched.is_in_place():
            self._wait_for_events(watched)
            now = time.monotonic()
            if now - checked_at >= SETTINGS_CHECK_SECONDS or watched.has_new_settings():
                checked_at = now
                self._check_what_no_event_reports(watched, now)
            watched.finish_run()
            if watched.run is None and watched.may_try(now):
                _update_if_due(watched, checkouts, now)

    def _wait_for_events(self, watched: WatchedIndex) -> None:
        """Add the paths that change."""
        if watched.watcher is None:
            self._stop.wait(TICK_SECONDS)
            return
        seconds = TICK_SECONDS if watched.pending_paths.pending() or watched.run else SETTINGS_CHECK_SECONDS
        try:
            watched.watcher.wait(seconds, self._stop)
            watched.take_events(STEP_SECONDS)
        except CannotWatch as error:
            watched.poll(str(error))
            watched.add_paths([EVERYWHERE])

    def _check_what_no_event_reports(self, watched: WatchedIndex, now: float) -> None:
        watched.try_to_be_first()
        if watched.has_new_settings():
            watched.adopt_settings()
        if watched.run is None and watched.project.is_being_updated():  # files may change after they were read there
            watched.pending_paths.add([EVERYWHERE], now)
        elif watched.run is None and watched.lost_events.is_scan_due(now):
            watched.compare_everything(watched.project)
        watched.add_missing_words(now)
        _settle_when_quiet(watched, now)
        may_verify = watched.is_first and watched.run is None and watched.may_try(now)
        if may_verify and watched.project.needs_verification():
            watched.start_run({}, VERIFY)
        if watched.is_first:
            watched.pending_paths.save()
        self._report_change(watched.project)
        self._encode_when_quiet(watched, now)

    def _report_change(self, project: ProjectIndex) -> None:
        """Call `changed` if the index has changed since the last call."""
        if self._changed and (sequence := project.whole.catalog.sequence()) != self._reported_sequence:
            self._reported_sequence = sequence
            self._changed(project)

    def _encode_when_quiet(self, watched: WatchedIndex, now: float) -> None:
        """Have missing vectors made once the index is equal to its files."""
        is_quiet = watched.run is None and watched.is_quiet(now)
        if self._encode and is_quiet and now - self._encoded_at >= ENCODE_EVERY_SECONDS:
            self._encoded_at = now
            with contextlib.suppress(DowseError, OSError):  # it is tried again, and searches work without vectors
                self._encode(watched.project)

    def _report_and_wait(self, problem: str) -> None:
        self._last_error = problem
        with contextlib.suppress(DowseError, OSError):
            open_log(self._index_type.folder_of(self.root)).error("keeping fresh: %s", problem)
        self._stop.wait(RETRY_SECONDS)


def is_far_behind(pending: Collection[str]) -> bool:
    """Return whether so much is pending that the files which changed are searched directly."""
    return "." in pending or len(pending) > MAX_CATCH_UP_FILES


def limit_drift(drift: Drift) -> Drift:
    """Return the part of a drift that may be applied before an answer: removed files first, then small files."""
    part = Drift(drift.views, gone=drift.gone[:MAX_CATCH_UP_FILES])
    files_left, bytes_left = MAX_CATCH_UP_FILES - len(part.gone), MAX_CATCH_UP_BYTES
    for entry in sorted((*drift.changed, *drift.new), key=lambda entry: entry.stat.size):
        files_left, bytes_left = files_left - 1, bytes_left - entry.stat.size
        if files_left < 0 or bytes_left < 0:
            break
        (part.changed if entry in drift.changed else part.new).append(entry)
    return part


def _note_changes(watched: WatchedIndex, project: ProjectIndex) -> bool:
    """Make every file that has changed up to now a pending path, if that is quick; return whether none can be missing."""
    is_certain = watched.take_events() and not watched.has_new_settings()
    if is_certain and EVERYWHERE not in watched.pending_paths.pending():
        watched.name_files(project, MAX_COMPARED_PATHS)
        return True
    is_possible = watched.run is None and watched.is_in_place() and watched.is_scan_quick(project)
    if not is_possible or not watched.working.acquire(timeout=SCAN_WAIT_SECONDS):
        return False
    try:
        return watched.compare_everything(project)
    finally:
        watched.working.release()


def _is_searchable(project: ProjectIndex) -> bool:
    """Return whether all documents can be searched: another process may still be writing some, or their words."""
    try:
        is_complete = project.whole.fact("state") == "complete" and not project.is_being_updated()
        return is_complete and project.whole.refresh()
    except (DowseError, OSError):  # the search meets the same problem, and reports it
        return False


def _due_paths(watched: WatchedIndex, project: ProjectIndex) -> dict[str, ChangeTimes]:
    pending = watched.pending_paths.pending()
    if watched.has_new_settings():  # which count with the next query
        return pending
    now, checked_out = time.monotonic(), watched.due_until
    return due_paths(project.settings, pending, now, checked_out=checked_out, is_searching=True)


def _apply_first_changes(watched: WatchedIndex, project: ProjectIndex) -> None:
    """Compare the paths that are due, and apply some of the changes; nothing where that would take long."""
    paths = _due_paths(watched, project)
    if not is_much(project, paths) and not project.whole.has_backlog():
        drift, named = watched.compare(project, paths)
        watched.apply(project, limit_drift(drift), named)


def _update_if_due(watched: WatchedIndex, checkouts: CheckoutDetector, now: float) -> None:
    project, pending, wait = watched.project, watched.pending_paths.pending(), watched.wait_seconds
    checked_out = watched.due_until
    if project.settings.indexing_strategy == "git":
        poll_seconds = 0.0 if watched.watcher else watched.lost_events.poll_seconds
        checked_out = max(checked_out, checkouts.last_change(now) + poll_seconds)
    paths = due_paths(
        project.settings, pending, now - wait, checked_out=checked_out, is_searching=watched.is_search_waiting
    )
    if paths:
        watched.is_search_waiting = False
        watched.update(paths)
    elif project.settings.indexing_strategy != "realtime":
        watched.name_files(project)


def _settle_when_quiet(watched: WatchedIndex, now: float) -> None:
    """Write the JSON files of the index again, once it is quiet."""
    is_settled = watched.is_settled and (watched.project.is_settled() or not watched.is_first)
    if is_settled or not watched.is_quiet(now) or not watched.may_try(now):
        return
    try:
        watched.project.settle()
    except NotWritable as error:
        watched.note_failure(str(error))  # it is not tried every second
    except DowseError:
        pass
    else:
        watched.is_settled = True
        release_memory()  # 70 of the 90 MB that indexing took
