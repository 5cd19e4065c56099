"""The work that a server has requested of its encoding process; one thread adds to it, another takes from it."""

import threading
import time
from pathlib import Path
from typing import Any

QUERY_PAUSE_SECONDS = 0.5
"""Encoding pauses this long after a query: the next one often follows soon, and should be quick."""
MAX_PAUSE_SECONDS = 2.0
"""The longest pause between two batches; otherwise a busy server would never finish."""


class WorkQueue:
    """Indexes to encode, encoders to load."""

    def __init__(self) -> None:
        self.is_ended = threading.Event()
        """Set when the server needs this process no more."""
        self._news = threading.Event()
        self._lock = threading.Lock()
        self._indexes = dict[Path, bool]()
        """The served indexes, and whether the server has asked to visit each since the last visit."""
        self._versions = dict[str, None]()
        self.last_query_at = -MAX_PAUSE_SECONDS

    # For the thread that reads messages

    def accept(self, message: dict[str, Any]) -> None:
        """Add the work in a message of the server."""
        with self._lock:
            for value in message.get("work", ()):
                self._indexes[Path(value)] = True
            if "load" in message:
                self._versions[message["load"]] = None
        self._news.set()

    def note_query(self) -> None:
        """Record that a user searches now."""
        self.last_query_at = time.monotonic()

    def end(self) -> None:
        self.is_ended.set()
        self._news.set()

    # For the thread that encodes

    def indexes(self) -> list[Path]:
        """Return the indexes that the server serves."""
        with self._lock:
            return list(self._indexes)

    def must_visit(self, root: Path) -> bool:
        """Return whether the server has asked to visit an index since the last visit."""
        return self._indexes.get(root, False)

    def note_visit(self, root: Path) -> None:
        """Record that an index is visited now."""
        with self._lock:
            self._indexes[root] = False

    def take_versions(self) -> list[str]:
        """Return the encoders to load, once."""
        with self._lock:
            versions, self._versions = list(self._versions), {}
            return versions

    def pause_for_queries(self) -> None:
        """Wait while queries come, up to a limit."""
        deadline = time.monotonic() + MAX_PAUSE_SECONDS
        while not self.is_ended.is_set():
            now = time.monotonic()
            quiet_at = min(self.last_query_at + QUERY_PAUSE_SECONDS, deadline)
            if now >= quiet_at:
                return
            self.is_ended.wait(quiet_at - now)

    def wait(self, seconds: float) -> None:
        """Wait for a message of the server, at most this long."""
        self._news.wait(seconds)
        self._news.clear()
