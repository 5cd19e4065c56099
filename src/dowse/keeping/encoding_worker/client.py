"""The server's client of the encoding process: it encodes queries, requests vectors for indexes, starts the process."""

import contextlib
import itertools
import json
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.indexes.encoding_progress import (
    encoding_lease,
    record_complete_versions,
    record_encoding_complete,
    record_problem,
)
from dowse.indexes.index import ProjectIndex
from dowse.keeping.encoding_worker.worker_options import WorkerOptions
from dowse.store.storage_layout import index_folder
from dowse.system.child_process import STOP_SECONDS, ChildProcess, CrashDelay, own_program

if TYPE_CHECKING:
    from dowse.types import Vectors

WORKER_COMMAND = own_program("dowse.keeping.encoding_worker.worker_main")


class EncodingProcess(ChildProcess):
    """One encoding process. Posting a message never blocks, even when the process does not read."""

    def __init__(
        self,
        options: WorkerOptions,
        on_message: Callable[[dict[str, Any], bytes], None],
        on_exit: "Callable[[EncodingProcess], None]",
        program: Sequence[str] = WORKER_COMMAND,
    ) -> None:
        super().__init__([*program, json.dumps(asdict(options))])
        self.loaded = set[str]()
        """Versions of the encoders that are loaded."""
        self.is_leaving = False
        """The process ends because it has nothing to do, or because it was stopped."""
        self._on_message, self._on_exit = on_message, on_exit
        self._posted = queue.SimpleQueue[dict[str, Any] | None]()
        self._has_ended = threading.Event()
        threading.Thread(target=self._send_posted, daemon=True, name="encoding").start()
        self.listen(self._handle, self._note_end)

    @property
    def is_available(self) -> bool:
        """Whether the process still accepts messages."""
        return not self._has_ended.is_set() and not self.is_leaving

    def post(self, message: dict[str, Any]) -> None:
        """Queue a message for the process."""
        self._posted.put(message)

    def stop(self) -> None:
        """End the process; kill it if that takes too long."""
        self.is_leaving = True
        self._posted.put(None)
        if not self._has_ended.wait(STOP_SECONDS):
            self.kill()
            self._has_ended.wait(STOP_SECONDS)

    def _send_posted(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # the process may have ended
            while (message := self._posted.get()) is not None:
                self.send(message)
        self.end_input()

    def _handle(self, message: dict[str, Any], data: bytes) -> None:
        if "loaded" in message:
            self.loaded.add(message["loaded"])
        if "leaving" in message:
            self.is_leaving = True
        self._on_message(message, data)

    def _note_end(self) -> None:
        self._posted.put(None)
        self._on_exit(self)
        self._has_ended.set()


QUERY_CHARACTERS = 2000
"""Only the beginning of a longer query is encoded. No encoder reads more than this."""
MAX_CACHED_QUERIES = 300
"""Vectors of queries that are remembered: 0.5 MB."""
MAX_WAITING_QUERIES = 64
"""While this many queries wait for their vectors, the next one goes without."""
LOADING_SECONDS = 8.0
"""How long after its start a process may load the model: that takes 0.7 s on a quiet machine, and 4 s on a busy one."""
LOADING_WAIT_SECONDS = 1.5
"""How long a query waits for the model to be loaded meanwhile."""
HUNG_SECONDS = 60.0
"""A process that has not answered for this long is killed."""
VECTOR_CHECK_SECONDS = 5.0
"""Time between two checks whether an index lacks vectors."""


@dataclass(slots=True)
class _PendingQuery:
    """A query that the process encodes now, or whose texts it scores."""

    process: EncodingProcess | None
    kept_as: tuple[str, str] | None
    """The version and the text whose vector is kept; None for the scores of texts."""
    sent_at: float
    answered: threading.Event = field(default_factory=threading.Event)
    vector: "Vectors | None" = None

    def wait(self, seconds: float) -> "Vectors | None":
        """Return the vector or the scores, or None if they are not ready in time."""
        self.answered.wait(seconds)
        return self.vector


def _no_vector(_seconds: float) -> None:
    """Return no vector: the process does not encode yet."""


class EncodingClient:
    """One encoding process for all indexes of a server, started when it is needed. Any thread may use it."""

    def __init__(
        self,
        options: WorkerOptions = WorkerOptions(),  # noqa: B008 - frozen
        *,
        program: Sequence[str] = WORKER_COMMAND,
        say: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self._options, self._program, self._say = options, program, say
        self._lock = threading.RLock()
        self._process: EncodingProcess | None = None
        self._is_stopped = False
        self._cached_vectors = OrderedDict[tuple[str, str], "Vectors"]()
        self._query_numbers = itertools.count(1)
        self._queries = dict[int, _PendingQuery]()
        self._indexes = dict[Path, float]()
        """The served indexes, and when the process was last asked to encode each."""
        self._outcomes = dict[Path, tuple[str, str | None, int]]()
        """The last outcome of each index, its problem, and the state of the index that it is about."""
        self._unavailable = set[str]()
        """Versions of the encoders that could not be opened when it was last tried."""
        self._delay = CrashDelay()
        self.problem: str | None = None
        """Why there is no process, after a crash."""

    # Queries

    def start_query(self, version: str, text: str) -> "Callable[[float], Vectors | None]":
        """Have a query encoded; return a function that waits so many seconds for its vector."""
        text = text[:QUERY_CHARACTERS].encode("utf-8", "replace").decode()  # replaces lone surrogates
        with self._lock:
            if (cached := self._cached_vectors.get((version, text))) is not None:
                self._cached_vectors.move_to_end((version, text))
                if self._has_process():
                    self._post({"hush": True})
                return lambda _seconds: cached
            if not self._start() or len(self._queries) >= MAX_WAITING_QUERIES:
                self._kill_if_hung()
                return _no_vector
            if not self._has_loaded(version):
                self._post({"load": version})
                process = self._process
                return lambda seconds: self._ask_when_loaded(process, version, text, seconds)
            return self._ask("ask", (version, text), version=version, text=text).wait

    def start_scoring(self, version: str, text: str) -> "Callable[[Sequence[str], float], Vectors | None]":
        """Return a function that scores texts against a query; encoding pauses meanwhile, and the model is loaded."""
        with self._lock:
            if self._start():
                self._post({"hush": True} if self._has_loaded(version) else {"load": version})
        return partial(self._score, version, text[:QUERY_CHARACTERS])

    def _score(self, version: str, text: str, texts: Sequence[str], seconds: float) -> "Vectors | None":
        with self._lock:
            if not self._has_loaded(version) or len(self._queries) >= MAX_WAITING_QUERIES:
                self._kill_if_hung()
                return None
            query = self._ask("score", None, version=version, text=text, texts=texts, seconds=seconds)
        return query.wait(seconds)

    def _ask(self, what: str, kept_as: tuple[str, str] | None, **fields: Any) -> _PendingQuery:
        number, query = next(self._query_numbers), _PendingQuery(self._process, kept_as, time.monotonic())
        self._queries[number] = query
        self._post({what: number, **fields})
        return query

    def _ask_when_loaded(
        self, process: EncodingProcess | None, version: str, text: str, seconds: float
    ) -> "Vectors | None":
        """Wait for a process that has just been started, so that a first question has the model too."""
        last = time.monotonic() + LOADING_WAIT_SECONDS
        while process and process.is_available and version not in process.loaded and version not in self._unavailable:
            if time.monotonic() > min(last, process.started + LOADING_SECONDS):
                return None
            time.sleep(0.01)
        is_loaded = process is not None and version in process.loaded
        return self.start_query(version, text)(seconds) if is_loaded else None

    def load(self, version: str) -> None:
        """Have an encoder loaded before the first query."""
        with self._lock:
            if self._start():
                self._post({"load": version})

    # Indexes

    def encode_if_needed(self, project: ProjectIndex) -> None:
        """Have the missing vectors of an index made; cheap where none is missing."""
        root, store = project.root, project.whole
        if time.monotonic() - self._indexes.get(root, -VECTOR_CHECK_SECONDS) < VECTOR_CHECK_SECONDS:
            return
        if project.is_being_updated() or store.fact("state") != "complete":
            return
        if record_complete_versions(store, project.settings) is None:
            record_encoding_complete(store, project.settings)
        elif self._has_process() or not self._is_pointless(root, project):
            self.encode_indexes([root])

    def encode_indexes(self, roots: Iterable[Path]) -> None:
        """Have the missing vectors of these indexes made."""
        with self._lock:
            now, new = time.monotonic(), list(roots)
            self._indexes.update(dict.fromkeys(new, now))
            was_running = self._has_process()
            if self._start() and was_running:
                self._post({"work": [str(root) for root in new]})

    def release(self, root: Path) -> None:
        """Close the files of an index, so that it can be deleted: the process ends, and is started again for the others."""
        with self._lock:
            process = self._process if self._indexes.pop(root, None) is not None and self._has_process() else None
        if process:
            process.stop()

    def outcome(self, root: Path) -> tuple[str, str | None]:
        """Return the last outcome that the process reported for an index, and its problem."""
        return self._outcomes.get(root, ("", None, 0))[:2]

    @property
    def process_id(self) -> int | None:
        """The id of the process, if there is one."""
        process = self._process
        return process.id if process and process.is_available else None

    @property
    def is_given_up(self) -> bool:
        """Whether the process has crashed so often that it is not started for a while."""
        return self._delay.is_given_up

    def stop(self) -> None:
        """Stop the process; the client cannot be used any more."""
        with self._lock:
            self._is_stopped = True
            process = self._process
        if process:
            process.stop()

    # The process

    def _has_process(self) -> bool:
        return self._process is not None and self._process.is_available

    def _has_loaded(self, version: str) -> bool:
        return self._process is not None and self._process.is_available and version in self._process.loaded

    def _start(self) -> bool:
        """Start the process if there is none; return whether there is one."""
        if self._has_process():
            return True
        if self._is_stopped or not self._delay.may_start:
            return False
        options = self._options
        if crashes := self._delay.crashes:
            options = replace(options, batch_texts=max(1, options.batch_texts >> crashes), cores=1)
        try:
            self._process = EncodingProcess(options, self._handle_message, self._handle_exit, self._program)
        except OSError as error:
            self._note_crash(f"The encoding process cannot be started: {error.strerror or error}.")
            return False
        self._post({"work": [str(root) for root in self._indexes]})
        return True

    def _post(self, message: dict[str, Any]) -> None:
        if self._process:
            self._process.post(message)

    def _is_pointless(self, root: Path, project: ProjectIndex) -> bool:
        """Return whether our process could do nothing: another one encodes, or the rest cannot be encoded yet."""
        lease = encoding_lease(project.folder)
        outcome, _, sequence = self._outcomes.get(root, ("", None, 0))
        is_stuck = outcome == "stuck" and sequence == project.whole.catalog.sequence()
        return is_stuck or (lease.path.exists() and lease.is_taken())

    def _kill_if_hung(self) -> None:
        oldest = min((query.sent_at for query in self._queries.values()), default=time.monotonic())
        if self._process and time.monotonic() - oldest >= HUNG_SECONDS:
            self._process.kill()

    def _handle_message(self, message: dict[str, Any], data: bytes) -> None:
        """Handle a message of the process, on the thread that reads them."""
        if "answer" in message:
            self._handle_vector(message["answer"], data)
        if "outcome" in message:
            self._outcomes[Path(message["about"])] = message["outcome"], message["problem"], message["sequence"]
            self.problem = None
        if "unavailable" in message:
            self._unavailable.add(message["unavailable"])
        if "loaded" in message:
            self._unavailable.discard(message["loaded"])
        if "said" in message:
            self._say(message["said"])

    def _handle_vector(self, number: int, vector: bytes) -> None:
        import numpy as np

        with self._lock:
            query = self._queries.pop(number, None)
            if query and vector:
                query.vector = np.frombuffer(vector, "<f4")
            if query and query.vector is not None and query.kept_as:
                self._cached_vectors[query.kept_as] = query.vector
                while len(self._cached_vectors) > MAX_CACHED_QUERIES:
                    self._cached_vectors.popitem(last=False)
        if query:
            query.answered.set()

    def _handle_exit(self, process: EncodingProcess) -> None:
        """Release all threads that wait for a process that has ended, and delay a restart after a crash."""
        with self._lock:
            numbers = [number for number, query in self._queries.items() if query.process is process]
            queries = [self._queries.pop(number) for number in numbers]
            if not process.is_leaving:
                why = f"The encoding process ended with code {process.wait()}. {process.last_words}".strip()
                self._note_crash(why, time.monotonic() - process.started)
        for query in queries:
            query.answered.set()

    def _note_crash(self, problem: str, lived_seconds: float = 0.0) -> None:
        self.problem = problem
        self._delay.note_crash(lived_seconds)
        if self._delay.is_given_up:
            for root in self._indexes:
                record_problem(index_folder(root), problem)
