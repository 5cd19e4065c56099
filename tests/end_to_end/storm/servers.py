"""Real servers that tests search while files change: each a process of its own, asked by any thread."""

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from dowse.keeping.watch_status import watch_lease
from dowse.store import storage_layout
from tests.mcp.stdio.stdio_client import Message, StdioClient

Got = TypeVar("Got")

WAIT_SECONDS = 60.0
"""How long anything may take on a slow machine; a wait ends as soon as what is waited for is there."""


class Server(StdioClient):
    """A server of one project, with its hands shaken."""

    def __init__(self, root: Path, **environment: str) -> None:
        super().__init__(root, **environment)
        self.root = root
        self._asking = threading.Lock()
        self.initialize()

    def tell(self, tool: str, /, **arguments: Any) -> Message:
        """What a tool replies to one thread of several."""
        with self._asking:
            reply = self.call(tool, **arguments)
            self.received.clear()  # a storm is long
            return reply

    def find(self, token: str, tool: str = "search_code") -> list[str]:
        """The paths in which a word that is unique is found."""
        reply = self.tell(tool, query=token)
        return [hit["path"] for hit in reply.get("results", ()) if token in text_of(hit)]

    def status(self) -> Message:
        """What the server says of its index."""
        status = self.tell("get_index_status")
        assert "code" not in status or "status" in status, status
        return status

    def is_settled(self) -> bool:
        """Whether the server says that its index is equal to the files."""
        status = self.status()
        return (status["status"], status.get("pendingFiles")) == ("ready", 0)

    def is_watching(self) -> bool:
        """Whether this server watches, and its first look is over."""
        return self.is_settled() and bool(self.status()["watcher"].startswith("watching"))

    def settle(self, token: str, and_then: Callable[[], None] = lambda: None) -> None:
        """Wait until a file that is saved now is found, and nothing is pending."""
        sentinel = self.root / "zz_sentinel.py"
        sentinel.write_text(f"{token} = 1\n", encoding="utf-8")
        and_then()
        eventually(lambda: self.find(token), lambda: f"the last file is not found: {self.status()}")
        eventually(self.is_settled, lambda: f"it does not settle: {self.status()}")

    def kill(self) -> None:
        """End it as a crash does."""
        self.process.kill()
        self.process.wait()


def text_of(hit: Message) -> str:
    """All that a hit shows of a file."""
    return "\n".join([hit["text"], *(more["text"] for more in hit.get("more", ()))])


def eventually(condition: Callable[[], Got], problem: Callable[[], object] = lambda: "it did not happen") -> Got:
    """What a condition gives once it gives something; waited for, but not for ever."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not (got := condition()):
        assert time.monotonic() < deadline, problem()
        time.sleep(0.02)
    return got


def watching_process(root: Path) -> int:
    """The id of the process that holds the watch lease; 0 when none does."""
    lease = watch_lease(storage_layout.index_folder(root))
    with contextlib.suppress(ValueError):
        return int(lease.owner().removeprefix("process ")) if lease.is_taken() else 0
    return 0
