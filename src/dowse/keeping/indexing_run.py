"""Indexing in a process of its own, as the server that starts, follows and stops it sees it."""

import json
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dowse.errors import DowseError, Failed, error_with
from dowse.indexes.index import ProjectIndex
from dowse.system.child_process import STOP_SECONDS, ChildProcess, own_program
from dowse.types import View

REBUILD, VERIFY = "rebuild", "verify"
"""What the process does instead of an update: the method of the index that it calls."""


@dataclass(slots=True)
class IndexingRun:
    """One run of the indexing process. A thread reads its messages and sets the fields."""

    process: ChildProcess
    started: float = field(default_factory=time.monotonic)
    done: int = 0
    total: int = 0
    is_complete: bool = False
    was_stopped: bool = False
    """The run was stopped before it was complete."""
    seconds: float = 0.0
    error: DowseError | None = None
    warnings: list[str] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def is_running(self) -> bool:
        """Whether the process still runs, or its messages are still being read."""
        return not self._ended.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until the run ends, at most this long; return whether it has ended."""
        return self._ended.wait(seconds)

    def stop(self) -> None:
        """Stop the process; it saves its work first."""
        self.was_stopped = True
        self.process.end_input()
        if not self.wait(STOP_SECONDS):
            self.process.kill()
            self.wait(STOP_SECONDS)

    def handle_message(self, message: dict[str, Any], _data: bytes) -> None:
        """Take over what the process says."""
        self.done, self.total = message.get("done", self.done), message.get("total", self.total)
        self.is_complete = message.get("is_complete", self.is_complete)
        self.seconds = message.get("seconds", self.seconds)
        self.warnings = message.get("warnings", self.warnings)
        if "error" in message:
            self.error = error_with(message["code"], message["error"])

    def note_end(self) -> None:
        """Record that the process has ended."""
        code = self.process.wait()
        if code and not self.error and not self.was_stopped:
            self.error = Failed(f"The indexing process ended with code {code}. {self.process.last_words}".strip())
        self._ended.set()


def start_run(
    root: Path, views: View, how: str | None = None, index_type: type[ProjectIndex] = ProjectIndex
) -> IndexingRun:
    """Start indexing a root: changed files, all files (REBUILD), or files whose content differs (VERIFY).

    The process is told the class of the index, so that it need not know every kind of root.
    """
    work = {"how": how or "update", "views": views.value, "type": [index_type.__module__, index_type.__name__]}
    try:
        process = ChildProcess(own_program("dowse.keeping.indexing_worker", json.dumps(work), str(root)))
    except OSError as error:
        raise Failed(f"The indexing process cannot be started: {error.strerror}.") from error
    run = IndexingRun(process)
    process.listen(run.handle_message, run.note_end)
    return run
