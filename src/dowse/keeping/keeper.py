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

from dowse.errors import CannotWatch, DowseError, NotIndexed, NotWritable
from dowse.indexes.freshness.git_head import CheckoutDetector
from dowse.indexes.freshness.pending_paths import QUIET_SECONDS, ChangeTimes, due_paths
from dowse.indexes.freshness.scan import Drift
from dowse.indexes.freshness.tree_watcher import EVERYWHERE, STEP_SECONDS
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_log import open_log
from dowse.keeping.indexing_run import VERIFY
from dowse.keeping.watch_status import WatchStatus, read_watch_status
from dowse.keeping.watched_index import RETRY_SECONDS, WatchedIndex
from dowse.system.platform import release_memory
from dowse.types import KINDS

MAX_CATCH_UP_PATHS = 1000
"""Paths compared before an answer: 0.06 ms each. With more pending, none is compared."""
MAX_CATCH_UP_FILES = 20
MAX_CATCH_UP_BYTES = 2_000_000
"""Files, and their bytes, indexed before an answer; the answer names the rest as pending."""
CATCH_UP_SECONDS = 0.3
"""How long an answer waits for other work on the index to end."""


def catch_up(watched: WatchedIndex, project: ProjectIndex) -> list[str]:
    """Apply pending changes through the answering thread's own opening of the index; return the paths left.

    The strategy decides which changes a search applies; the limits above bound how many. The root is among the paths
    left when some change may be unknown, or known and not searchable yet.
    """
    is_certain = watched.take_events() or _scan_if_quick(watched, project)
    if _quick_paths(watched, project) and watched.run is None and watched.working.acquire(timeout=CATCH_UP_SECONDS):
        try:
            if paths := _quick_paths(watched, project):
                _apply_first_changes(watched, project, paths)
        except (DowseError, OSError) as error:  # the answer uses the index as it is, and names what is missing
            watched.note_failure(str(error))
        finally:
            watched.working.release()
    watched.is_search_waiting = bool(_due_paths(watched, project))
    _wait_for_scan(watched)
    names = list(pending_names(watched))
    is_known = "." in names or (not watched.is_scan_imminent() and is_certain and _is_searchable(project))
    return names if is_known else [".", *names]


def is_far_behind(pending: Collection[str]) -> bool:
    """Return whether so much is pending that the files which changed are searched directly."""
    return "." in pending or len(pending) > MAX_CATCH_UP_FILES


def pending_names(watched: WatchedIndex) -> tuple[str, ...]:
    """Return the pending paths in order, the root as a dot."""
    return tuple(sorted(path or "." for path in watched.pending_paths.pending()))


def _scan_if_quick(watched: WatchedIndex, project: ProjectIndex) -> bool:
    """Scan the root where events may be missing, unless that takes long; return whether it was scanned."""
    is_possible = watched.lost_events.is_scan_quick and watched.is_in_place()
    return is_possible and watched.could_find_changes(project)


def _is_searchable(project: ProjectIndex) -> bool:
    """Return whether the words of all documents can be searched: another process may still be writing some."""
    try:
        return project.whole.refresh()
    except (DowseError, OSError):  # the search meets the same problem, and reports it
        return False


def _has_backlog(project: ProjectIndex) -> bool:
    """Return whether the words of so many documents are missing that a process of its own adds them."""
    try:
        return project.whole.has_backlog()
    except (DowseError, OSError):  # as above
        return False


def _due_paths(watched: WatchedIndex, project: ProjectIndex) -> dict[str, ChangeTimes]:
    return due_paths(project.settings, watched.pending_paths.pending(), time.monotonic(), is_searching=True)


def _quick_paths(watched: WatchedIndex, project: ProjectIndex) -> dict[str, ChangeTimes]:
    """Return the paths that are due; none where comparing them takes longer than an answer may wait."""
    paths = _due_paths(watched, project)
    is_quick = EVERYWHERE not in paths or watched.lost_events.is_scan_quick
    is_possible = paths and is_quick and len(paths) <= MAX_CATCH_UP_PATHS and not _has_backlog(project)
    return paths if is_possible else {}


def _apply_first_changes(watched: WatchedIndex, project: ProjectIndex, paths: dict[str, ChangeTimes]) -> None:
    drift = watched.scan(project, paths)
    first = limit_drift(drift)
    if first.pending:
        with watched.naming_changes(paths, drift):
            project.apply(first)
        watched.recently_read.update(entry.path for entry in (*first.new, *first.changed))
        watched.note_change()
        watched.note_success()
    if first.pending == drift.pending:
        watched.pending_paths.remove(paths)


def _wait_for_scan(watched: WatchedIndex) -> None:
    """Wait a moment for a scan that is about to happen; it is quick where there are few files."""
    deadline = time.monotonic() + CATCH_UP_SECONDS
    while watched.is_scan_imminent() and watched.run is None and time.monotonic() < deadline:
        time.sleep(0.01)


def limit_drift(drift: Drift) -> Drift:
    """Return the part of a drift that may be applied before an answer: removed files first, then small files."""
    part = Drift(gone=drift.gone[:MAX_CATCH_UP_FILES], unchanged=drift.unchanged, skipped=drift.skipped)
    files_left, bytes_left = MAX_CATCH_UP_FILES - len(part.gone), MAX_CATCH_UP_BYTES
    for entry in sorted((*drift.changed, *drift.new), key=lambda entry: entry.stat.size):
        files_left, bytes_left = files_left - 1, bytes_left - entry.stat.size
        if files_left < 0 or bytes_left < 0:
            break
        (part.changed if entry in drift.changed else part.new).append(entry)
    return part


INDEX_CHECK_SECONDS = 1.0
"""Time between two checks whether there is an index to keep fresh."""
SETTINGS_CHECK_SECONDS = 1.0
"""Time between two checks of what no event reports: settings, the state of the index."""
TICK_SECONDS = 0.05
"""The longest wait for events while paths are pending, or where nothing can be watched."""
ENCODE_EVERY_SECONDS = 5.0
"""Time between two requests to encode what lacks vectors, once nothing changes any more; only new chunks are asked for."""

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
        """`changed` is called after each change of the index, `encode` when it lacks vectors and is quiet."""
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
        """The index while it is watched, from the end of its first scan."""
        self._is_beginning = False
        """The first scan has begun."""
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
        """Apply some pending changes before an answer; return the paths that are left."""
        watched = self._started(project)
        unknown = ["."] if project.has_catalog else []
        pending = catch_up(watched, project) if watched else unknown
        is_slow = watched is not None and watched.lost_events.scan_seconds > SCAN_WAIT_SECONDS
        may_wait = "." in pending and _has_quick_scan(project) and not is_slow
        # Changes that are being applied may come from a scan before the last event: with them the index is not equal.
        if not may_wait or not self._working.acquire(timeout=SCAN_WAIT_SECONDS):
            return pending
        try:
            return [] if _is_current(project) else pending
        finally:
            self._working.release()

    def _started(self, project: ProjectIndex) -> WatchedIndex | None:
        """Return the watched index; wait a moment until it is watched, unless the first scan takes longer."""
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
            if self._is_beginning or is_starting:
                status = replace(status, mode="watching", why="the first scan has not ended")
            return replace(status, last_error=self._last_error or status.last_error)
        watched.take_events()
        return replace(watched.status, pending=_differing(project, pending_names(watched)))

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
        watched = WatchedIndex(project, self._working, self._may_resume)
        try:
            self._is_beginning = True
            watched.begin()
            self._watched, self._last_error, self._is_beginning = watched, None, False
            self._follow_events(watched)
        finally:
            self._watched, self._is_beginning = None, False
            watched.close()

    def _follow_events(self, watched: WatchedIndex) -> None:
        checkouts = CheckoutDetector(self.root)
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
        if watched.run is None and watched.project.is_being_updated():
            watched.must_scan = True
        elif watched.run is None and watched.lost_events.is_scan_due(now):
            watched.could_find_changes(watched.project)
        watched.add_missing_words(now)
        if watched.recently_read and now - watched.changed_at >= QUIET_SECONDS:
            paths, watched.recently_read = watched.recently_read, set()
            watched.update(dict.fromkeys(paths, ChangeTimes(now, now)))
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


def _update_if_due(watched: WatchedIndex, checkouts: CheckoutDetector, now: float) -> None:
    if watched.must_scan and not watched.project.is_being_updated():
        watched.compare_everything()
    settings, pending, wait = watched.project.settings, watched.pending_paths.pending(), watched.wait_seconds
    last_event_at = watched.lost_events.last_event_at + wait
    is_checkout = settings.indexing_strategy == "git" and checkouts.has_just_ended(now, last_event_at)
    is_searching = watched.is_search_waiting
    if paths := due_paths(settings, pending, now - wait, has_head_moved=is_checkout, is_searching=is_searching):
        watched.is_search_waiting = False
        watched.update(paths)


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
