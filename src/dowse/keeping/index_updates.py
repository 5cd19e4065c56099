"""Updates of a watched index: compare paths and apply the differences, in this process or in one of its own."""

import contextlib
import time
from collections.abc import Callable

from dowse.errors import DowseError, NotIndexed, NotWritable, StoreDamaged
from dowse.freshness.pending_paths import ChangeTimes
from dowse.freshness.watcher import EVERYWHERE
from dowse.keeping.indexing_run import VERIFY, start_run
from dowse.keeping.watched_index import WatchedIndex
from dowse.types import View

AT_ONCE_FILES = 200
"""More files are left to a process of their own, which starts in 0.4 s and indexes 350 files a second."""


class IndexUpdater:
    """Makes one watched index equal to its files."""

    def __init__(self, watched: WatchedIndex, may_resume: Callable[[], bool]) -> None:
        self._watched, self._may_resume = watched, may_resume
        self._run_paths: dict[str, ChangeTimes] = {}
        """The pending paths that the running process takes care of."""

    def update(self, paths: dict[str, ChangeTimes]) -> None:
        """Compare pending paths with the index and apply the differences, or start a process that does."""
        watched, project = self._watched, self._watched.project
        if project.is_being_updated():  # by another process; files may have changed after it read them
            watched.must_scan = True
            return
        if project.whole.fact("state") != "complete" and not self._may_resume():
            return
        with watched.working:
            try:
                is_applied = self._compare_and_apply(paths)
            except NotIndexed:  # the index has just been deleted
                raise
            except StoreDamaged:
                watched.must_scan = True  # not every folder is watched yet
                self._start_run(paths)
                return
            except DowseError as error:
                watched.note_failure(str(error))
                return
            if not is_applied:
                return
            watched.pending_paths.remove(paths)
            with contextlib.suppress(NotWritable):
                if EVERYWHERE in paths:
                    project.record_check()
                watched.note_success()

    def _compare_and_apply(self, paths: dict[str, ChangeTimes]) -> bool:
        """Apply the differences; return False when a process was started for them instead."""
        watched, project = self._watched, self._watched.project
        if project.whole.has_backlog() or project.whole.references.has_backlog():
            self._start_run(paths)
            return False
        project.whole.refresh()
        drift = watched.scan(project, paths)
        if EVERYWHERE in paths:
            watched.must_scan = False
            if project.whole.fact("device") != watched.device:
                with contextlib.suppress(NotWritable):
                    project.whole.set_fact("device", watched.device)
        if drift.pending > AT_ONCE_FILES:
            project.require_size(drift if EVERYWHERE in paths else project.drift())
        if drift.pending > AT_ONCE_FILES or project.whole.fact("state") != "complete":
            self._start_run(paths)
            return False
        if drift.pending:
            with watched.naming_changes(paths, drift):
                project.apply(drift)
            watched.note_change()
        return True

    def update_everything(self) -> None:
        """Make the index equal to all files now, whatever the strategy: at the start, and after others wrote to it."""
        pending_paths = self._watched.pending_paths
        pending_paths.add([EVERYWHERE], time.monotonic())
        self.update({EVERYWHERE: pending_paths.pending()[EVERYWHERE]})

    def find_lost_events(self) -> None:
        """Scan the whole root, and add what differs to the pending paths."""
        try:
            self._watched.find_changes(self._watched.project)
        except DowseError as error:
            self._watched.note_failure(str(error))

    def adopt_settings(self) -> None:
        """Apply what waits under the old settings, then compare everything under the new ones."""
        if pending := self._watched.pending_paths.pending():
            self.update(pending)
        self._watched.reopen()
        self.update_everything()

    def start_verification(self) -> None:
        """Start a process that compares the content of all files with the index."""
        self._start_run({}, VERIFY)

    def finish_run(self) -> None:
        """Take over the result of a process that has ended."""
        watched, run = self._watched, self._watched.run
        if run is None or run.is_running:
            return
        watched.run = None
        if run.error:
            watched.note_failure(str(run.error))
        elif run.is_complete:
            watched.pending_paths.remove(self._run_paths)
            watched.note_success()
        watched.changed_at = time.monotonic()

    def _start_run(self, paths: dict[str, ChangeTimes], how: str | None = None) -> None:
        project = self._watched.project
        self._watched.run, self._run_paths = start_run(project.root, project.whole.views() or View.PROJECT, how), paths
