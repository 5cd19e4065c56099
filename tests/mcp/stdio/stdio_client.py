"""A client that talks to a real server process over stdin and stdout and validates every line it reads."""

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
from mcp_types import jsonrpc_message_adapter

from tests.forking import start
from tests.parsing.child_processes import children_of

Message = dict[str, Any]

PATIENCE_SECONDS = 60
"""The timeout of every wait: long enough for a loaded machine, short enough to report a hang."""
CLIENT = {"name": "wire", "version": "1"}
OLDER, NEWER = "2025-11-25", "2026-07-28"


def client_metadata(revision: str, capabilities: Message) -> Message:
    """Return what a request says of its client, in the form of the revision."""
    if revision == OLDER:
        return {}
    client = {"protocolVersion": revision, "clientInfo": CLIENT, "clientCapabilities": capabilities}
    return {f"io.modelcontextprotocol/{name}": value for name, value in client.items()}


class ServerProcess:
    """A server, whose stderr is kept in a file."""

    process: subprocess.Popen[bytes]

    def __init__(self) -> None:
        self._stderr_file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the server

    def __enter__(self) -> Self:
        return self

    @property
    def stderr(self) -> str:
        """The text that the server has written to stderr."""
        return os.pread(self._stderr_file.fileno(), 100_000_000, 0).decode()

    def workers(self) -> list[int]:
        """Return the ids of the processes that the server has started."""
        if not Path("/proc/self/stat").exists():
            pytest.skip("needs /proc, to see which processes run")
        return children_of(self.process.pid)

    def bytes_in_proc(self, file: str, field: str) -> int:
        """Return a number of bytes that /proc has for the server."""
        facts = Path(f"/proc/{self.process.pid}/{file}")
        if not facts.exists():
            pytest.skip("needs /proc, to see how much memory is used")
        found = re.search(rf"^{field}:\s+(\d+) kB", facts.read_text(encoding="ascii"), re.MULTILINE)
        assert found
        return int(found[1]) * 1024

    def end(self) -> None:
        """Kill the server if it still runs."""
        self.process.kill()
        self.process.wait()
        self._stderr_file.close()


class StdioClient(ServerProcess):
    """A server process and a client on its pipes. Every line from the server has to be one JSON-RPC message."""

    def __init__(self, *arguments: Path | str, **environment: str) -> None:
        self._begin(["serve", *arguments], os.environ | environment)

    def _begin(
        self,
        arguments: Sequence[Path | str],
        env: Mapping[str, str],
        cwd: Path | None = None,
        constants: Mapping[str, object] | None = None,
    ) -> None:
        self.received: list[Message] = []
        """All messages from the server."""
        self._revision = OLDER
        self._capabilities: Message = {}
        self._number = 0
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        super().__init__()
        self.final_stderr = ""
        self.process = start(
            *arguments, env=env, cwd=str(cwd) if cwd else None,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr_file.fileno(), constants=constants,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read_lines, daemon=True)
        self._reader.start()

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self.close_stdin()
        try:
            self.process.wait(PATIENCE_SECONDS)
            self._reader.join(PATIENCE_SECONDS)
            if kind is None:
                self.read_to_end()
            self.final_stderr = self.stderr
        finally:
            self.end()
            assert self.process.stdout is not None
            self.process.stdout.close()

    def initialize(self, revision: str = OLDER, *, can_ask: bool = False) -> Self:
        """Open the session as clients of the revision do."""
        self._revision, self._capabilities = revision, {"elicitation": {}} if can_ask else {}
        if revision == OLDER:
            parameters = {"protocolVersion": OLDER, "capabilities": self._capabilities, "clientInfo": CLIENT}
            self.request("initialize", **parameters)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        else:
            self.request("server/discover")
        return self

    def send(self, message: Message | bytes) -> None:
        """Write a message, or bytes without change."""
        assert self.process.stdin is not None
        self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def send_request(self, method: str, **parameters: Any) -> str:
        """Send a request without waiting for the reply; return its id."""
        self._number += 1
        number = f"ours-{self._number}"
        metadata = {"progressToken": number, **client_metadata(self._revision, self._capabilities)}
        parameters = {**parameters, "_meta": metadata}
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
        return number

    def request(self, method: str, **parameters: Any) -> Message:
        """Send a request and return the reply."""
        return self.wait_for_reply(self.send_request(method, **parameters))

    def start_call(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool without waiting for the reply; return the id of the call."""
        return self.send_request("tools/call", name=tool, arguments=arguments)

    def call(self, tool: str, /, **arguments: Any) -> Message:
        """Call a tool and return its reply, which must not be a protocol error."""
        return content_of(self.wait_for_reply(self.start_call(tool, **arguments)))

    def wait_for_reply(self, number: str) -> Message:
        """Wait for the reply to a request and return it."""

        def is_reply(message: Message) -> bool:
            return message.get("id") == number and "method" not in message

        return next(filter(is_reply, self.received), None) or self.wait_for_message(is_reply)

    def wait_for_message(self, is_wanted: Callable[[Message], bool]) -> Message:
        """Read messages until one satisfies the condition; return it."""
        while not is_wanted(message := self._next_message()):
            pass
        return message

    def suspend_indexing(self) -> tuple[str, int]:
        """Call create_index and suspend its process half way; return the call id and the process id."""
        number = self.start_call("create_index")
        self.wait_for_message(
            lambda message: message.get("method") == "notifications/progress" and _reports_half_done(message["params"])
        )
        (worker,) = self.workers()
        os.kill(worker, signal.SIGSTOP)
        return number, worker

    def complete_index(self) -> None:
        """Call create_index until the index is complete."""
        wait_until(lambda: self.call("create_index")["status"] == "success")

    def read_to_end(self) -> None:
        """Read the remaining messages of a server that has ended."""
        with contextlib.suppress(EOFError):
            while True:
                self._next_message()

    def close_stdin(self) -> None:
        """Close stdin, as a client does that disconnects."""
        with contextlib.suppress(BrokenPipeError):
            assert self.process.stdin is not None
            self.process.stdin.close()

    def stop(self, signal_number: signal.Signals | None = None) -> int:
        """Stop the server with a signal, or by closing stdin; return its exit code. Prints the duration."""
        started = time.monotonic()
        if signal_number is None:
            self.close_stdin()
        else:
            self.process.send_signal(signal_number)
        code = self.process.wait(PATIENCE_SECONDS)
        print(f"stopped in {time.monotonic() - started:.2f} s")
        return code

    def peak_memory_bytes(self) -> int:
        """Return the most memory that the server has used so far."""
        return self.bytes_in_proc("status", "VmHWM")

    def _read_lines(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError):  # the pipe is closed
            for line in self.process.stdout:
                self._lines.put(line)
        self._lines.put(b"")

    def _next_message(self) -> Message:
        try:
            line = self._lines.get(timeout=PATIENCE_SECONDS)
        except queue.Empty:
            raise AssertionError(f"no more messages; stderr: {self.stderr}") from None
        if not line:
            self._lines.put(line)
            raise EOFError(f"the server has ended; stderr: {self.stderr}")
        message = parse_message(line)
        self.received.append(message)
        return message


def parse_message(line: bytes) -> Message:
    """Validate a line as one JSON-RPC message and return it."""
    assert line.endswith(b"\n"), line
    jsonrpc_message_adapter.validate_json(line, by_name=False)
    message = json.loads(line)
    assert isinstance(message, dict)
    assert message["jsonrpc"] == "2.0"
    return message


def content_of(reply: Message) -> Message:
    """Return the structured content of a tool's reply."""
    assert "result" in reply, reply
    content: Message = reply["result"]["structuredContent"]
    return content


def is_alive(process: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return _fields_of(Path("/proc") / str(process))[0] not in "ZX"
    except OSError:
        return False


def wait_until(condition: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> None:
    """Wait, with a time limit, until a condition is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def is_half_done(done: float, total: float) -> bool:
    """Return whether the first batches are in the index and the last is not."""
    return 200 < done < total


def resume_process(process: int) -> None:
    """Resume a suspended process."""
    os.kill(process, signal.SIGCONT)


def _fields_of(entry: Path) -> list[str]:
    """Return the state, the parent and the other fields of a process."""
    return (entry / "stat").read_text(encoding="latin-1").rpartition(")")[2].split()


def _reports_half_done(progress: Message) -> bool:
    return is_half_done(progress["progress"], progress.get("total", 0))
