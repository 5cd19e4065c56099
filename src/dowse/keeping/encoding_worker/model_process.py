"""A model in a process of its own: the encoding process reads files and writes indexes, this one only computes."""

import contextlib
import itertools
import json
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.encoding.minilm import MAX_CHARACTERS, SCORING_THREADS
from dowse.errors import Failed
from dowse.keeping.encoding_worker.worker_options import count_cores
from dowse.system.child_process import INVALID_MESSAGES, ChildProcess, own_program

if TYPE_CHECKING:
    from dowse.types import Kind, Vectors


class ModelProcess:
    """An encoder whose model is in a caged process. When that process crashes, this one ends too and is started again."""

    def __init__(self, folder: Path, version: str, threads: int = 1, *, in_eight_bits: bool = True) -> None:
        """Raise Failed when the folder's files cannot be used."""
        self.version = version
        model = {
            "folder": str(folder), "threads": threads, "in_eight_bits": in_eight_bits,
            "scoring_threads": min(SCORING_THREADS, count_cores()),
        }  # fmt: skip
        program = own_program("dowse.keeping.encoding_worker.model_worker", json.dumps(model))
        try:
            self._process = ChildProcess(program)
        except OSError as error:
            raise Failed(f"The model's process cannot be started ({error.strerror or error}).") from error
        first = None
        with contextlib.suppress(*INVALID_MESSAGES):
            first = self._process.receive()
        if first is None or "problem" in first[0]:
            self._process.kill()
            self._process.wait()
            raise Failed(first[0]["problem"] if first else f"The model's process ended. {self._process.last_words}")
        self.dimensions = int(first[0]["dimensions"])
        self._numbers, self._replies, self._sending = itertools.count(1), dict[int, Future[bytes]](), threading.Lock()
        self._is_closed = False
        self._process.listen(self._handle, self._note_end)

    def encode(self, texts: Sequence[str], kind: "Kind" = "docs") -> "Vectors":
        """Return one row for each text, of length 1, or 0 for a text without words."""
        return self._encode(texts, kind)

    def encode_query(self, text: str) -> "Vectors":
        """Return the vector of a query."""
        vector: Vectors = self._encode([text], None)[0]
        return vector

    def score(self, query: str, texts: Sequence[str]) -> "Vectors":
        """Return how well each text answers a query."""
        import numpy as np

        return np.frombuffer(self._ask(texts, query=query[:MAX_CHARACTERS]), "<f4")

    def close(self) -> None:
        """End the process."""
        self._is_closed = True
        self._process.stop()

    def _encode(self, texts: Sequence[str], kind: "Kind | None") -> "Vectors":
        import numpy as np

        return np.frombuffer(self._ask(texts, kind=kind), "<f4").reshape(len(texts), self.dimensions)

    def _ask(self, texts: Sequence[str], **more: str | None) -> bytes:
        """Return the reply of the process, whenever it comes."""
        number = next(self._numbers)
        reply = self._replies[number] = Future[bytes]()
        with self._sending:
            fields = {"number": number, "texts": [text[:MAX_CHARACTERS] for text in texts], **more}
            with contextlib.suppress(OSError, ValueError):  # it has ended, which `_note_end` notes
                self._process.send(fields)
        return reply.result()

    def _handle(self, fields: dict[str, Any], data: bytes) -> None:
        reply = self._replies.pop(fields["number"])
        if problem := fields.get("problem"):
            reply.set_exception(Failed(problem))
        else:
            reply.set_result(data)

    def _note_end(self) -> None:
        if self._is_closed:
            return
        print(self._process.last_words, file=sys.stderr, flush=True)  # noqa: T201 - the server reads it
        os._exit(Failed.exit_code)  # the server starts both again, with less work at a time
