"""A model in a process of its own, which computes and can read nothing but the model."""

import contextlib
import itertools
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.encoding.minilm import MAX_CHARACTERS, SCORING_THREADS
from dowse.errors import Failed, ModelCrashed
from dowse.system.child_process import INVALID_MESSAGES, STOP_SECONDS, ChildProcess, own_program
from dowse.system.platform import multiplies_eight_bits

if TYPE_CHECKING:
    from dowse.types import Kind, Vectors

MODEL_PROGRAM = own_program("dowse.keeping.encoding_worker.model_worker")
MAX_CORES = 4
"""The most cores that a model uses."""
MAX_WAITING = 64
"""While this many requests wait for their replies, a search goes without."""
HUNG_SECONDS = 60.0
"""A process that has not answered for this long is killed."""


def count_cores(share: float = 1.0) -> int:
    """Return the number of cores that a model may use, as a share of those that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(MAX_CORES, int(cores * share)))


class ModelProcess:
    """An encoder whose model is in a caged process. Any thread may use it; sending never blocks."""

    def __init__(
        self,
        folder: Path,
        version: str,
        threads: int = 1,
        *,
        program: Sequence[str] = MODEL_PROGRAM,
        note_crash: Callable[[str, float], None] = lambda _problem, _seconds: None,
    ) -> None:
        """Load a model. Raise Failed when its files cannot be used, and ModelCrashed when the process ends.

        If it ends by itself, now or later, `note_crash` is called with the reason and how long it lived.
        """
        self.version, self._note_crash = version, note_crash
        model = {
            "folder": str(folder), "threads": threads, "in_eight_bits": multiplies_eight_bits(),
            "scoring_threads": min(SCORING_THREADS, count_cores()),
        }  # fmt: skip
        self._numbers, self._replies = itertools.count(1), dict[int, tuple[Future[bytes], float]]()
        """The replies that are waited for, oldest first, and when each was asked for."""
        self._lock, self._messages = threading.Lock(), queue.SimpleQueue[dict[str, Any] | None]()
        self._has_ended, self._is_closed, self._problem = threading.Event(), False, ""
        try:
            self._process = ChildProcess([*program, json.dumps(model)])
        except OSError as error:
            problem = f"The encoding process cannot be started: {error.strerror or error}."
            note_crash(problem, 0.0)
            raise ModelCrashed(problem) from error
        self.id, first = self._process.id, None
        with contextlib.suppress(*INVALID_MESSAGES):
            first = self._process.receive()
        if first is None:
            self._process.stop()  # not killed at once: its exit code and last words are the reason
            self._note_end()
            raise ModelCrashed(self._problem)
        if "problem" in first[0]:
            self._process.stop()
            raise Failed(first[0]["problem"])
        self.dimensions = int(first[0]["dimensions"])
        threading.Thread(target=self._send_messages, daemon=True, name="encoding").start()
        self._process.listen(self._handle, self._note_end)

    def encode(self, texts: Sequence[str], kind: "Kind" = "docs") -> "Vectors":
        """Return one row for each text, of length 1, or 0 for a text without words."""
        import numpy as np

        reply = self._ask(texts, kind=kind)
        if not wait([reply], HUNG_SECONDS).done:
            self._process.kill()
        return np.frombuffer(reply.result(), "<f4").reshape(len(texts), self.dimensions)

    def encode_query(self, text: str) -> "Vectors":
        """Return the vector of a query."""
        import numpy as np

        return np.frombuffer(self.start_query(text).result(), "<f4")

    def start_query(self, text: str) -> Future[bytes]:
        """Have a query encoded; return its vector, whenever it comes."""
        return self._ask([text], kind=None)

    def start_scoring(self, query: str, texts: Sequence[str], seconds: float) -> Future[bytes]:
        """Have texts scored by how well each answers a query; the scores are empty if nobody waits for them any more."""
        return self._ask(texts, query=query[:MAX_CHARACTERS], seconds=seconds)

    @property
    def is_busy(self) -> bool:
        """Whether too many requests wait. A process that has answered none of them for long is killed."""
        with self._lock:
            asked = [asked_at for _, asked_at in self._replies.values()]
        if asked and time.monotonic() - asked[0] >= HUNG_SECONDS:
            self._process.kill()
        return len(asked) >= MAX_WAITING

    def close(self) -> None:
        """End the process; kill it if that takes too long."""
        self._is_closed = True
        self._messages.put(None)
        if not self._has_ended.wait(STOP_SECONDS):
            self._process.kill()
            self._has_ended.wait(STOP_SECONDS)

    def _ask(self, texts: Sequence[str], **more: Any) -> Future[bytes]:
        number, reply = next(self._numbers), Future[bytes]()
        with self._lock:
            if self._has_ended.is_set():
                reply.set_exception(ModelCrashed(self._problem))
                return reply
            self._replies[number] = reply, time.monotonic()
        self._messages.put({"number": number, "texts": [text[:MAX_CHARACTERS] for text in texts], **more})
        return reply

    def _send_messages(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # the process may have ended
            while (message := self._messages.get()) is not None:
                self._process.send(message)
        self._process.end_input()

    def _handle(self, fields: dict[str, Any], data: bytes) -> None:
        with self._lock:
            reply, _ = self._replies.pop(fields["number"])
        if problem := fields.get("problem"):
            reply.set_exception(Failed(problem))
        else:
            reply.set_result(data)

    def _note_end(self) -> None:
        code = self._process.wait()
        self._problem = f"The encoding process ended with code {code}. {self._process.last_words}".strip()
        self._messages.put(None)
        if not self._is_closed:
            self._note_crash(self._problem, time.monotonic() - self._process.started)
        with self._lock:
            self._has_ended.set()
            replies = [reply for reply, _ in self._replies.values()]
        for reply in replies:
            reply.set_exception(ModelCrashed(self._problem))
