"""The program of a model process: it encodes texts of strangers, and can read its model and nothing else.

When stdin ends, the server is gone or needs this process no more.
"""

import json
import os
import queue
import sys
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dowse.encoding.minilm import BATCH_TEXTS, CosineScorer, MiniLM
from dowse.errors import DowseError
from dowse.system.child_messages import open_messages, read_message, write_message
from dowse.system.platform import lower_priority
from dowse.system.sandbox import interpreter_folders, restrict_process
from dowse.system.signals import ignore_interrupts

if TYPE_CHECKING:
    from dowse.types import Kind, Vectors


def main(arguments: list[str]) -> int:
    """Load the model that the arguments describe, and encode until stdin ends."""
    ignore_interrupts()  # Ctrl-C is for the server, which then closes stdin
    lower_priority()
    model = json.loads(arguments[0])
    folder = Path(model["folder"])
    restrict_process([*interpreter_folders(), *_model_places(folder)], [os.devnull])
    requests, replies = open_messages()
    try:
        encoder = MiniLM.from_folder(folder, "", model["threads"], in_eight_bits=model["in_eight_bits"])
    except DowseError as error:
        write_message(replies, {"problem": str(error)})
        return 0
    write_message(replies, {"dimensions": encoder.dimensions})
    scorer = CosineScorer(encoder, model["scoring_threads"])
    _Answers(encoder, scorer, replies, BATCH_TEXTS * model["threads"]).run(requests)
    return 0


class _Answers:
    """Answers requests; those of a search wait for no batch of chunks."""

    def __init__(self, encoder: MiniLM, scorer: CosineScorer, replies: IO[bytes], at_once: int) -> None:
        self._encoder, self._scorer, self._replies, self._writing = encoder, scorer, replies, threading.Lock()
        self._batches, self._scored = queue.SimpleQueue[dict[str, Any]](), queue.SimpleQueue[dict[str, Any]]()
        self._at_once, self._scoring = at_once, threading.Lock()
        """How many chunks are encoded at once, and the lock that is held while texts are scored, which chunks wait for."""

    def run(self, requests: IO[bytes]) -> None:
        threading.Thread(target=self._answer_all, args=(self._batches,), daemon=True, name="batches").start()
        threading.Thread(target=self._answer_all, args=(self._scored,), daemon=True, name="scores").start()
        while (found := read_message(requests)) is not None:
            message = found[0]
            if "query" in message:
                self._scored.put({**message, "last": time.monotonic() + message["seconds"]})
            elif message["kind"] is None:
                self._answer(message)
            else:
                self._batches.put(message)

    def _answer_all(self, messages: "queue.SimpleQueue[dict[str, Any]]") -> None:
        while True:
            self._answer(messages.get())

    def _compute(self, message: dict[str, Any]) -> "Vectors":
        texts = message["texts"]
        if "query" in message:
            with self._scoring:
                is_late = time.monotonic() > message["last"]
                return np.empty(0, np.float32) if is_late else self._scorer.score(message["query"], texts)
        if message["kind"] is None:
            return self._encoder.encode_query(texts[0])
        parts = [texts[start : start + self._at_once] for start in range(0, len(texts) or 1, self._at_once)]
        return np.concatenate([self._encode(part, message["kind"]) for part in parts])

    def _encode(self, texts: list[str], kind: "Kind") -> "Vectors":
        with self._scoring:  # a search that waits goes first
            pass
        return self._encoder.encode(texts, kind)

    def _answer(self, message: dict[str, Any]) -> None:
        fields, data = {"number": message["number"]}, b""
        try:
            data = self._compute(message).astype("<f4").tobytes()
        except Exception as error:  # a library fails on a strange text, and the others need this process
            fields["problem"] = str(error) or type(error).__name__
        with self._writing:
            write_message(self._replies, fields, data)


def _model_places(folder: Path) -> list[str]:
    """Return the folder of a model, and the files that links in it lead to."""
    return [str(folder), *(os.path.realpath(file) for file in (*folder.glob("*"), *folder.glob("onnx/*")))]


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except (BrokenPipeError, KeyboardInterrupt):
        code = 1
    os._exit(code)  # whatever a batch still computes
