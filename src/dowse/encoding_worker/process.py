"""The encoding process as its server sees it: start it, send and receive messages, stop it."""

import contextlib
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO, Any, cast

from dowse.encoding_worker.messages import encode_message, parse_message
from dowse.encoding_worker.worker_options import WorkerOptions

# -P keeps the working directory, which may be an untrusted project, out of the import path.
WORKER_COMMAND = (sys.executable, "-P", "-m", "dowse.encoding_worker.worker_main")
STOP_SECONDS = 1.0
"""How long the process may take to save its work before it is killed."""


class EncodingProcess:
    """One encoding process. Sending a message never blocks, even when the process does not read."""

    def __init__(
        self,
        options: WorkerOptions,
        on_message: "Callable[[EncodingProcess, dict[str, Any]], None]",
        on_exit: "Callable[[EncodingProcess], None]",
        program: Sequence[str] = WORKER_COMMAND,
    ) -> None:
        self.started = time.monotonic()
        self.loaded = set[str]()
        """Versions of the encoders that are loaded."""
        self.is_leaving = False
        """The process ends because it has nothing to do, or because it was stopped."""
        self.last_output = ""
        self._on_message, self._on_exit = on_message, on_exit
        self._lines = queue.SimpleQueue[bytes | None]()
        self._has_ended = threading.Event()
        pipe = subprocess.PIPE
        command = [*program, options.to_argument()]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT)  # noqa: S603 - ours
        self._stdin, self._stdout = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)
        for work in (self._write_messages, self._read_messages):
            threading.Thread(target=work, daemon=True, name="encoding").start()

    @property
    def is_available(self) -> bool:
        """Whether the process still accepts messages."""
        return not self._has_ended.is_set() and not self.is_leaving

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message for the process."""
        self._lines.put(encode_message(message))

    def stop(self) -> None:
        """Stop the process; it saves its work first."""
        self.is_leaving = True
        self._lines.put(None)
        if not self._has_ended.wait(STOP_SECONDS):
            self.kill()
            self._has_ended.wait(STOP_SECONDS)

    def kill(self) -> None:
        """Kill the process."""
        self.process.kill()

    def _write_messages(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._stdin as stream:  # the process may have ended
            while (line := self._lines.get()) is not None:
                stream.write(line)
                stream.flush()

    def _read_messages(self) -> None:
        with self._stdout as stream:
            for line in stream:
                message = parse_message(line)
                if message is None:
                    self.last_output = line.decode("utf-8", "replace").strip() or self.last_output
                    continue
                if "loaded" in message:
                    self.loaded.add(message["loaded"])
                if "leaving" in message:
                    self.is_leaving = True
                self._on_message(self, message)
        self.process.wait()
        self._lines.put(None)
        self._on_exit(self)
        self._has_ended.set()
