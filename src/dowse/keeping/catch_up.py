"""The bounded update of an index before an answer: what a search may wait for, and what it names as pending."""

import time
from collections.abc import Collection

from dowse.errors import DowseError
from dowse.indexes.freshness.pending_paths import ChangeTimes, due_paths
from dowse.indexes.freshness.scan import Drift
from dowse.indexes.freshness.tree_watcher import EVERYWHERE
from dowse.indexes.index import ProjectIndex
from dowse.keeping.watched_index import WatchedIndex

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
    names = _list_pending(watched)
    return names if "." in names or (is_certain and _is_searchable(project)) else [".", *names]


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
    return paths if is_quick and len(paths) <= MAX_CATCH_UP_PATHS and not _has_backlog(project) else {}


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


def _list_pending(watched: WatchedIndex) -> list[str]:
    names = list(pending_names(watched))
    return names if "." in names or not watched.is_scan_imminent() else [".", *names]


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
