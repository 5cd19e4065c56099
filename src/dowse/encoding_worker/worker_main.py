"""A process of its own that encodes: questions at once, the chunks of its server's indexes whenever there is time.

What it is told comes by stdin and what it says goes to stdout, a JSON object a line (`wire`). When stdin ends, its
server is gone or does not want it any more: what is done is kept.
"""

import os
import signal
import sys
import threading
from typing import Any

from dowse.encoding_worker.messages import as_line, as_text, message_in
from dowse.encoding_worker.work_queue import WorkQueue
from dowse.encoding_worker.worker import Worker
from dowse.encoding_worker.worker_options import habits_in
from dowse.errors import Failed
from dowse.platform import lower_priority

LEAVE_SECONDS = 5.0
"""How long what is done may take to be kept once nobody wants us any more."""


def main(arguments: list[str]) -> int:
    """Encode with the habits of the arguments until stdin ends, or nobody has wanted anything for long."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for our parent, who then closes stdin
    lower_priority()
    duties, told = WorkQueue(), threading.Lock()

    def tell(message: dict[str, Any]) -> None:
        with told:
            try:
                os.write(1, as_line(message))
            except OSError:
                duties.end()

    worker = Worker(duties, habits_in(arguments[0]), tell)
    threading.Thread(target=_listen, args=(duties, worker, tell), daemon=True, name="listens").start()
    worker.work()
    return 0


def _listen(duties: WorkQueue, worker: Worker, tell: Any) -> None:
    """Take in what the server says, and answer its questions at once, whatever the worker is doing."""
    rest = b""
    while piece := _read():
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            message = message_in(line)
            if message is None:
                continue
            if "hush" in message or "ask" in message:
                duties.note_question()
            if "ask" in message:
                tell({"answer": message["ask"], "vector": _answer(worker, message)})
            else:
                duties.take(message)
    duties.end()
    # What hangs in a download or on a lock is not waited for: what is not kept by now is made again.
    ending = threading.Timer(LEAVE_SECONDS, os._exit, (Failed.exit_code,))
    ending.daemon = True
    ending.start()


def _read() -> bytes:
    try:
        return os.read(0, 65536)
    except OSError:
        return b""


def _answer(worker: Worker, message: dict[str, Any]) -> str | None:
    encoder = worker.loaded(message["version"])
    if encoder is None:
        return None
    try:
        return as_text(encoder.encode([message["text"]])[0])
    except Exception:  # whatever a library says to a strange text: this one goes without, the next one does not
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
