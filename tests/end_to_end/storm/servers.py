"""Real server processes that several threads of a test search while files change."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from dowse.keeping.watch_status import watch_lease
from dowse.store import storage_layout
from tests.mcp.stdio.stdio_client import Message, StdioClient

Got = TypeVar("Got")

WAIT_SECONDS = 300.0 if os.environ.get("SOAK") else 60.0
"""The timeout of every wait, long enough for a slow machine, which in the soak indexes thousands of files meanwhile."""


class Server(StdioClient):
    """An initialized server of one project."""

    def __init__(self, root: Path, constants: Mapping[str, object] | None = None, /, **environment: str) -> None:
        self._begin(["serve", root], os.environ | environment, constants=constants)
        self.root = root
        self._call_lock = threading.Lock()
        self.initialize()

    def call_tool(self, tool: str, /, **arguments: Any) -> Message:
        """Call a tool and return its reply; several threads may call."""
        with self._call_lock:
            reply = self.call(tool, **arguments)
            self.received.clear()  # keeps memory small in long tests
            return reply

    def find(self, token: str, tool: str = "search_code") -> list[str]:
        """Search for a unique word and return the paths of the hits."""
        reply = self.call_tool(tool, query=token)
        return [hit["path"] for hit in reply.get("results", ()) if token in text_of(hit)]

    def status(self) -> Message:
        """Return the index status."""
        status = self.call_tool("get_index_status")
        assert "code" not in status or "status" in status, status
        return status

    def is_settled(self) -> bool:
        """Return whether the server reports that its index is up to date."""
        status = self.status()
        return (status["status"], status.get("pendingFiles")) == ("ready", 0)

    def is_watching(self) -> bool:
        """Return whether this server watches and has finished its first scan."""
        return self.is_settled() and bool(self.status()["watcher"].startswith("watching"))

    def settle(self, token: str, and_then: Callable[[], None] = lambda: None) -> None:
        """Save a file; wait until it is found and nothing is pending."""
        sentinel = self.root / "zz_sentinel.py"
        sentinel.write_text(f"{token} = 1\n", encoding="utf-8")
        and_then()
        eventually(lambda: self.find(token), lambda: f"the last file is not found: {self.status()}")
        eventually(self.is_settled, lambda: f"it does not settle: {self.status()}")

    def kill(self) -> None:
        """Kill the server, as a crash would."""
        self.process.kill()
        self.process.wait()


def text_of(hit: Message) -> str:
    """Return the text of all passages of a hit."""
    return str(hit["text"])


def eventually(condition: Callable[[], Got], problem: Callable[[], object] = lambda: "it did not happen") -> Got:
    """Wait, with a time limit, until a condition returns something true; return that."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not (result := condition()):
        assert time.monotonic() < deadline, problem()
        time.sleep(0.02)
    return result


def watching_process(root: Path) -> int:
    """Return the id of the process that holds the watch lease, or 0."""
    lease = watch_lease(storage_layout.index_folder(root))
    with contextlib.suppress(ValueError):
        return int(lease.owner().removeprefix("process ")) if lease.is_taken() else 0
    return 0
