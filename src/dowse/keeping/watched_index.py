"""One index that a process watches: its watcher, its pending paths, its status, and its updates."""

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate
from pathlib import Path

from dowse.errors import CannotWatch, DowseError, NotIndexed, NotWritable, StoreDamaged
from dowse.indexes.freshness.pending_paths import ChangeTimes, LostEventDetector, PendingPaths
from dowse.indexes.freshness.scan import Drift
from dowse.indexes.freshness.tree_watcher import EVERYWHERE, TreeWatcher, Watcher
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_log import open_log
from dowse.keeping.indexing_run import IndexingRun, start_run
from dowse.keeping.watch_status import WatchStatus, watch_lease
from dowse.sources.policy import RULE_NAMES
from dowse.system.platform import IS_LINUX
from dowse.types import KINDS, View

AT_ONCE_FILES = 200
"""More files are left to a process of their own, which starts in 0.4 s and indexes 350 files a second."""
SETTLE_SECONDS = 2.0
"""An index is quiet after this long without a change; its JSON files are then written again."""
TAKE_SECONDS = 0.3
"""How long a thread waits for another one that is just taking events."""
RETRY_SECONDS = 30.0
"""Time after a failure before the same work is tried again."""
QUICK_SCAN_FILES = 10_000
SCAN_WAIT_SECONDS = 1.0
"""A search may wait this long for a scan: the last one took no longer or, before the first, the index has up to this many
files, which take 0.3 s."""
WAIT_SECONDS = 1.5
"""How long a process leaves changes to the one that came first, which need not compute everything twice."""


def start_watcher(root: Path) -> Watcher:
    """Watch a root from now on. Raise CannotWatch where the system gives no events."""
    if not IS_LINUX:  # these are watched by watchfiles, which was run on Linux alone
        return TreeWatcher(root)
    from dowse.indexes.freshness.folder_watcher import FolderWatcher

    return FolderWatcher(root)


class WatchedIndex:
    """An index with its watcher and its pending paths, shared by the thread that indexes and the one that answers."""

    def __init__(self, project: ProjectIndex, may_resume: Callable[[], bool]) -> None:
        self.project = project
        self._may_resume = may_resume
        self._lease = watch_lease(project.folder)
        self.is_first = False
        """Other processes leave changes to this one for a moment."""
        self.working = threading.RLock()
        """Held while pending paths are compared and applied."""
        self._why_polling = ""
        self._last_error: str | None = None
        self.pending_paths = PendingPaths(project.folder)
        self.watcher: Watcher | None = None
        self._taking_events = threading.Lock()
        """Held from the moment when events leave the watcher until their paths are pending."""
        self.lost_events = LostEventDetector(project.root)
        self.run: IndexingRun | None = None
        """A process that updates the index for us, while it runs."""
        self._run_paths: dict[str, ChangeTimes] = {}
        """The pending paths that it takes care of."""
        self.is_search_waiting = False
        """A search has found pending paths that it could not apply itself."""
        self.is_settled = True
        self.changed_at = 0.0
        self._failed_at = -RETRY_SECONDS
        self._backlog_at: float | None = None
        """The time at which words or references were found to be missing."""
        self._root_identity = _identity(project.root)
        self._has_old_settings = False
        """The index does not have what new settings ask for."""
        self._has_new_rules = False
        """The rules for files have changed, and something is pending since then."""

    # Watching

    def begin(self) -> None:
        """Start watching. Everything has to be compared: a folder is watched before it is listed, so no change is missed."""
        self.start_watching()
        self.try_to_be_first()
        if self.is_first:
            self.pending_paths.load(time.monotonic())
        self.pending_paths.add([EVERYWHERE], time.monotonic())

    def try_to_be_first(self) -> None:
        """Become the process that acts at once, unless another one is; the lease ends with its owner."""
        if self._lease.is_held:
            return
        try:
            self.is_first = self._lease.try_acquire()
        except NotWritable:  # nobody can take it
            self.is_first = not self._lease.is_taken()

    @property
    def wait_seconds(self) -> float:
        """How long pending paths are left to another process."""
        return 0.0 if self.is_first else WAIT_SECONDS

    def start_watching(self) -> None:
        """Start the watcher, or poll where nothing can be watched."""
        try:
            self.watcher = start_watcher(self.project.root)
        except CannotWatch as error:
            self.poll(str(error))

    def poll(self, why: str) -> None:
        """Stop watching and scan regularly instead."""
        if self.watcher is not None:
            self.watcher.close()
        self.watcher = None
        self.lost_events.poll()
        self._why_polling = why

    def take_events(self, age_seconds: float = 0.0) -> bool:
        """Add the paths of all changes up to now; return whether no change can be missing.

        None can be missing where the watcher is exact, the root is still there, and no other machine writes to it.
        """
        watcher = self.watcher
        if watcher is None or not self._taking_events.acquire(timeout=TAKE_SECONDS):
            return False
        try:
            self.add_paths(watcher.drain(), age_seconds)
        except CannotWatch:
            return False
        finally:
            self._taking_events.release()
        return watcher.is_exact and not self.lost_events.has_remote_writers and self.is_in_place()

    def add_paths(self, paths: Iterable[str], age_seconds: float = 0.0) -> None:
        """Add paths that may have changed; they changed at most `age_seconds` ago."""
        paths = list(paths)
        if not paths:
            return
        self.lost_events.note_events(len(paths))
        names = {path.rpartition("/")[2] for path in paths}
        if has_new_rules := not names.isdisjoint((*RULE_NAMES, ".gitmodules")):
            paths.append(EVERYWHERE)  # the set of ignored files may have changed
        self.pending_paths.add(paths, self.lost_events.last_event_at - age_seconds)
        self._has_new_rules = self._has_new_rules or has_new_rules
        self._has_old_settings = self._has_old_settings or ".git" in names  # the repository has rules elsewhere

    def watch_folder(self, folder: str) -> None:
        """Watch a folder that is about to be listed, so that no change in it is missed."""
        if self.watcher is not None:
            try:
                self.watcher.extend([folder])
            except CannotWatch as error:
                self.poll(str(error))

    def is_in_place(self) -> bool:
        """Return whether the root is still the same folder, and its index still there."""
        return _identity(self.project.root) == self._root_identity and self.project.is_in_place()

    def close(self) -> None:
        """Stop watching, save the pending paths and close the index."""
        if self.run is not None:
            self.run.stop()
        if self.watcher is not None:
            self.watcher.close()
        with contextlib.suppress(DowseError, OSError):
            if not self.is_settled:
                self.project.settle()
        if self.is_first:
            self.pending_paths.save()
        self._lease.release()
        self.project.close()

    # Updates

    def compare(self, project: ProjectIndex, paths: Mapping[str, ChangeTimes]) -> tuple[Drift, dict[str, ChangeTimes]]:
        """Compare pending paths with the index, and watch the folders among them; files that differ are pending instead.

        Return how they differ, and these files as pending paths. Refuse a root whose disk is not mounted.
        """
        started = time.monotonic()
        drift = project.drift_at(paths, self.watch_folder)
        if EVERYWHERE in paths:
            self.lost_events.note_scan(time.monotonic() - started)
            project.require_mounted(drift)
        return drift, self.pending_paths.replace(paths, drift.paths, time.monotonic())

    def compare_everything(self, project: ProjectIndex) -> bool:
        """Compare all files, so that those that differ are pending by name; return whether that was possible."""
        try:
            with self.working:
                self.compare(project, self._everywhere())
        except (DowseError, OSError) as error:
            self.note_failure(str(error))
            return False
        return True

    def name_files(self, project: ProjectIndex, most: int | None = None) -> None:
        """Compare the folders among the pending paths, the root too, so that the files in them that differ are named.

        This is done once: where too many differ for that, the root is pending again. Nothing is done if more files than
        `most` are in the folders.
        """
        if not self.pending_paths.has_added or project.is_being_updated():
            return
        added = self.pending_paths.take_added()
        folders = {path: times for path, times in added.items() if project.is_folder(path)}
        is_possible = most is None or not _has_more_files([project.root / path for path in folders], most)
        if folders and is_possible and self.working.acquire(timeout=SCAN_WAIT_SECONDS):
            try:
                self.compare(project, self._everywhere() if EVERYWHERE in folders else folders)
                return
            except (DowseError, OSError) as error:
                self.note_failure(str(error))
            finally:
                self.working.release()
        if folders:  # they are compared later
            self.pending_paths.has_added = True

    def apply(self, project: ProjectIndex, drift: Drift, named: Mapping[str, ChangeTimes]) -> None:
        """Apply a drift, or a part of one; its files are not pending any more. By old settings nothing is stored."""
        if drift.pending:
            if project.apply(drift) is None:
                return
            self.changed_at, self.is_settled = time.monotonic(), False
        self.pending_paths.remove({path: named[path] for path in drift.paths if path in named})
        self.note_success()

    def update(self, paths: dict[str, ChangeTimes]) -> None:
        """Compare pending paths with the index and apply the differences, or start a process that does."""
        project = self.project
        if project.is_being_updated():  # by another process; files may have changed after it read them
            self.pending_paths.add([EVERYWHERE], time.monotonic())
        elif project.whole.fact("state") == "complete" or self._may_resume():
            with self.working:
                try:
                    # A scan of the root also compares what became pending while this thread waited.
                    self._compare_and_apply(project, self._everywhere() if EVERYWHERE in paths else paths)
                except NotIndexed:  # the index has just been deleted
                    raise
                except StoreDamaged:
                    self.pending_paths.add([EVERYWHERE], time.monotonic())  # not every folder is watched yet
                    self.start_run({})
                except DowseError as error:
                    self.note_failure(str(error))

    def _compare_and_apply(self, project: ProjectIndex, paths: dict[str, ChangeTimes]) -> None:
        if project.whole.has_backlog() or project.whole.references.has_backlog():
            self.start_run({})  # the paths are compared after it, for their folders have to be watched
            return
        project.whole.refresh()
        drift, named = self.compare(project, paths)
        if EVERYWHERE in paths:
            with contextlib.suppress(NotWritable):
                project.record_device()
        if drift.pending > AT_ONCE_FILES:
            project.require_size(drift if EVERYWHERE in paths else project.drift())
        if drift.pending > AT_ONCE_FILES or project.whole.fact("state") != "complete":
            self.start_run(named)
            return
        self.apply(project, drift, named)
        if EVERYWHERE in paths:
            with contextlib.suppress(NotWritable):
                project.record_check()

    def update_everything(self) -> None:
        """Compare all files: at the start, and after the settings changed.

        The process that came first makes the index equal to them, whatever the strategy; the others know what is pending.
        """
        self.pending_paths.add([EVERYWHERE], time.monotonic())
        if self.is_first:
            self.update(self._everywhere())
        else:
            self.compare_everything(self.project)

    def _everywhere(self) -> dict[str, ChangeTimes]:
        """Return the root and all pending paths, which a scan of the root compares, too."""
        return {EVERYWHERE: ChangeTimes(0.0, 0.0), **self.pending_paths.pending()}

    def add_missing_words(self, now: float) -> None:
        """Start a process for words or references that are missing, unless another process does so in a moment."""
        whole = self.project.whole
        if self.run is not None or not (whole.has_backlog() or whole.references.has_backlog()):
            self._backlog_at = None
            return
        self._backlog_at = self._backlog_at or now
        if now - self._backlog_at >= self.wait_seconds and self.may_try(now):
            self.update({})

    def start_run(self, paths: dict[str, ChangeTimes], how: str | None = None) -> None:
        """Start a process that takes care of some pending paths."""
        project = self.project
        views = project.whole.views() or View.PROJECT
        self.run, self._run_paths = start_run(project.root, views, how, type(project)), paths

    def finish_run(self) -> None:
        """Take over the result of a process that has ended."""
        run = self.run
        if run is None or run.is_running:
            return
        self.run = None
        if run.error:
            self.note_failure(str(run.error))
        elif run.is_complete:
            self.pending_paths.remove(self._run_paths)
            self.note_success()
        self.changed_at = time.monotonic()

    # Settings

    def adopt_settings(self) -> None:
        """Make the index equal to its files under the settings as they are now."""
        self._has_old_settings = True
        self.project.close()
        self.project = type(self.project)(self.project.root)
        self.update_everything()
        self._has_new_rules = True  # not all of it may have been applied
        self._has_old_settings = False

    def has_new_settings(self) -> bool:
        """Return whether a settings file changed since everything was compared."""
        return self._has_old_settings or self.project.has_new_settings()

    @property
    def due_until(self) -> float:
        """The time up to which changes are due, whatever the strategy: any time while new rules are to be applied."""
        self._has_new_rules = self._has_new_rules and bool(self.pending_paths.pending())
        return math.inf if self._has_new_rules else -math.inf

    # State

    def is_scan_quick(self, project: ProjectIndex) -> bool:
        """Return whether a scan of the whole root takes no longer than a search may wait, judged by the last one."""
        if self.lost_events.scan_seconds is not None:
            return self.lost_events.scan_seconds <= SCAN_WAIT_SECONDS
        try:
            return sum(project.whole.totals(kind).documents for kind in KINDS) <= QUICK_SCAN_FILES
        except DowseError:  # the scan meets the same problem
            return True

    def is_quiet(self, now: float) -> bool:
        """Return whether nothing is pending and the index has not changed for a while."""
        return not self.pending_paths.pending() and now - self.changed_at >= SETTLE_SECONDS

    def may_try(self, now: float) -> bool:
        """Return whether the last failure is long enough ago to try again."""
        return now - self._failed_at >= RETRY_SECONDS

    def note_failure(self, problem: str) -> None:
        """Report a failure, once in the log, and wait before the next attempt."""
        if problem != self._last_error:
            open_log(self.project.folder).error("keeping fresh: %s", problem)
        self._failed_at = time.monotonic()
        self._last_error = problem

    def note_success(self) -> None:
        """Report that the last attempt succeeded."""
        self._failed_at = time.monotonic() - RETRY_SECONDS
        self._last_error = None

    @property
    def status(self) -> WatchStatus:
        """How the index is kept fresh."""
        why, seconds = self._why_polling, self.lost_events.poll_seconds
        if self.lost_events.scan_seconds is None:
            why = "the first scan has not ended"
        elif self.watcher and seconds:
            why = f"this file system may not report all changes; all files are also checked every {seconds:.0f} s"
        strategy = self.project.settings.indexing_strategy
        return WatchStatus("watching" if self.watcher else "polling", strategy, why, last_error=self._last_error)


def _has_more_files(folders: Iterable[Path], most: int) -> bool:
    """Return whether there are more files and folders than so many below some folders."""
    below = (len(names) + len(files) for folder in folders for _, names, files in os.walk(folder))
    return any(count > most for count in accumulate(below))


def _identity(root: Path) -> tuple[int, int] | None:
    """Return the device and inode of a root; None where there is none."""
    try:
        stat = root.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
