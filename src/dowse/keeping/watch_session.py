"""From the moment a process begins to watch a project until it cannot go on.

Events become pending paths, the strategy says when they are looked at, a look finds what differs, and
that is applied: here when it is little, in a process of its own when it is much.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dowse.errors import CannotWatch, DowseError, Failed, NotIndexed, StoreDamaged
from dowse.freshness.filesystems import poll_seconds
from dowse.freshness.git_head import Head, head_of
from dowse.freshness.pending_paths import PendingPaths, Times
from dowse.freshness.scan import Drift
from dowse.freshness.strategies import QUIET_SECONDS, due
from dowse.freshness.suspend_detection import SuspendDetector
from dowse.freshness.watcher import EVERYWHERE, STEP_SECONDS, Watcher
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_log import open_log
from dowse.keeping.indexing_run import VERIFY, IndexingRun, start_run
from dowse.keeping.watch_status import WatchMode, WatchStatus, tell_watch, untell_watch, watch_lease
from dowse.platform import release_memory
from dowse.sources.policy import RULE_NAMES

LOOK_SECONDS = 1.0
"""How often settings, git's HEAD, the root and the clock are looked at."""
TICK_SECONDS = 0.05
"""The same while something is pending."""
AT_ONCE_FILES = 200
"""More are left to a process of their own, which starts in 0.4 s and indexes 350 files a second."""
ASKED_PATHS = 1000
"""What is looked at before an answer: 0.06 ms a path."""
ASKED_FILES = 20
ASKED_SECONDS = 0.3
ASKED_BYTES = 2_000_000
"""What is indexed before an answer; the rest is named as pending."""
SETTLE_SECONDS = 2.0
"""After so long without a change the JSON files are renewed."""
INSURANCE_SECONDS = 10.0
INSURANCE_EVERY_SECONDS = 300.0
"""Events may be lost without a word. So, once it is quiet after some came, everything is looked at once
more, at most every five minutes: 0.35 s on 10,000 files."""
STORM_HINTS = 200
"""After so many, events were probably lost: everything is looked at as soon as it is quiet."""
RETRY_SECONDS = 30.0
"""How long a failure rests before the same is tried again."""
FOLLOW_SECONDS = 1.5
"""How long the process that leads may take for what happened; then it is looked whether it is done."""
HEAD_SECONDS = 5.0
"""How long after HEAD was moved pending files belong to that: a checkout of 2,000 files takes a second."""
POLL_SECONDS = 5.0
"""How often everything is looked at where nothing can be watched."""
MEANING_SECONDS = 5.0
"""How often it is looked whether vectors are missing, once nothing changes any more; a question for new chunks alone."""


class SessionCallbacks(NamedTuple):
    """What a session wants to know, and whom it tells."""

    may_resume: Callable[[], bool]
    changed: Callable[[ProjectIndex], None] | None = None
    encode: Callable[[ProjectIndex], None] | None = None
    """Sees to the vectors of an index that is equal to its files."""


class WatchSession:
    """One process watching one root; `keep` runs on a thread, `catch_up` on the one that answers."""

    def __init__(
        self,
        project: ProjectIndex,
        stop: threading.Event,
        working: threading.Lock,
        asked: SessionCallbacks,
        *,
        leads: bool = True,
    ) -> None:
        self.project = project
        self.leads = leads
        """We make the index follow; otherwise another process does, and we only know what is pending."""
        self.state = WatchStatus("off", project.settings.indexing_strategy)
        self._stop, self._working, self._may_resume, self._tell_change = stop, working, asked.may_resume, asked.changed
        self._encode = asked.encode
        self._encoded_at = time.monotonic()
        self._told_sequence = -1
        self._hints_told = 0
        """Paths that events named since everything was last looked at."""
        self._dirty = PendingPaths(project.folder)
        self._watcher: Watcher | None = None
        self._root = _identity(project.root)
        self._settings_seen = project.settings_stamp()
        self._head: Head | None = head_of(project.root)
        self._poll_seconds = poll_seconds(project.root)
        self._run: IndexingRun | None = None
        self._run_pending: dict[str, Times] = {}
        self._asked = False
        self._just_read: set[str] = set()
        """What was read for an answer, perhaps in the very tick in which it was written: a look makes sure."""
        self._is_settled = True
        self._must_check = False
        """Another process is indexing; what it read may have changed since, so everything is looked at after it."""
        self._moved = -HEAD_SECONDS
        self._looked = self._hinted = self._changed = self._scanned = 0.0
        self._failed = -RETRY_SECONDS
        self._stalls = SuspendDetector()

    # The life of a session

    def begin(self) -> None:
        """Start watching, then look everywhere: in this order nothing is missed."""
        self._stalls = SuspendDetector()  # from now on, on this thread
        try:
            self._watcher = Watcher(self.project.root, _folders_of(self.project))
        except CannotWatch as error:
            self._poll(str(error))
        if not self.leads:
            return
        self._tell()
        self._dirty.load(time.monotonic())
        self._check_everything()

    def keep(self) -> None:
        """Follow events until the root, the index or this server is gone."""
        while not self._stop.is_set() and self._can_go_on():
            self._take_in(self._hints(), STEP_SECONDS)
            self._take_turn(time.monotonic())

    def _take_turn(self, now: float) -> None:
        if not self.leads:
            if now - self._looked >= LOOK_SECONDS:
                self._forget_what_was_done(now)
            return
        if now - self._looked >= LOOK_SECONDS or self._has_new_settings():
            self._look_around(now)
        self._finish_run()
        if self._run is None and now - self._failed >= RETRY_SECONDS:
            self._work_if_due(now)

    def _forget_what_was_done(self, now: float) -> None:
        """What the leading process has indexed meanwhile is not pending any more."""
        self._looked = now
        rested = {path: times for path, times in self._dirty.pending().items() if now - times.last >= FOLLOW_SECONDS}
        with self._working, contextlib.suppress(DowseError):
            folders: list[str] = []
            if rested and not self.project.drift_at(rested, folders.append).pending:
                self._dirty.done(rested)
            self._extend(folders)
            self._tell_change_once()
            self._encode_once_quiet(now)

    def _has_new_settings(self) -> bool:
        return self.project.settings_stamp() != self._settings_seen

    def _work_if_due(self, now: float) -> None:
        if self._must_check:
            self._check_everything()
        settings, pending = self.project.settings, self._dirty.pending()
        if ready := due(settings, pending, now, head_moved=self._head_moved(now), asked=self._asked):
            self._asked = False
            self._work(ready)

    def end(self) -> None:
        """Stop watching; what is pending is written down."""
        if self._run is not None:
            self._run.stop()
        if self._watcher is not None:
            self._watcher.close()
        if not self.leads:
            self.project.close()
            return
        self._dirty.save()
        with contextlib.suppress(DowseError, OSError):
            if not self._is_settled:
                self.project.settle()
        untell_watch(self.project)
        self.project.close()

    # For the thread that answers

    def pending_paths(self) -> tuple[str, ...]:
        """What waits, the root as a dot."""
        return tuple(sorted(path or "." for path in self._dirty.pending()))

    def catch_up(self, project: ProjectIndex) -> list[str]:
        """Apply what is pending through another opening of the index, within a bound."""
        if self._watcher is not None:
            with contextlib.suppress(CannotWatch):
                self._take_in(self._watcher.drain())
        ready = due(project.settings, self._dirty.pending(), time.monotonic(), asked=True)
        if ready and self._run is None and self._working.acquire(timeout=ASKED_SECONDS):
            try:
                ready = due(project.settings, self._dirty.pending(), time.monotonic(), asked=True)
                if ready and EVERYWHERE not in ready and len(ready) <= ASKED_PATHS:
                    self._apply_some(project, ready)
            except (DowseError, OSError) as error:  # the answer is from what is there, and names what is not
                self._fail(str(error))
            finally:
                self._working.release()
        self._asked = bool(due(project.settings, self._dirty.pending(), time.monotonic(), asked=True))
        deadline = time.monotonic() + ASKED_SECONDS
        while self._is_about_to_check() and self._run is None and time.monotonic() < deadline:
            time.sleep(0.01)  # a look everywhere is about to be made, which is quick where little is there
        left = list(self.pending_paths())
        return left if "." in left or not self._is_about_to_check() else [".", *left]

    def _is_about_to_check(self) -> bool:
        return self._must_check or self._has_new_settings()

    def _apply_some(self, project: ProjectIndex, ready: dict[str, Times]) -> None:
        folders: list[str] = []
        drift = project.drift_at(ready, folders.append)
        part = _first(drift)
        if part.pending:
            project.apply(part)
            self._just_read.update(entry.path for entry in (*part.new, *part.changed))
            self._changed, self._is_settled = time.monotonic(), False
            self._fail(None)
        if part.pending == drift.pending:
            self._dirty.done(ready)
        self._extend(folders)

    # Looking and applying

    def _hints(self) -> list[str]:
        """Paths that may have changed; everything where events may have been thrown away while we were stopped."""
        if self._watcher is None:
            self._stop.wait(TICK_SECONDS)
            return []
        seconds = TICK_SECONDS if self._dirty.pending() or self._run else LOOK_SECONDS
        was_stopped = self._stalls.waits(seconds)
        try:
            paths = self._watcher.wait(seconds, self._stop)
        except CannotWatch as error:
            self._poll(str(error))
            return [EVERYWHERE]
        return [EVERYWHERE] if self._stalls.works() or was_stopped else paths

    def _take_in(self, paths: Iterable[str], since: float = 0.0) -> None:
        paths = list(paths)
        if not paths:
            return
        self._hinted = time.monotonic()
        self._hints_told += len(paths)
        if any(path.rpartition("/")[2] in RULE_NAMES for path in paths):
            paths.append(EVERYWHERE)  # what is ignored may have changed
        self._dirty.add(paths, self._hinted - since)

    def _work(self, ready: dict[str, Times]) -> None:
        """Look at pending paths and apply what differs, or let a process of its own do so."""
        if self.project.is_being_updated():  # by somebody else, who may have read what has changed since
            self._must_check = True
            return
        if self.project.store.noted("state") != "complete" and not self._may_resume():
            return
        with self._working:
            folders: list[str] = []
            try:
                self.project.store.refresh()
                drift = self.project.drift_at(ready, folders.append)
                self._extend(folders)
                if EVERYWHERE in ready:
                    self._scanned, self._must_check, self._hints_told = time.monotonic(), False, 0
                    self._require_the_same_disk(drift)
                if drift.pending > AT_ONCE_FILES:
                    self.project.require_size(drift if EVERYWHERE in ready else self.project.drift())
                if drift.pending > AT_ONCE_FILES or self.project.store.noted("state") != "complete":
                    self._run, self._run_pending = self._start_run(), ready
                    return
                if drift.pending:
                    self.project.apply(drift)
                    self._changed, self._is_settled = time.monotonic(), False
            except NotIndexed:  # somebody has just deleted the index
                raise
            except StoreDamaged:
                self._run, self._run_pending = self._start_run(), ready
                return
            except DowseError as error:
                self._fail(str(error))
                return
            self._dirty.done(ready)
            if EVERYWHERE in ready:
                self.project.note_check()
            self._fail(None)

    def _start_run(self, how: str | None = None) -> IndexingRun:
        return start_run(self.project.root, how, self.project.what)

    def _extend(self, folders: list[str]) -> None:
        """Watch folders that are new; what happened in them before they were watched is looked for."""
        if self._watcher is None:
            return
        names = [folder.rstrip("/") for folder in folders]
        new = [name for name in names if name not in self._watcher.folders]
        try:
            if self._watcher.extend(new):
                drift = self.project.drift_at(new)
                found = [*drift.gone, *(entry.path for entry in (*drift.changed, *drift.new))]
                self._dirty.add(found, time.monotonic())
        except CannotWatch as error:
            self._poll(str(error))

    def _finish_run(self) -> None:
        run = self._run
        if run is None or run.is_going_on:
            return
        self._run = None
        if run.error:
            self._fail(str(run.error))
        elif run.is_complete:
            self._dirty.done(self._run_pending)
            self._fail(None)
        self._changed = time.monotonic()

    def _look_around(self, now: float) -> None:
        """What no event tells: settings, the clock, and whether anything was missed."""
        self._looked = now
        if self._has_new_settings():
            self._take_up_settings()
        if self._needs_a_look(now):
            self._look_for_lost_events()
        if self._just_read and now - self._changed >= QUIET_SECONDS:
            again, self._just_read = self._just_read, set()
            self._work(dict.fromkeys(again, Times(now, now)))
        is_settled = self._is_settled and self.project.is_settled()
        if not is_settled and not self._dirty.pending() and now - self._changed >= SETTLE_SECONDS:
            with contextlib.suppress(DowseError):
                self.project.settle()
                self._is_settled = True
                release_memory()  # 70 of the 90 MB that indexing took
        if self._run is None and self.project.needs_verification():
            self._run, self._run_pending = self._start_run(VERIFY), {}
        self._dirty.save()
        self._tell_change_once()
        self._encode_once_quiet(now)

    def _encode_once_quiet(self, now: float) -> None:
        """Let the second phase begin, or go on, once the first one has nothing left to do."""
        is_quiet = self._run is None and not self._dirty.pending() and now - self._changed >= SETTLE_SECONDS
        if self._encode and is_quiet and now - self._encoded_at >= MEANING_SECONDS:
            self._encoded_at = now
            with contextlib.suppress(DowseError, OSError):  # it is tried again, and the index can do without
                self._encode(self.project)

    def _tell_change_once(self) -> None:
        if self._tell_change and (sequence := self.project.store.sequence()) != self._told_sequence:
            self._told_sequence = sequence
            self._tell_change(self.project)

    def _needs_a_look(self, now: float) -> bool:
        if self._run is not None or self.project.is_being_updated():
            self._must_check = self._must_check or self._run is None
            return False
        is_stormy = self._hints_told >= STORM_HINTS
        is_quiet = self._scanned < self._hinted <= now - (SETTLE_SECONDS if is_stormy else INSURANCE_SECONDS)
        is_insured = not is_stormy and now - self._scanned < INSURANCE_EVERY_SECONDS
        is_polled = bool(self._poll_seconds) and now - self._scanned >= self._poll_seconds
        return is_polled or (is_quiet and not is_insured)

    def _look_for_lost_events(self) -> None:
        """Look everywhere; when what is found gets indexed is for the strategy to say."""
        started = time.monotonic()
        try:
            drift = self.project.drift()
        except DowseError as error:
            self._fail(str(error))
            return
        self._take_in([*drift.gone, *(entry.path for entry in (*drift.changed, *drift.new))])
        self._scanned, self._hints_told = time.monotonic(), 0
        if self._poll_seconds:  # looking takes at most a twentieth of the time
            self._poll_seconds = max(self._poll_seconds, 20 * (self._scanned - started))

    def _check_everything(self) -> None:
        """Make the index equal to the files now, whatever the strategy: at the start, and after others wrote."""
        self._dirty.add([EVERYWHERE], time.monotonic())
        self._work({EVERYWHERE: self._dirty.pending()[EVERYWHERE]})

    def _require_the_same_disk(self, drift: Drift) -> None:
        """An empty folder on another device is a disk that is not there, and no reason to forget what was on it."""
        device, known = str(self._root[0] if self._root else ""), self.project.store.noted("device")
        if known not in (None, device) and drift.gone and not drift.files and not drift.skipped:
            raise Failed(f"{self.project.root} is empty and on another device; its index is left as it is.")
        if known != device:
            self.project.store.note("device", device)

    def _take_up_settings(self) -> None:
        """New settings: what waits under the old strategy is done first, then everything is looked at."""
        pending = self._dirty.pending()
        if pending:
            self._work(pending)
        self.project.close()
        self.project = ProjectIndex(self.project.root, self.project.what)
        self._settings_seen = self.project.settings_stamp()
        self._tell()
        self._check_everything()

    def _head_moved(self, now: float) -> bool:
        """Whether git moved HEAD a moment ago, and nothing has happened since: it writes files before and after."""
        if self.project.settings.indexing_strategy != "git":
            return False
        head = head_of(self.project.root)
        if head != self._head:
            self._head, self._moved = head, now
        return now - self._moved <= HEAD_SECONDS and now - max(self._moved, self._hinted) >= QUIET_SECONDS

    def _can_go_on(self) -> bool:
        is_there = _identity(self.project.root) == self._root and self.project.is_in_place()
        return is_there and (self.leads or watch_lease(self.project.folder).is_taken())

    def _poll(self, why: str) -> None:
        if self._watcher is not None:
            self._watcher.close()
        self._watcher = None
        self._poll_seconds = self._poll_seconds or POLL_SECONDS
        self.state = replace(self.state, mode="polling", why=why)
        if self.leads:
            self._tell()

    def _fail(self, problem: str | None) -> None:
        if problem and problem != self.state.last_error:
            open_log(self.project.folder).error("keeping fresh: %s", problem)
        self._failed = time.monotonic() - (0 if problem else RETRY_SECONDS)
        self.state = replace(self.state, last_error=problem)

    def _tell(self) -> None:
        """Write down, for commands, how the index is kept fresh."""
        mode: WatchMode = "watching" if self._watcher else "polling"
        why = self.state.why
        if self._watcher and self._poll_seconds:
            why = f"this file system may not tell all; everything is looked at every {self._poll_seconds:.0f} s as well"
        self.state = replace(self.state, mode=mode, strategy=self.project.settings.indexing_strategy, why=why)
        tell_watch(self.project, self.state)


def _first(drift: Drift) -> Drift:
    """As much of a drift as may be done before an answer: what is gone, then files, small ones first."""
    part = Drift(gone=drift.gone[:ASKED_FILES], unchanged=drift.unchanged, skipped=drift.skipped)
    left, left_bytes = ASKED_FILES - len(part.gone), ASKED_BYTES
    for entry in sorted((*drift.changed, *drift.new), key=lambda entry: entry.stat.size):
        left, left_bytes = left - 1, left_bytes - entry.stat.size
        if left < 0 or left_bytes < 0:
            break
        (part.changed if entry in drift.changed else part.new).append(entry)
    return part


def _folders_of(project: ProjectIndex) -> set[str]:
    """Every folder on the way to a document: one that were missing would be new, and all below it looked at again."""
    found = {""}
    for document in project.store.documents():
        folder = document.path.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _identity(root: Path) -> tuple[int, int] | None:
    try:
        seen = root.stat()
    except OSError:
        return None
    return seen.st_dev, seen.st_ino
