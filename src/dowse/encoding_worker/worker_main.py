"""The encoding process: it encodes queries at once, and the chunks of its server's indexes when there is time.

Messages arrive on stdin and leave on stdout, one JSON object a line (`messages`). When stdin ends, the server is
gone or needs the process no more: it saves its work and exits.
"""

import os
import sys
import threading
from typing import Any

from dowse.encoding_worker.messages import encode_message, parse_message, vector_to_text
from dowse.encoding_worker.work_queue import WorkQueue
from dowse.encoding_worker.worker import Send, Worker
from dowse.encoding_worker.worker_options import parse_options
from dowse.errors import Failed
from dowse.platform import lower_priority
from dowse.signals import ignore_interrupts

EXIT_SECONDS = 5.0
"""How long saving may take after stdin has ended."""


def main(arguments: list[str]) -> int:
    """Encode with the options in the arguments until stdin ends or there is no work for long."""
    ignore_interrupts()  # Ctrl-C is for the server, which then closes stdin
    lower_priority()
    queue, writing = WorkQueue(), threading.Lock()

    def send(message: dict[str, Any]) -> None:
        with writing:
            try:
                os.write(1, encode_message(message))
            except OSError:
                queue.end()

    worker = Worker(queue, parse_options(arguments[0]), send)
    threading.Thread(target=_listen, args=(queue, worker, send), daemon=True, name="listens").start()
    worker.work()
    return 0


def _listen(queue: WorkQueue, worker: Worker, send: Send) -> None:
    """Read the messages of the server, and encode its queries at once, whatever the worker is doing."""
    rest = b""
    while piece := _read():
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            message = parse_message(line)
            if message is None:
                continue
            if "hush" in message or "ask" in message:
                queue.note_query()
            if "ask" in message:
                send({"answer": message["ask"], **_encode_query(worker, message)})
            else:
                queue.accept(message)
    queue.end()
    # Do not wait for a download or a lock that hangs: unsaved vectors are made again.
    ending = threading.Timer(EXIT_SECONDS, os._exit, (Failed.exit_code,))
    ending.daemon = True
    ending.start()


def _read() -> bytes:
    try:
        return os.read(0, 65536)
    except OSError:
        return b""


def _encode_query(worker: Worker, message: dict[str, Any]) -> dict[str, str | None]:
    encoder = worker.loaded(message["version"])
    if encoder is None:
        return {"vector": None}
    try:
        return {"vector": vector_to_text(encoder.encode_query(message["text"]))}
    except Exception:  # a library fails on a strange text: this query goes without a vector
        return {"vector": None}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
