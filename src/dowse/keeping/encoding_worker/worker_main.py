"""The encoding process: it encodes queries at once, and the chunks of its server's indexes when there is time.

When stdin ends, the server is gone or needs the process no more: it saves its work and exits.
"""

import contextlib
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from dowse.errors import Failed
from dowse.keeping.encoding_worker.model_process import ModelProcess
from dowse.keeping.encoding_worker.work_queue import WorkQueue
from dowse.keeping.encoding_worker.worker import Send, Worker
from dowse.keeping.encoding_worker.worker_options import WorkerOptions
from dowse.system.child_messages import EXIT_SECONDS, open_messages, read_message, write_message
from dowse.system.platform import lower_priority
from dowse.system.signals import exit_after, ignore_interrupts


def main(arguments: list[str]) -> int:
    """Encode with the options in the arguments until stdin ends or there is no work for long."""
    ignore_interrupts()  # Ctrl-C is for the server, which then closes stdin
    lower_priority()
    queue, writing = WorkQueue(), threading.Lock()
    received, sent = open_messages()

    def send(message: dict[str, Any], data: bytes = b"") -> None:
        with writing:
            try:
                write_message(sent, message, data)
            except OSError:
                queue.end()

    worker = Worker(queue, WorkerOptions(**json.loads(arguments[0])), send)
    threading.Thread(target=_listen, args=(received, queue, worker, send), daemon=True, name="listens").start()
    worker.work()
    return 0


def _listen(received: IO[bytes], queue: WorkQueue, worker: Worker, send: Send) -> None:
    """Read the messages of the server, and answer its searches at once, whatever the worker is doing."""
    scoring = ThreadPoolExecutor(1, thread_name_prefix="scores")  # a query does not wait for texts of another search
    while (found := read_message(received)) is not None:
        message = found[0]
        if not message.keys().isdisjoint(("hush", "ask", "score")):
            queue.note_query()
        if "ask" in message:
            send({"answer": message["ask"]}, _encode_query(worker, message))
        elif "score" in message:
            scoring.submit(_score, worker, message, time.monotonic() + message["seconds"], send)
        else:
            queue.accept(message)
    queue.end()
    exit_after(EXIT_SECONDS, Failed.exit_code)  # a download or a lock may hang; unsaved vectors are made again


def _encode_query(worker: Worker, message: dict[str, Any]) -> bytes:
    """Return the vector of a query; nothing if there is none."""
    encoder = worker.loaded(message["version"])
    try:
        return encoder.encode_query(message["text"]).astype("<f4").tobytes() if encoder else b""
    except Exception:  # a library fails on a strange text: this query goes without a vector
        return b""


def _score(worker: Worker, message: dict[str, Any], last: float, send: Send) -> None:
    """Send the scores of texts; nothing if there are none, or if nobody waits for them any more."""
    encoder, data = worker.loaded(message["version"]), b""
    if isinstance(encoder, ModelProcess) and time.monotonic() < last:
        with contextlib.suppress(Exception):  # as for a query
            data = encoder.score(message["text"], message["texts"]).astype("<f4").tobytes()
    send({"answer": message["score"]}, data)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
