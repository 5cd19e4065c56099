"""The encoding process as its server sees it: start it, send and receive messages, stop it."""

import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

from dowse.child_process import STOP_SECONDS, ChildProcess, own_program
from dowse.encoding_worker.worker_options import WorkerOptions

WORKER_COMMAND = own_program("dowse.encoding_worker.worker_main")


class EncodingProcess(ChildProcess):
    """One encoding process. Posting a message never blocks, even when the process does not read."""

    def __init__(
        self,
        options: WorkerOptions,
        on_message: "Callable[[EncodingProcess, dict[str, Any], bytes], None]",
        on_exit: "Callable[[EncodingProcess], None]",
        program: Sequence[str] = WORKER_COMMAND,
    ) -> None:
        super().__init__([*program, options.to_argument()])
        self.loaded = set[str]()
        """Versions of the encoders that are loaded."""
        self.is_leaving = False
        """The process ends because it has nothing to do, or because it was stopped."""
        self._on_message, self._on_exit = on_message, on_exit
        self._posted = queue.SimpleQueue[dict[str, Any] | None]()
        self._has_ended = threading.Event()
        threading.Thread(target=self._send_posted, daemon=True, name="encoding").start()
        self.listen(self._handle, self._note_end)

    @property
    def is_available(self) -> bool:
        """Whether the process still accepts messages."""
        return not self._has_ended.is_set() and not self.is_leaving

    def post(self, message: dict[str, Any]) -> None:
        """Queue a message for the process."""
        self._posted.put(message)

    def stop(self) -> None:
        """End the process; kill it if that takes too long."""
        self.is_leaving = True
        self._posted.put(None)
        if not self._has_ended.wait(STOP_SECONDS):
            self.kill()
            self._has_ended.wait(STOP_SECONDS)

    def _send_posted(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # the process may have ended
            while (message := self._posted.get()) is not None:
                self.send(message)
        self.end_input()

    def _handle(self, message: dict[str, Any], data: bytes) -> None:
        if "loaded" in message:
            self.loaded.add(message["loaded"])
        if "leaving" in message:
            self.is_leaving = True
        self._on_message(self, message, data)

    def _note_end(self) -> None:
        self._posted.put(None)
        self._on_exit(self)
        self._has_ended.set()
