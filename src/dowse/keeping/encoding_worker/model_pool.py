"""The models of a server, each in a process that is started when it is needed: they encode queries and score texts."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from dowse.encoding.selection import Say, open_version
from dowse.errors import Failed, ModelCrashed
from dowse.keeping.encoding_worker.model_process import MODEL_PROGRAM, ModelProcess, count_cores
from dowse.protocols import Encoder
from dowse.settings import Settings, load_settings
from dowse.store import storage_layout
from dowse.system.child_process import CrashDelay

if TYPE_CHECKING:
    from dowse.types import Vectors

QUERY_CHARACTERS = 2000
"""Only the beginning of a longer query is encoded. No encoder reads more than this."""
MAX_CACHED_QUERIES = 300
"""Vectors of queries that are remembered: 0.5 MB."""
LOADING_SECONDS = 8.0
"""How long a model may be loaded until queries do not wait for it: that takes 0.7 s on a quiet machine, 4 s on a busy one."""
LOADING_WAIT_SECONDS = 1.5
"""How long a query waits for the model to be loaded meanwhile."""
IDLE_SECONDS = 120.0
"""A model's process ends after this long without work or queries, and so do the 100 MB that it takes; starting it again
takes a second, in which queries go on without it."""
RETRY_SECONDS = 300.0
"""Time before a failure is tried again, unless the settings change: a failed download, a full disk."""


class LoadedModel(NamedTuple):
    """A model that is loaded, or being loaded since a time."""

    loading: Future[Encoder]
    began: float

    def process(self, seconds: float = 0.0) -> ModelProcess | None:
        """Return its process; None if it is not loaded within so many seconds."""
        try:
            encoder = self.loading.result(seconds)
        except Exception:  # it takes longer, or cannot be loaded
            return None
        return encoder if isinstance(encoder, ModelProcess) else None


class ModelPool:
    """The models of a server. Any thread may use them."""

    def __init__(
        self, cores: int | None = None, say: Say = lambda _text: None, program: Sequence[str] = MODEL_PROGRAM
    ) -> None:
        """Use half of the cores, unless a user waits for chunks to be encoded and says how many."""
        self._wanted_cores, self._say, self._program = cores or count_cores(0.5), say, program
        self._lock = threading.RLock()
        self._models = dict[str, LoadedModel]()
        self._settings = dict[str, Settings]()
        """The settings of an index that has vectors of a model, by its version."""
        self._cached_vectors = OrderedDict[tuple[str, str], "Vectors"]()
        self._used_at = self._searched_at = 0.0
        """When a model was last used, and when for a search."""
        self._is_stopped = threading.Event()
        self._delay = CrashDelay()
        self.problem: str | None = None
        """Why the last process ended, if that was a crash."""

    def start_query(self, version: str, text: str) -> "Callable[[float], Vectors | None]":
        """Have a query encoded; return a function that waits so many seconds for its vector."""
        text = text[:QUERY_CHARACTERS].encode("utf-8", "replace").decode()  # replaces lone surrogates
        self._searched_at = time.monotonic()
        with self._lock:
            if (cached := self._cached_vectors.get((version, text))) is not None:
                self._cached_vectors.move_to_end((version, text))
                return lambda _seconds: cached
        model = self.use(version)
        if model.loading.done():
            reply = _ask(model.process(), text)
            return lambda seconds: self._keep(version, text, _wait_for(reply, seconds))

        def wait(seconds: float) -> "Vectors | None":
            """Wait for a model that has just been started, so that a first question has it too."""
            left = min(LOADING_WAIT_SECONDS, model.began + LOADING_SECONDS - time.monotonic())
            return self._keep(version, text, _wait_for(_ask(model.process(max(left, 0.0)), text), seconds))

        return wait

    def start_scoring(self, version: str, text: str) -> "Callable[[Sequence[str], float], Vectors | None]":
        """Return a function that scores texts against a query; encoding pauses meanwhile, and the model is loaded."""
        self._searched_at = time.monotonic()
        model = self.use(version)

        def score(texts: Sequence[str], seconds: float) -> "Vectors | None":
            process = model.process()
            if process is None or process.is_busy:
                return None
            return _wait_for(process.start_scoring(text[:QUERY_CHARACTERS], texts, seconds), seconds)

        return score

    def _keep(self, version: str, text: str, vector: "Vectors | None") -> "Vectors | None":
        if vector is not None:
            with self._lock:
                self._cached_vectors[version, text] = vector
                while len(self._cached_vectors) > MAX_CACHED_QUERIES:
                    self._cached_vectors.popitem(last=False)
        return vector

    def use(self, version: str, settings: Settings | None = None) -> LoadedModel:
        """Return a model, which begins to be loaded if it is not.

        One that could not be loaded is tried again after a while, or with settings.
        """
        with self._lock:
            self._used_at = time.monotonic()
            known = self._models.get(version)
            if known and known.loading.done() and known.loading.exception():
                known = None if settings or self._used_at - known.began >= RETRY_SECONDS else known
            if known:
                return known
            model = LoadedModel(Future(), self._used_at)
            if self._is_stopped.is_set() or not self._delay.may_start:
                model.loading.set_exception(ModelCrashed(self.problem or "The encoding process was stopped."))
                return model
            self._models[version] = model
            settings = settings or self._settings.get(version)
        threading.Thread(target=self._load, args=(version, model, settings), daemon=True, name="loads").start()
        return model

    @property
    def cores(self) -> int:
        """The cores that a model uses: one after a crash, when memory may have been short."""
        return 1 if self._delay.crashes else self._wanted_cores

    @property
    def process_id(self) -> int | None:
        """The id of a model's process, if there is one."""
        with self._lock:
            found = [model.process() for model in self._models.values()]
        return next((process.id for process in found if process), None)

    def stop(self) -> None:
        """End the processes; no model is used any more."""
        self._is_stopped.set()
        with self._lock:
            found = [model.process() for model in self._models.values()]
        for process in filter(None, found):
            process.close()

    def _load(self, version: str, model: LoadedModel, settings: Settings | None) -> None:
        """Load a model and, once it is not used for long, end its process."""
        settings = settings or load_settings(storage_layout.global_settings_file())[0]
        start = partial(ModelProcess, program=self._program, note_crash=partial(self._note_crash, version))
        try:
            encoder = open_version(version, settings, self._say, self.cores, start)
        except Exception as error:  # of a library, too: others wait for the model
            model.loading.set_exception(error)
            return
        self._used_at = time.monotonic()
        model.loading.set_result(encoder)
        while (left := self._used_at + IDLE_SECONDS - time.monotonic()) > 0 and not self._is_stopped.wait(left):
            pass
        with self._lock:
            if self._models.get(version) is model:
                del self._models[version]
        if process := model.process():
            process.close()

    def _note_crash(self, version: str, problem: str, lived_seconds: float) -> None:
        with self._lock:
            self._models.pop(version, None)
            self.problem = problem
            self._delay.note_crash(lived_seconds)


def _ask(process: ModelProcess | None, text: str) -> Future[bytes] | None:
    return process.start_query(text) if process and not process.is_busy else None


def _wait_for(reply: Future[bytes] | None, seconds: float) -> "Vectors | None":
    """Return what a process has computed; None if it is not ready in time, or the process fails on a strange text."""
    import numpy as np

    try:
        data = reply.result(seconds) if reply else b""
    except (TimeoutError, Failed):
        return None
    return np.frombuffer(data, "<f4") if data else None
