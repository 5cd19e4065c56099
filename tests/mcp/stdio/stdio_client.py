"""A client that speaks to the real server process line by line and trusts nothing it reads."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
from mcp_types import jsonrpc_message_adapter

from dowse.indexes.index import ProjectIndex

Message = dict[str, Any]

PATIENCE_SECONDS = 60
"""How long anything is waited for; a machine under load is slow, and a hang is a failure."""
CLIENT = {"name": "wire", "version": "1"}
OLDER, NEWER = "2025-11-25", "2026-07-28"


class Wire:
    """A server process and both ends of its pipes. Every line it writes has to be one JSON-RPC message."""

    def __init__(self, *roots: Path, **environment: str) -> None:
        self.heard: list[Message] = []
        """All that the server has said."""
        self._revision = OLDER
        self._capabilities: Message = {}
        self._number = 0
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the server
        self.stderr_at_the_end = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dowse", "serve", *roots],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, env=os.environ | environment,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self.hang_up()
        try:
            self.process.wait(PATIENCE_SECONDS)
            self._reader.join(PATIENCE_SECONDS)
            if kind is None:
                self.hear_the_rest()
            self.stderr_at_the_end = self.stderr
        finally:
            self.process.kill()
            self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()
            self._said.close()

    def shake_hands(self, revision: str = OLDER, *, can_ask: bool = False) -> Self:
        """Introduce ourselves as clients of the revision do."""
        self._revision, self._capabilities = revision, {"elicitation": {}} if can_ask else {}
        if revision == OLDER:
            hello = {"protocolVersion": OLDER, "capabilities": self._capabilities, "clientInfo": CLIENT}
            self.request("initialize", **hello)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        else:
            self.request("server/discover")
        return self

    def send(self, message: Message | bytes) -> None:
        """Write a message, or bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **parameters: Any) -> str:
        """Send a request and do not wait; its id."""
        self._number += 1
        number = f"ours-{self._number}"
        about = {"progressToken": number, **self._about_us()}
        parameters = {**parameters, "_meta": about}
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
        return number

    def request(self, method: str, **parameters: Any) -> Message:
        """Send a request; the reply to it."""
        return self.reply_to(self.ask(method, **parameters))

    def start_call(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool and do not wait; the id of the call."""
        return self.ask("tools/call", name=tool, arguments=arguments)

    def call(self, tool: str, /, **arguments: Any) -> Message:
        """What a tool replies, which has to be no error of the protocol."""
        return content_of(self.reply_to(self.start_call(tool, **arguments)))

    def reply_to(self, number: str) -> Message:
        """The reply to a request, when it has come."""

        def is_meant(message: Message) -> bool:
            return message.get("id") == number and "method" not in message

        return next(filter(is_meant, self.heard), None) or self.hear(is_meant)

    def hear(self, is_meant: Callable[[Message], bool]) -> Message:
        """Read until a message comes that is meant."""
        while not is_meant(message := self._next()):
            pass
        return message

    def index_and_hold(self) -> tuple[str, int]:
        """Call create_index and stop its process half way; the ids of the call and of the process."""
        number = self.start_call("create_index")
        self.hear(lambda message: message.get("method") == "notifications/progress" and _tells_half(message["params"]))
        (worker,) = self.workers()
        os.kill(worker, signal.SIGSTOP)
        return number, worker

    def complete_the_index(self) -> None:
        """Call create_index until nobody has anything left to index."""
        wait_until(lambda: self.call("create_index")["status"] == "success")

    def hear_the_rest(self) -> None:
        """Read all that a server has said before it ended."""
        with contextlib.suppress(EOFError):
            while True:
                self._next()

    def hang_up(self) -> None:
        """Close stdin, as a client does that goes away."""
        with contextlib.suppress(BrokenPipeError):
            assert self.process.stdin is not None
            self.process.stdin.close()

    def leave(self, how: signal.Signals | None = None) -> int:
        """End the server by a signal, or by going away; its exit code. Prints how long it took."""
        started = time.monotonic()
        if how is None:
            self.hang_up()
        else:
            self.process.send_signal(how)
        code = self.process.wait(5)
        print(f"left in {time.monotonic() - started:.2f} s")
        return code

    def workers(self) -> list[int]:
        """The processes that the server has started."""
        if not Path("/proc/self/stat").exists():
            pytest.skip("needs /proc, to see which processes run")
        return [int(entry.name) for entry in Path("/proc").iterdir() if _parent_of(entry) == self.process.pid]

    @property
    def stderr(self) -> str:
        """What the server has said to people."""
        return os.pread(self._said.fileno(), 100_000_000, 0).decode()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError):  # closed
            for line in self.process.stdout:
                self._lines.put(line)
        self._lines.put(b"")

    def _next(self) -> Message:
        try:
            line = self._lines.get(timeout=PATIENCE_SECONDS)
        except queue.Empty:
            raise AssertionError(f"nothing more was said; stderr: {self.stderr}") from None
        if not line:
            self._lines.put(line)
            raise EOFError(f"the server has ended; stderr: {self.stderr}")
        message = checked(line)
        self.heard.append(message)
        return message

    def _about_us(self) -> Message:
        if self._revision == OLDER:
            return {}
        about = {"protocolVersion": self._revision, "clientInfo": CLIENT, "clientCapabilities": self._capabilities}
        return {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}


def checked(line: bytes) -> Message:
    """The one message that a line holds."""
    assert line.endswith(b"\n"), line
    jsonrpc_message_adapter.validate_json(line, by_name=False)
    message = json.loads(line)
    assert isinstance(message, dict)
    assert message["jsonrpc"] == "2.0"
    return message


def content_of(reply: Message) -> Message:
    """The structured content of a tool's reply."""
    assert "result" in reply, reply
    content: Message = reply["result"]["structuredContent"]
    return content


def is_alive(process: int) -> bool:
    """Whether a process runs, and does not only wait to be buried."""
    try:
        return _fields_of(Path("/proc") / str(process))[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    """Wait, not for ever, for something to become true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def is_half_way(done: float, total: float) -> bool:
    """Whether the first batches are in the index and the last is not."""
    return 200 < done < total


def go_on(process: int) -> None:
    """Let a process run that was stopped."""
    os.kill(process, signal.SIGCONT)


def index(*roots: Path) -> None:
    """Index projects in this process."""
    for root in roots:
        project = ProjectIndex(root)
        project.update()
        project.close()


def _parent_of(entry: Path) -> int:
    try:
        return int(_fields_of(entry)[1])
    except (OSError, IndexError):
        return 0


def _fields_of(entry: Path) -> list[str]:
    """The state, the parent and so on of a process."""
    return (entry / "stat").read_text(encoding="latin-1").rpartition(")")[2].split()


def _tells_half(progress: Message) -> bool:
    return is_half_way(progress["progress"], progress.get("total", 0))
