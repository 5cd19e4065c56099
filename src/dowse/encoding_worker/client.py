"""The server's side of encoding: questions become vectors, indexes get theirs, and the process for that comes and goes."""

import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.encoding_worker.messages import QUERY_CHARACTERS, IndexKey, as_place, place_in, vector_in
from dowse.encoding_worker.process import PROGRAM, EncodingProcess
from dowse.encoding_worker.worker_options import WorkerOptions
from dowse.indexes.encoder_state import note_complete, take_stock
from dowse.indexes.encoding_progress import encoding_lease, is_paused, tell_problem
from dowse.indexes.index import ProjectIndex, What, folder_of

if TYPE_CHECKING:
    from dowse.types import Vectors

KNOWN_QUERIES = 300
"""Vectors of questions that are remembered: 0.5 MB."""
WAITING_QUERIES = 64
"""Where so many wait for an answer, the next one goes without."""
HUNG_SECONDS = 60.0
"""A process that has not answered for so long is ended."""
FRONT_PATHS = 50
"""Files of one question that come first."""
VECTOR_CHECK_SECONDS = 5.0
"""How often a process that runs is told to look at an index again."""
TRIES = 5
"""Crashes in a row after which it is given up for a while."""
FIRST_DELAY_SECONDS = 1.0
"""After a crash; twice as long after each next one."""
STEADY_SECONDS = 60.0
"""After a life of so long a crash is the first one again."""
GIVEN_UP_SECONDS = 3600.0
LEAVE_SECONDS = 2.0
"""How long it may take to let go of an index."""


@dataclass(slots=True)
class _Waiting:
    """A question that was asked."""

    of: EncodingProcess | None
    version: str
    text: str
    asked_at: float
    answered: threading.Event = field(default_factory=threading.Event)
    vector: "Vectors | None" = None


class EncodingClient:
    """One encoding process for all indexes of a server, started when it is needed; for any thread."""

    def __init__(
        self,
        habits: WorkerOptions = WorkerOptions(),  # noqa: B008 - frozen
        *,
        program: Sequence[str] = PROGRAM,
        say: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._habits, self._program, self._say = habits, program, say
        self._lock = threading.RLock()
        self._running: EncodingProcess | None = None
        self._is_over = False
        self._known = OrderedDict[tuple[str, str], "Vectors"]()
        self._numbers = itertools.count(1)
        self._waiting = dict[int, _Waiting]()
        self._places = dict[IndexKey, float]()
        """The indexes that are served, and when the process was last told to look at each."""
        self._outcomes = dict[IndexKey, tuple[str, str | None]]()
        self._stuck_at = dict[IndexKey, int]()
        """States of indexes for which nothing more could be done when the process left."""
        self._fronts = dict[IndexKey, list[str]]()
        self._left = dict[IndexKey, threading.Event]()
        self._crashes = 0
        self._not_before = 0.0
        self.problem: str | None = None
        """Why there is no process, after crashes."""

    # Questions

    def encode_query(self, version: str, text: str, seconds: float) -> "Vectors | None":
        """A question's vector; None where nobody has it ready in time: the answer then goes without it."""
        text = text[:QUERY_CHARACTERS].encode("utf-8", "replace").decode()  # half a character is none
        with self._lock:
            if (known := self._known.get((version, text))) is not None:
                self._known.move_to_end((version, text))
                if self._is_there():
                    self._tell({"hush": True})
                return known
            if not self._start() or len(self._waiting) >= WAITING_QUERIES:
                self._end_if_hung()
                return None
            if self._running is None or version not in self._running.loaded:
                self._tell({"load": version})
                return None
            number, waiting = next(self._numbers), _Waiting(self._running, version, text, time.monotonic())
            self._waiting[number] = waiting
            self._tell({"ask": number, "version": version, "text": text})
        waiting.answered.wait(seconds)
        return waiting.vector

    def front(self, root: Path, paths: Iterable[str], what: What = "project") -> None:
        """Let the files that a question reached be encoded before all others."""
        place, chosen = IndexKey(root, what), list(itertools.islice(paths, FRONT_PATHS))
        with self._lock:
            if chosen and self._is_there():
                self._tell({"front": as_place(place), "paths": chosen})
            elif chosen:  # for the process that is going to be started
                self._fronts[place] = chosen

    # Indexes

    def consider(self, project: ProjectIndex) -> None:
        """See to it that an index gets the vectors it lacks; cheap where there is nothing to do."""
        place, store = IndexKey(project.root, project.what), project.store
        if time.monotonic() - self._places.get(place, -VECTOR_CHECK_SECONDS) < VECTOR_CHECK_SECONDS:
            return
        if project.is_being_updated() or store.fact("state") != "complete":
            return
        if take_stock(store, project.settings) is None:
            note_complete(store, project.settings)
        elif self._is_there() or not (self._is_paused(project) or self._is_in_vain(place, project)):
            self.work_on([place])

    def work_on(self, places: Iterable[IndexKey]) -> None:
        """Make the vectors of these indexes as well."""
        with self._lock:
            now, new = time.monotonic(), list(places)
            self._places.update(dict.fromkeys(new, now))
            was_there = self._is_there()
            if self._start() and was_there:
                self._tell({"work": [as_place(place) for place in new]})

    def leave(self, place: IndexKey) -> None:
        """Hold nothing of an index any more, so that it can be removed."""
        with self._lock:
            if self._places.pop(place, None) is None or not self._is_there():
                return
            left = self._left.setdefault(place, threading.Event())
            self._tell({"leave": as_place(place)})
        left.wait(LEAVE_SECONDS)

    def outcome(self, place: IndexKey) -> tuple[str, str | None]:
        """What the process told last of an index, and its problem."""
        return self._outcomes.get(place, ("", None))

    @property
    def process_id(self) -> int | None:
        """The process, if there is one."""
        running = self._running
        return running.process.pid if running and running.is_there else None

    @property
    def is_given_up(self) -> bool:
        """Whether the process has crashed so often that it is left alone for long."""
        return self._not_before - time.monotonic() > GIVEN_UP_SECONDS / 2

    def stop(self) -> None:
        """End the process; nobody may ask any more."""
        with self._lock:
            self._is_over = True
            running = self._running
        if running:
            running.stop()

    # The process

    def _is_there(self) -> bool:
        return self._running is not None and self._running.is_there

    def _start(self) -> bool:
        """Whether there is a process, be it a new one."""
        if self._is_there():
            return True
        if self._is_over or time.monotonic() < self._not_before:
            return False
        habits = replace(self._habits, batch_texts=max(1, self._habits.batch_texts >> self._crashes))
        try:
            self._running = EncodingProcess(habits, self._take_in, self._take_leave, self._program)
        except OSError as error:
            self._note_crash(f"It cannot be started: {error.strerror or error}.")
            return False
        self._tell({"work": [as_place(place) for place in self._places]})
        for place, paths in self._fronts.items():
            self._tell({"front": as_place(place), "paths": paths})
        self._fronts.clear()
        return True

    def _tell(self, message: dict[str, Any]) -> None:
        if self._running:
            self._running.say(message)

    def _is_paused(self, project: ProjectIndex) -> bool:
        return not self._habits.ignores_battery and is_paused(project.settings, Path(self._habits.supplies))

    def _is_in_vain(self, place: IndexKey, project: ProjectIndex) -> bool:
        """Whether a process of ours could do nothing: another one is at it, or what is left cannot be encoded yet."""
        lease = encoding_lease(project.folder)
        is_elsewhere = lease.path.exists() and lease.is_taken()
        return is_elsewhere or self._stuck_at.get(place) == project.store.sequence()

    def _end_if_hung(self) -> None:
        oldest = min((waiting.asked_at for waiting in self._waiting.values()), default=time.monotonic())
        if self._running and time.monotonic() - oldest >= HUNG_SECONDS:
            self._running.kill()

    def _take_in(self, running: EncodingProcess, message: dict[str, Any]) -> None:
        """What the process told, on the thread that listens to it."""
        if "answer" in message:
            self._take_answer(message)
        if "outcome" in message:
            self._outcomes[place_in(message["about"])] = message["outcome"], message.get("problem")
            self.problem = None
        if "left" in message and (left := self._left.pop(place_in(message["left"]), None)):
            left.set()
        if "said" in message:
            self._say(message["said"])
        if running.is_leaving:
            self._stuck_at.update({place_in(said): said[2] for said in message.get("leaving", ())})

    def _take_answer(self, message: dict[str, Any]) -> None:
        with self._lock:
            waiting = self._waiting.pop(message["answer"], None)
            if waiting and message["vector"] is not None:
                waiting.vector = self._known[waiting.version, waiting.text] = vector_in(message["vector"])
                while len(self._known) > KNOWN_QUERIES:
                    self._known.popitem(last=False)
        if waiting:
            waiting.answered.set()

    def _take_leave(self, running: EncodingProcess) -> None:
        """The process has ended: those who wait go without, and a crash is not repeated at once."""
        with self._lock:
            asked = [number for number, waiting in self._waiting.items() if waiting.of is running]
            waiting = [self._waiting.pop(number) for number in asked]
            left, self._left = list(self._left.values()), {}
            if not running.is_leaving:
                if time.monotonic() - running.started >= STEADY_SECONDS:
                    self._crashes = 0
                code = running.process.returncode
                self._note_crash(f"The encoding process ended with code {code}. {running.last_words[:300]}".strip())
        for event in (*(one.answered for one in waiting), *left):
            event.set()

    def _note_crash(self, problem: str) -> None:
        self._crashes += 1
        self.problem = problem
        self._not_before = time.monotonic() + FIRST_DELAY_SECONDS * 2 ** (self._crashes - 1)
        if self._crashes >= TRIES:
            self._crashes = TRIES - 1
            self._not_before = time.monotonic() + GIVEN_UP_SECONDS
            for place in self._places:
                tell_problem(folder_of(*place), problem)
