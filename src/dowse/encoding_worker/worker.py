"""The work of an encoding process: one index after the other, for as long as there is something to do."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dowse.encoding.cache import VectorCache
from dowse.encoding.selection import open_version
from dowse.encoding.shipped import STATIC_VERSION
from dowse.encoding_worker.backfill import BackfillOptions, Filled, fill
from dowse.encoding_worker.messages import IndexKey, as_place
from dowse.encoding_worker.work_queue import WorkQueue
from dowse.encoding_worker.worker_options import WorkerOptions
from dowse.errors import DowseError, StoreBusy, StoreDamaged
from dowse.indexes.encoder_state import (
    note_begin,
    note_complete,
    note_instead,
    second_wanted,
    serving_version,
    take_stock,
)
from dowse.indexes.encoding_progress import encoding_lease, is_paused, said_of, tell_problem
from dowse.indexes.index import ProjectIndex
from dowse.indexes.index_log import open_log
from dowse.protocols import Encoder
from dowse.settings import Settings, load_settings
from dowse.store import storage_layout

PAUSE_CHECK_SECONDS = 1.0
"""How often the settings, the battery and whether an index is being made are looked at."""
TURN_SECONDS = 60.0
"""After so long it is another index's turn."""
RETRY_SECONDS = 300.0
"""How long what failed rests, unless the settings change: a model that could not be downloaded, a full disk."""
STATIC_CHUNKS = 1024
"""From the static table so many are encoded and kept at once; it does them in a third of a second."""

Outcome = Literal["complete", "gone", "indexing", "paused", "elsewhere", "stopped", "stuck", "failed"]

REST_SECONDS: dict[Outcome, float] = {
    "complete": 3600.0,
    "gone": 3600.0,
    "indexing": 1.0,
    "paused": 5.0,
    "elsewhere": 2.0,
    "stopped": 0.0,
    "stuck": 30.0,
    "failed": RETRY_SECONDS,
}
"""When an index is looked at again by itself."""
_WAITS_FOR_NEWS: frozenset[Outcome] = frozenset(("complete", "gone", "stuck"))
"""What the server says may have changed it."""

Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class _Rest:
    """Why an index is left alone, and until when."""

    outcome: Outcome
    until: float
    settings_stamp: Callable[[], tuple[int, ...]]
    seen: tuple[int, ...]
    sequence: int = 0
    """The state of the index that nothing more could be done for."""

    @property
    def has_new_settings(self) -> bool:
        return self.settings_stamp() != self.seen


class Worker:
    """Loads encoders and fills indexes; `loaded` is for the thread that answers questions."""

    def __init__(self, duties: WorkQueue, habits: WorkerOptions, tell: Tell) -> None:
        self._duties, self._habits, self._tell = duties, habits, tell
        self._encoders = dict[str, Encoder]()
        self._failed_loads = dict[str, float]()
        self._settings = dict[IndexKey, tuple[Settings, tuple[str | None, ...]]]()
        """The settings of each index, and the encoders that it wants and that serve it."""
        self._rests = dict[IndexKey, _Rest]()
        self._worked_at = time.monotonic()

    def loaded(self, version: str) -> Encoder | None:
        """An encoder, if it is loaded."""
        return self._encoders.get(version)

    def work(self) -> None:
        """Do what there is to do, until it is over or there has been nothing for long."""
        while not self._duties.is_over.is_set():
            self._load_what_is_asked_for()
            for left in self._duties.take_leaving():
                self._rests.pop(left, None)
                self._tell({"left": as_place(left)})
            if place := self._next():
                self._work_on(place)
            elif time.monotonic() - max(self._worked_at, self._duties.asked_at) >= self._habits.idle_seconds:
                stuck = [(place, rest.sequence) for place, rest in self._rests.items() if rest.outcome == "stuck"]
                self._tell({"leaving": [[*as_place(place), sequence] for place, sequence in stuck]})
                return
            else:
                self._duties.wait(min(PAUSE_CHECK_SECONDS, self._habits.idle_seconds))

    def _next(self) -> IndexKey | None:
        """The index whose turn it is: of those that may have something to do, the one that rested longest."""
        due = [place for place in self._duties.places() if self._is_due(place)]
        return min(due, key=lambda place: self._rests[place].until if place in self._rests else 0.0, default=None)

    def _is_due(self, place: IndexKey) -> bool:
        rest = self._rests.get(place)
        if rest is None or time.monotonic() >= rest.until or rest.has_new_settings:
            return True
        return rest.outcome in _WAITS_FOR_NEWS and self._duties.has_news_of(place)

    # One index

    def _work_on(self, place: IndexKey) -> None:
        problem: str | None = None
        self._duties.begin(place)
        try:
            project = ProjectIndex(place.root, place.what)
        except DowseError:
            self._rests[place] = _Rest("gone", time.monotonic() + REST_SECONDS["gone"], tuple, ())
            return
        seen, sequence = project.settings_stamp(), 0
        try:
            outcome, sequence = self._fill(project, place)
        except StoreBusy:
            outcome = "indexing"
        except StoreDamaged:
            outcome = "gone"  # whoever serves it builds it again
        except (DowseError, OSError, MemoryError) as error:
            outcome, problem = "failed", said_of(error)
            tell_problem(project.folder, problem)
            if project.exists:
                open_log(project.folder).error("encoding: %s", problem)
        finally:
            project.close()
        until = time.monotonic() + REST_SECONDS[outcome]
        self._rests[place] = _Rest(outcome, until, project.settings_stamp, seen, sequence)
        self._tell({"about": as_place(place), "outcome": outcome, "problem": problem})

    def _fill(self, project: ProjectIndex, place: IndexKey) -> tuple[Outcome, int]:
        if not project.exists:
            return "gone", 0
        if project.is_being_updated() or project.store.fact("state") != "complete":
            return "indexing", 0
        store, settings = project.store, project.settings
        sequence = store.sequence()
        self._settings[place] = settings, (serving_version(store, settings), second_wanted(store, settings))
        if take_stock(store, settings) is None:
            note_complete(store, settings)
            return "complete", sequence
        if self._is_paused(settings):
            return "paused", sequence
        lease = encoding_lease(project.folder)
        if not lease.try_acquire():
            return "elsewhere", sequence
        try:
            return self._fill_with_lease(project, place), sequence
        finally:
            lease.release()

    def _fill_with_lease(self, project: ProjectIndex, place: IndexKey) -> Outcome:
        note_begin(project.store, project.settings)
        cache = VectorCache(storage_layout.vector_cache_file(), project.settings.vector_cache_bytes)
        try:
            while version := take_stock(project.store, project.settings):
                encoder = self._opened(version, project.settings, project.folder)
                if encoder.version != version:
                    note_instead(project.store, version, encoder.version)
                    continue
                outcome: Filled = fill(project, encoder, self._manner(project, place, version, cache))
                tell_problem(project.folder, None)
                if outcome != "complete":
                    return outcome
        finally:
            cache.close()
        note_complete(project.store, project.settings)
        return "complete"

    def _manner(self, project: ProjectIndex, place: IndexKey, version: str, cache: VectorCache) -> BackfillOptions:
        began = looked = time.monotonic()
        seen = project.settings_stamp()

        def may_go_on() -> bool:
            nonlocal looked
            self._load_what_is_asked_for()
            self._duties.give_way()
            if self._duties.is_over.is_set() or not self._duties.is_asked_for(place):
                return False
            self._worked_at = now = time.monotonic()
            if now - looked < PAUSE_CHECK_SECONDS:
                return True
            looked = now
            is_others_turn = now - began >= TURN_SECONDS and any(
                other != place and self._is_due(other) for other in self._duties.places()
            )
            is_same = project.is_in_place() and project.settings_stamp() == seen and not project.is_being_updated()
            return is_same and not is_others_turn and not self._is_paused(project.settings)

        urgent = lambda: self._duties.urgent(place)  # noqa: E731
        if version == STATIC_VERSION:
            return BackfillOptions(may_go_on, urgent, batch_texts=STATIC_CHUNKS, kept_chunks=STATIC_CHUNKS)
        return BackfillOptions(may_go_on, urgent, cache, self._habits.batch_texts)

    def _is_paused(self, settings: Settings) -> bool:
        return not self._habits.ignores_battery and is_paused(settings, Path(self._habits.supplies))

    # Encoders

    def _load_what_is_asked_for(self) -> None:
        for version in self._duties.take_versions():
            if time.monotonic() < self._failed_loads.get(version, 0.0):
                continue
            try:
                self._opened(version, self._settings_for(version))
            except (DowseError, OSError, MemoryError) as error:
                self._failed_loads[version] = time.monotonic() + RETRY_SECONDS
                self._tell({"said": said_of(error)})

    def _opened(self, version: str, settings: Settings, folder: Path | None = None) -> Encoder:
        def say(text: str) -> None:
            self._tell({"said": text})
            if folder:
                open_log(folder).info("encoding: %s", text)

        if version not in self._encoders:
            encoder = open_version(version, settings, say)
            self._encoders[encoder.version] = encoder
            self._tell({"loaded": encoder.version})
            return encoder
        return self._encoders[version]

    def _settings_for(self, version: str) -> Settings:
        """The settings of an index that this encoder serves; those that hold for all where there is none."""
        for settings, versions in self._settings.values():
            if version in versions:
                return settings
        return load_settings(storage_layout.global_settings_file())[0]
