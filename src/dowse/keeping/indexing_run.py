"""Indexing in a process of its own, as the server that starts, follows and stops it sees it."""

import contextlib
import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dowse.errors import DowseError, Failed, error_with
from dowse.types import View

REBUILD = "--rebuild"
VERIFY = "--verify"
VIEWS = {View.PROJECT: "--project", View.DOCUMENTS: "--documents"}
"""The options that name the views to index, beside those that the index has."""

STOP_SECONDS = 1.0
"""How long a run may take to save its work before it is killed."""


@dataclass(slots=True)
class IndexingRun:
    """One run of the indexing process. A thread reads its messages and sets the fields."""

    process: "subprocess.Popen[bytes]"
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
        with contextlib.suppress(OSError):
            if self.process.stdin:
                self.process.stdin.close()
        if not self.wait(STOP_SECONDS):
            self.process.kill()
            self.wait(STOP_SECONDS)

    def listen(self) -> None:
        """Read the messages of the process until it ends."""
        last_output = b""
        try:
            for line in self.process.stdout or ():
                try:
                    self._apply_message(json.loads(line))
                except (ValueError, TypeError, AttributeError):
                    last_output = line.strip() or last_output
        finally:
            code = self.process.wait()
            if code and not self.error and not self.was_stopped:
                why = last_output.decode("utf-8", "replace").strip()
                self.error = Failed(f"The indexing process ended with code {code}. {why}".strip())
            for stream in (self.process.stdin, self.process.stdout):
                with contextlib.suppress(OSError):
                    if stream:
                        stream.close()
            self._ended.set()

    def _apply_message(self, message: dict[str, Any]) -> None:
        self.done, self.total = message.get("done", self.done), message.get("total", self.total)
        self.is_complete = message.get("is_complete", self.is_complete)
        self.seconds = message.get("seconds", self.seconds)
        self.warnings = message.get("warnings", self.warnings)
        if "error" in message:
            self.error = error_with(message["code"], message["error"])


def start_run(root: Path, views: View, how: str | None = None) -> IndexingRun:
    """Start indexing a root: changed files, all files (REBUILD), or files whose content differs (VERIFY)."""
    options = [*([how] if how else []), *(option for view, option in VIEWS.items() if view & views)]
    # -P keeps the working directory, which may be an untrusted project, out of the import path.
    command = [sys.executable, "-P", "-m", "dowse.keeping.indexing_worker", *options, str(root)]
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT)  # noqa: S603 - our own program
    except OSError as error:
        raise Failed(f"The indexing process cannot be started: {error.strerror}.") from error
    run = IndexingRun(process)
    threading.Thread(target=run.listen, daemon=True, name=f"listen to {root.name}").start()
    return run
