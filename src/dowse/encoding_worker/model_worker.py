"""The program of a model process: it encodes texts of strangers, and can read its model and nothing else.

When stdin ends, the encoding process is gone, and so is this one.
"""

import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import IO, Any

from dowse.child_messages import open_messages, read_message, write_message
from dowse.encoding.minilm import MiniLM
from dowse.errors import DowseError
from dowse.sandbox import interpreter_folders, restrict_process
from dowse.signals import ignore_interrupts


def main(arguments: list[str]) -> int:
    """Load the model that the arguments describe, and encode until stdin ends."""
    ignore_interrupts()
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
    _Answers(encoder, replies).run(requests)
    return 0


class _Answers:
    """Answers requests; that for a query does not wait for a batch of chunks."""

    def __init__(self, encoder: MiniLM, replies: IO[bytes]) -> None:
        self._encoder, self._replies, self._writing = encoder, replies, threading.Lock()
        self._batches = queue.SimpleQueue[dict[str, Any]]()

    def run(self, requests: IO[bytes]) -> None:
        threading.Thread(target=self._encode_batches, daemon=True, name="batches").start()
        while (found := read_message(requests)) is not None:
            message = found[0]
            if message["kind"] is None:
                self._answer(message)
            else:
                self._batches.put(message)

    def _encode_batches(self) -> None:
        while True:
            self._answer(self._batches.get())

    def _answer(self, message: dict[str, Any]) -> None:
        texts, kind = message["texts"], message["kind"]
        fields, data = {"number": message["number"]}, b""
        try:
            vectors = self._encoder.encode(texts, kind) if kind else self._encoder.encode_query(texts[0])
            data = vectors.astype("<f4").tobytes()
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
