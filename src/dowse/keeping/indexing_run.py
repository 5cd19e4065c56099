"""Indexing as a server sees it: one run a project, in a process of its own, watched and stopped from here."""

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

REBUILD = "--rebuild"
VERIFY = "--verify"
DOCUMENTS = "--documents"

STOP_SECONDS = 1.0
"""How long a run may take to keep what it has done before it is ended by force."""


@dataclass(slots=True)
class IndexingRun:
    """One run of the worker. What it tells is read by a thread; whoever is interested looks at the fields."""

    process: "subprocess.Popen[bytes]"
    started: float = field(default_factory=time.monotonic)
    done: int = 0
    total: int = 0
    is_complete: bool = False
    was_stopped: bool = False
    """We ended it before it was done."""
    seconds: float = 0.0
    error: DowseError | None = None
    warnings: list[str] = field(default_factory=list)
    _is_stopped: bool = False
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def is_going_on(self) -> bool:
        """Whether the process has more to tell."""
        return not self._ended.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end; whether it has come."""
        return self._ended.wait(seconds)

    def stop(self) -> None:
        """Let the process end, with what it has done kept."""
        self.was_stopped = True
        self._is_stopped = True
        with contextlib.suppress(OSError):
            if self.process.stdin:
                self.process.stdin.close()
        if not self.wait(STOP_SECONDS):
            self.process.kill()
            self.wait(STOP_SECONDS)

    def listen(self) -> None:
        """Take in what the process tells, until it ends."""
        last_words = b""
        try:
            for line in self.process.stdout or ():
                try:
                    self._take_in(json.loads(line))
                except (ValueError, TypeError, AttributeError):
                    last_words = line.strip() or last_words
        finally:
            code = self.process.wait()
            if code and not self.error and not self._is_stopped:
                why = last_words.decode("utf-8", "replace").strip()
                self.error = Failed(f"The indexing process ended with code {code}. {why}".strip())
            for stream in (self.process.stdin, self.process.stdout):
                with contextlib.suppress(OSError):
                    if stream:
                        stream.close()
            self._ended.set()

    def _take_in(self, told: dict[str, Any]) -> None:
        self.done, self.total = told.get("done", self.done), told.get("total", self.total)
        self.is_complete = told.get("is_complete", self.is_complete)
        self.seconds = told.get("seconds", self.seconds)
        self.warnings = told.get("warnings", self.warnings)
        if "error" in told:
            self.error = error_with(told["code"], told["error"])


def start_run(root: Path, how: str | None = None, what: str = "project") -> IndexingRun:
    """Start indexing a root: what changed, all anew (REBUILD), or what differs when it is read (VERIFY)."""
    options = [*([how] if how else []), *([DOCUMENTS] if what == "documents" else [])]
    # -P keeps the working directory, which may be a stranger's project, out of the import path.
    command = [sys.executable, "-P", "-m", "dowse.keeping.indexing_worker", *options, str(root)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT)  # noqa: S603 - our own program
    run = IndexingRun(process)
    threading.Thread(target=run.listen, daemon=True, name=f"listen to {root.name}").start()
    return run
