"""The work of an encoding process: it backfills one index after the other for as long as vectors are missing."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dowse.encoding.cache import VectorCache
from dowse.encoding.selection import STATIC_VERSION, model_version, open_version
from dowse.errors import DowseError, StoreBusy, StoreDamaged
from dowse.indexes.encoding_progress import (
    describe_problem,
    encoding_lease,
    record_complete_versions,
    record_encoding_complete,
    record_encoding_start,
    record_problem,
    serving_version,
)
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_log import open_log
from dowse.keeping.encoding_worker.backfill import BackfillOptions, BackfillOutcome, fill_vectors
from dowse.keeping.encoding_worker.model_process import ModelProcess
from dowse.keeping.encoding_worker.work_queue import WorkQueue
from dowse.keeping.encoding_worker.worker_options import WorkerOptions
from dowse.protocols import Encoder
from dowse.settings import Settings, load_settings
from dowse.store import storage_layout

PAUSE_CHECK_SECONDS = 1.0
"""Time between two checks of what pauses encoding: settings, indexing."""
TURN_SECONDS = 60.0
"""After this long another index gets its turn."""
RETRY_SECONDS = 300.0
"""Time before a failure is tried again, unless the settings change: a failed download, a full disk."""
STATIC_CHUNKS = 1024
"""Chunks that the static table encodes and saves at once; this takes a third of a second."""

Outcome = Literal["complete", "gone", "indexing", "elsewhere", "stopped", "stuck", "failed"]

REST_SECONDS: dict[Outcome, float] = {
    "complete": 3600.0,
    "gone": 3600.0,
    "indexing": 1.0,
    "elsewhere": 2.0,
    "stopped": 0.0,
    "stuck": 30.0,
    "failed": RETRY_SECONDS,
}
"""Time before an index is visited again, by the outcome of the last visit."""
_VISITED_ON_REQUEST: frozenset[Outcome] = frozenset(("complete", "gone", "stuck"))
"""Outcomes after which a request of the server leads to a visit before the time is over."""

Send = Callable[..., None]
"""Sends a message to the server: its fields, and bytes."""


@dataclass(frozen=True, slots=True)
class _Rest:
    """Why an index rests, and until when."""

    outcome: Outcome
    until: float
    settings_stamp: Callable[[], tuple[int, ...]]
    seen_stamp: tuple[int, ...]

    @property
    def has_new_settings(self) -> bool:
        return self.settings_stamp() != self.seen_stamp


class Worker:
    """Loads encoders and backfills indexes; `loaded` is for the thread that encodes queries."""

    def __init__(self, queue: WorkQueue, options: WorkerOptions, send: Send) -> None:
        self._queue, self._options, self._send = queue, options, send
        self._encoders = dict[str, Encoder]()
        self._failed_loads = dict[str, float]()
        self._settings = dict[Path, tuple[Settings, tuple[str | None, ...]]]()
        """The settings of each index, and the encoders that serve it now and later."""
        self._rests = dict[Path, _Rest]()
        self._worked_at = time.monotonic()

    def loaded(self, version: str) -> Encoder | None:
        """Return an encoder, if it is loaded."""
        return self._encoders.get(version)

    def work(self) -> None:
        """Work until the queue ends or there has been nothing to do for long."""
        while not self._queue.is_ended.is_set():
            self._load_requested_encoders()
            if root := self._next_index():
                self._visit(root)
            elif time.monotonic() - max(self._worked_at, self._queue.last_query_at) >= self._options.idle_seconds:
                self._send({"leaving": True})
                return
            else:
                self._queue.wait(min(PAUSE_CHECK_SECONDS, self._options.idle_seconds))

    def _next_index(self) -> Path | None:
        """Return the index whose turn it is: of those that are due, the one that rested longest."""
        due = [root for root in self._queue.indexes() if self._is_due(root)]
        return min(due, key=lambda root: self._rests[root].until if root in self._rests else 0.0, default=None)

    def _is_due(self, root: Path) -> bool:
        rest = self._rests.get(root)
        if rest is None or time.monotonic() >= rest.until or rest.has_new_settings:
            return True
        return rest.outcome in _VISITED_ON_REQUEST and self._queue.must_visit(root)

    # One index

    def _visit(self, root: Path) -> None:
        problem: str | None = None
        self._queue.note_visit(root)
        try:
            project = ProjectIndex(root)
        except DowseError:
            self._rests[root] = _Rest("gone", time.monotonic() + REST_SECONDS["gone"], tuple, ())
            return
        settings_stamp, sequence = project.settings_stamp(), 0
        try:
            outcome, sequence = self._backfill(project, root)
        except StoreBusy:
            outcome = "indexing"
        except StoreDamaged:
            outcome = "gone"  # its server builds it again
        except (DowseError, OSError, MemoryError) as error:
            outcome, problem = "failed", describe_problem(error)
            record_problem(project.folder, problem)
            if project.exists:
                open_log(project.folder).error("encoding: %s", problem)
        finally:
            project.close()
        until = time.monotonic() + REST_SECONDS[outcome]
        self._rests[root] = _Rest(outcome, until, project.settings_stamp, settings_stamp)
        self._send({"about": str(root), "outcome": outcome, "problem": problem, "sequence": sequence})

    def _backfill(self, project: ProjectIndex, root: Path) -> tuple[Outcome, int]:
        if not project.exists:
            return "gone", 0
        if project.is_being_updated() or project.whole.fact("state") != "complete":
            return "indexing", 0
        store, settings = project.whole, project.settings
        sequence = store.catalog.sequence()
        self._settings[root] = settings, (serving_version(store, settings), model_version(settings))
        if record_complete_versions(store, settings) is None:
            record_encoding_complete(store, settings)
            return "complete", sequence
        lease = encoding_lease(project.folder)
        if not lease.try_acquire():
            return "elsewhere", sequence
        try:
            return self._backfill_with_lease(project, root), sequence
        finally:
            lease.release()

    def _backfill_with_lease(self, project: ProjectIndex, root: Path) -> Outcome:
        record_encoding_start(project.whole, project.settings)
        with contextlib.closing(
            VectorCache(storage_layout.vector_cache_file(), project.settings.vector_cache_bytes)
        ) as cache:
            while version := record_complete_versions(project.whole, project.settings):
                encoder = self._open_encoder(version, project.settings, project.folder)
                options = self._backfill_options(project, root, version, cache)
                outcome: BackfillOutcome = fill_vectors(project, encoder, options)
                record_problem(project.folder, None)
                if outcome != "complete":
                    return outcome
        record_encoding_complete(project.whole, project.settings)
        return "complete"

    def _backfill_options(self, project: ProjectIndex, root: Path, version: str, cache: VectorCache) -> BackfillOptions:
        began_at = checked_at = time.monotonic()
        settings_stamp = project.settings_stamp()

        def may_continue() -> bool:
            nonlocal checked_at
            self._load_requested_encoders()
            self._queue.pause_for_queries()
            if self._queue.is_ended.is_set():
                return False
            self._worked_at = now = time.monotonic()
            if now - checked_at < PAUSE_CHECK_SECONDS:
                return True
            checked_at = now
            if not project.is_in_place() or project.settings_stamp() != settings_stamp or project.is_being_updated():
                return False
            is_others_turn = now - began_at >= TURN_SECONDS and any(
                other != root and self._is_due(other) for other in self._queue.indexes()
            )
            return not is_others_turn

        if version == STATIC_VERSION:
            return BackfillOptions(may_continue, batch_texts=STATIC_CHUNKS, save_chunks=STATIC_CHUNKS)
        return BackfillOptions(may_continue, cache, self._options.batch_texts * self._options.cores)

    # Encoders

    def _load_requested_encoders(self) -> None:
        for version in self._queue.take_versions():
            if time.monotonic() < self._failed_loads.get(version, 0.0):
                continue
            try:
                self._open_encoder(version, self._settings_for(version))
            except (DowseError, OSError, MemoryError) as error:
                self._failed_loads[version] = time.monotonic() + RETRY_SECONDS
                self._send({"unavailable": version, "said": describe_problem(error)})

    def _open_encoder(self, version: str, settings: Settings, folder: Path | None = None) -> Encoder:
        def say(text: str) -> None:
            self._send({"said": text})
            if folder:
                open_log(folder).info("encoding: %s", text)

        if version not in self._encoders:
            encoder = open_version(version, settings, say, self._options.cores, ModelProcess)
            self._encoders[encoder.version] = encoder
            self._send({"loaded": encoder.version})
            return encoder
        return self._encoders[version]

    def _settings_for(self, version: str) -> Settings:
        """Return the settings of an index that uses this encoder, or the global settings."""
        for settings, versions in self._settings.values():
            if version in versions:
                return settings
        return load_settings(storage_layout.global_settings_file())[0]
