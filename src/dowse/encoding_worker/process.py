"""An encoding process as its server has it: started, spoken to, listened to, ended."""

import contextlib
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO, Any, cast

from dowse.encoding_worker.messages import as_line, message_in
from dowse.encoding_worker.worker_options import WorkerOptions

# -P keeps the working directory, which may be a stranger's project, out of the import path.
PROGRAM = (sys.executable, "-P", "-m", "dowse.encoding_worker.worker_main")
STOP_SECONDS = 1.0
"""How long it may take to keep what it has done before it is ended by force."""


class EncodingProcess:
    """One encoding process; whatever is said to it never waits, even where it does not listen."""

    def __init__(
        self,
        habits: WorkerOptions,
        told: "Callable[[EncodingProcess, dict[str, Any]], None]",
        ended: "Callable[[EncodingProcess], None]",
        program: Sequence[str] = PROGRAM,
    ) -> None:
        self.started = time.monotonic()
        self.loaded = set[str]()
        """Encoders that it has told to be ready."""
        self.is_leaving = False
        """It ends because there is nothing to do, or because we said so."""
        self.last_words = ""
        self._told, self._ended = told, ended
        self._lines = queue.SimpleQueue[bytes | None]()
        self._has_ended = threading.Event()
        pipe = subprocess.PIPE
        command = [*program, habits.as_argument()]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT)  # noqa: S603 - ours
        self._stdin, self._stdout = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)
        for work in (self._speak, self._listen):
            threading.Thread(target=work, daemon=True, name="encoding").start()

    @property
    def is_there(self) -> bool:
        """Whether it may still be spoken to."""
        return not self._has_ended.is_set() and not self.is_leaving

    def say(self, message: dict[str, Any]) -> None:
        """Tell it something, in its turn."""
        self._lines.put(as_line(message))

    def stop(self) -> None:
        """Let it end, with what it has done kept."""
        self.is_leaving = True
        self._lines.put(None)
        if not self._has_ended.wait(STOP_SECONDS):
            self.kill()
            self._has_ended.wait(STOP_SECONDS)

    def kill(self) -> None:
        """End it by force."""
        self.process.kill()

    def _speak(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._stdin as stream:  # it may be gone
            while (line := self._lines.get()) is not None:
                stream.write(line)
                stream.flush()

    def _listen(self) -> None:
        with self._stdout as stream:
            for line in stream:
                message = message_in(line)
                if message is None:
                    self.last_words = line.decode("utf-8", "replace").strip() or self.last_words
                    continue
                if "loaded" in message:
                    self.loaded.add(message["loaded"])
                if "leaving" in message:
                    self.is_leaving = True
                self._told(self, message)
        self.process.wait()
        self._lines.put(None)
        self._ended(self)
        self._has_ended.set()
