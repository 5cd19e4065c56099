"""The vectors that indexes lack, made on a thread of its own for as long as some are missing."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dowse.encoding.cache import VectorCache
from dowse.encoding.selection import STATIC_VERSION, Say, static_encoder
from dowse.errors import DowseError, Failed, ModelCrashed, StoreBusy, StoreDamaged
from dowse.indexes.encoding_progress import (
    EncodingProgress,
    describe_problem,
    encoding_lease,
    read_encoding_progress,
    record_encoding_complete,
    record_encoding_start,
    record_problem,
    serving_version,
    version_to_encode,
)
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_log import open_log
from dowse.keeping.encoding_worker.backfill import BATCH_TEXTS, fill_vectors
from dowse.keeping.encoding_worker.model_pool import RETRY_SECONDS, ModelPool
from dowse.keeping.encoding_worker.model_process import MODEL_PROGRAM, count_cores
from dowse.store import storage_layout
from dowse.system.child_process import STOP_SECONDS
from dowse.types import Progress

QUERY_PAUSE_SECONDS = 0.5
"""Encoding pauses this long after a query: the next one often follows soon, and should be quick."""
MAX_PAUSE_SECONDS = 2.0
"""The longest pause between two batches; otherwise a busy server would never finish."""
CHECK_SECONDS = 1.0
"""Time between two checks of what ends the work on an index: settings, indexing, another index."""
LOADING_CHECK_SECONDS = 0.2
"""Time between two checks of the same while the model is loaded."""
TURN_SECONDS = 60.0
"""After this long another index gets its turn."""
STATIC_CHUNKS = 1024
"""Chunks that the static table encodes and saves at once; this takes a third of a second."""
ENCODING_PROGRESS_SECONDS = 0.3
"""Time between two checks of the progress by a command that waits."""

Outcome = Literal["complete", "gone", "indexing", "elsewhere", "stopped", "stuck", "failed"]


@dataclass(frozen=True, slots=True)
class Visit:
    """How the last work on an index ended."""

    outcome: Outcome
    problem: str | None
    ended: float
    sequence: int = 0
    """The state of the index that it was about."""
    settings_stamp: tuple[int, ...] = ()


class BackgroundEncoder(ModelPool):
    """The models of a server, which also encode the chunks of indexes while there is time."""

    def __init__(
        self,
        cores: int | None = None,
        say: Say = lambda _text: None,
        program: Sequence[str] = MODEL_PROGRAM,
        open_index: Callable[[Path], ProjectIndex] = ProjectIndex,
    ) -> None:
        super().__init__(cores, say, program)
        self._open_index = open_index
        self._wanted = dict[Path, None]()
        """The indexes to encode, in turn; the first one may be being encoded now."""
        self._visits = dict[Path, Visit]()
        self._visiting = threading.Lock()
        """Held while an index is being encoded."""
        self._thread: threading.Thread | None = None

    def encode_if_needed(self, project: ProjectIndex) -> None:
        """Have the missing vectors of an index made; cheap where none is missing."""
        store, settings = project.whole, project.settings
        if project.is_being_updated() or store.fact("state") != "complete":
            return
        if version := serving_version(store, settings):
            self._settings[version] = settings
        if version_to_encode(store, settings) and not self._is_pointless(project):
            self.encode_indexes([project.root])

    def encode_indexes(self, roots: Iterable[Path]) -> None:
        """Have the missing vectors of these indexes made."""
        with self._lock:
            self._wanted |= dict.fromkeys(roots)
            if self._thread is None and not self._is_stopped.is_set():
                self._thread = threading.Thread(target=self._encode_wanted, daemon=True, name="encodes")
                self._thread.start()

    def last_visit(self, root: Path) -> Visit | None:
        """Return how the last work on an index ended; None while it goes on."""
        return None if root in self._wanted else self._visits.get(root)

    def release(self, root: Path) -> None:
        """Close the files of an index, so that it can be deleted."""
        with self._lock:
            self._wanted.pop(root, None)
        with self._visiting:
            pass

    def stop(self) -> None:
        """Save what was made, and end the processes."""
        self._is_stopped.set()
        if thread := self._thread:
            thread.join(STOP_SECONDS)
        super().stop()

    def _is_pointless(self, project: ProjectIndex) -> bool:
        """Return whether nothing can be done: another process encodes, or the last problem is still there."""
        last, lease = self.last_visit(project.root), encoding_lease(project.folder)
        if last and last.outcome == "stuck" and last.sequence == project.whole.catalog.sequence():
            return True
        if last and last.outcome == "failed" and time.monotonic() - last.ended < RETRY_SECONDS:
            return last.settings_stamp == project.settings_stamp()
        return lease.path.exists() and lease.is_taken()

    # On the thread that encodes

    def _encode_wanted(self) -> None:
        while not self._is_stopped.is_set():
            with self._lock:
                root = next(iter(self._wanted), None)
                if root is None:
                    self._thread = None
                    return
            if self._delay.may_start or self._delay.is_given_up:
                self._visit(root)
            else:
                self._is_stopped.wait(CHECK_SECONDS)

    def _visit(self, root: Path) -> None:
        with self._visiting:
            visit = self._encode(root)
        with self._lock:
            self._visits[root] = visit
            is_wanted = root in self._wanted
            self._wanted.pop(root, None)
            if visit.outcome == "stopped" and is_wanted:
                self._wanted[root] = None

    def _encode(self, root: Path) -> Visit:
        outcome: Outcome
        problem, sequence = None, 0
        try:
            project = self._open_index(root)
        except DowseError:
            return Visit("gone", None, time.monotonic())
        with contextlib.closing(project):
            stamp = project.settings_stamp()
            try:
                sequence = project.whole.catalog.sequence() if project.exists else 0
                outcome = self._backfill(project, root)
            except StoreBusy:
                outcome = "indexing"
            except StoreDamaged:
                outcome = "gone"  # its server builds it again
            except Exception as error:  # other indexes need this thread
                is_tried_again = isinstance(error, ModelCrashed) and not self._delay.is_given_up
                outcome, problem = ("stopped", None) if is_tried_again else ("failed", describe_problem(error))
            if problem and project.exists:
                record_problem(project.whole, problem)
                open_log(project.folder).error("encoding: %s", problem)
        return Visit(outcome, problem, time.monotonic(), sequence, stamp)

    def _backfill(self, project: ProjectIndex, root: Path) -> Outcome:
        if not project.exists:
            return "gone"
        store, settings = project.whole, project.settings
        if project.is_being_updated() or store.fact("state") != "complete":
            return "indexing"
        if version_to_encode(store, settings) is None:
            return "complete"
        lease = encoding_lease(project.folder)
        if not lease.try_acquire():
            return "elsewhere"
        try:
            record_encoding_start(store, settings)
            cache = VectorCache(storage_layout.vector_cache_file(), settings.vector_cache_bytes)
            with contextlib.closing(cache):
                while version := version_to_encode(store, settings):
                    outcome = self._fill(project, root, version, cache)
                    record_problem(store, None)
                    if outcome != "complete":
                        return outcome
            return "complete"
        finally:
            lease.release()

    def _fill(self, project: ProjectIndex, root: Path, version: str, cache: VectorCache) -> Outcome:
        began_at = checked_at = time.monotonic()
        settings_stamp = project.settings_stamp()

        def may_continue() -> bool:
            nonlocal checked_at
            self._pause_for_searches()
            self._used_at = now = time.monotonic()
            if self._is_stopped.is_set() or root not in self._wanted:
                return False
            if now - checked_at < CHECK_SECONDS:
                return True
            checked_at = now
            if not project.is_in_place() or project.settings_stamp() != settings_stamp or project.is_being_updated():
                return False
            return now - began_at < TURN_SECONDS or len(self._wanted) == 1

        if version == STATIC_VERSION:
            return fill_vectors(project, static_encoder(), may_continue, batch_texts=STATIC_CHUNKS)
        loading = self.use(version, project.settings).loading
        while not wait([loading], LOADING_CHECK_SECONDS).done:  # it may be downloaded first
            if not may_continue():
                return "stopped"
        batch_texts = max(1, BATCH_TEXTS >> self._delay.crashes)
        return fill_vectors(project, loading.result(), may_continue, cache, batch_texts * self.cores)

    def _pause_for_searches(self) -> None:
        """Wait while queries come, up to a limit."""
        deadline = time.monotonic() + MAX_PAUSE_SECONDS
        while (left := min(self._searched_at + QUERY_PAUSE_SECONDS, deadline) - time.monotonic()) > 0:
            if self._is_stopped.wait(left):
                return


def encode_now(project: ProjectIndex, progress: Progress, say: Say) -> EncodingProgress:
    """Make the missing vectors of an index on all cores; return the progress at the end.

    Another process may make them instead. The result is incomplete only when files change faster than they are indexed.
    Ctrl-C keeps the vectors made so far.
    """
    root = project.root
    encoder = BackgroundEncoder(count_cores(), say, open_index=type(project))
    try:
        while True:
            status, last = read_encoding_progress(project.whole, project.settings), encoder.last_visit(root)
            if status.state in ("complete", "off") or (last and last.outcome == "stuck"):
                break
            if last and last.outcome == "failed":
                raise Failed(last.problem or "The vectors could not be made.")
            if last and last.outcome == "gone":
                raise Failed(
                    f"The index of {root} was removed or replaced while its vectors were made. Index it again."
                )
            encoder.encode_indexes([root])
            progress(status.done, status.total)
            time.sleep(ENCODING_PROGRESS_SECONDS)
    finally:
        encoder.stop()
    if status.state == "complete":  # the encoder may have been stopped before it could record that
        record_encoding_complete(project.whole, project.settings)
        if project.settings.store == "lancedb":
            project.settle()  # the tables have the new vectors
    return status
