"""A real server process over HTTP, and clients that control every byte they send."""

import contextlib
import itertools
import json
import os
import re
import signal
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mcp_types import jsonrpc_message_adapter

from tests.forking import start
from tests.mcp.stdio.stdio_client import (
    CLIENT,
    NEWER,
    OLDER,
    PATIENCE_SECONDS,
    ServerProcess,
    client_metadata,
    is_half_done,
    wait_until,
)

Message = dict[str, Any]

ACCEPT = "application/json, text/event-stream"
CHUNKED = {"transfer-encoding": "chunked"}


class HttpServer(ServerProcess):
    """A running `dowse serve ROOTS --http`, stopped at the end of the block."""

    def __init__(
        self,
        *roots: Path | str,
        options: tuple[str, ...] = (),
        constants: Mapping[str, object] | None = None,
        home: Path | None = None,
        token: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        super().__init__()
        self.roots = roots
        environment = {**(env or os.environ), **({"DOWSE_TOKEN": token} if token else {})}
        if home:
            environment |= {"HOME": str(home), "DOWSE_HOME": str(home / "dowse")}
        address = () if "--http" in options else ("--http", "127.0.0.1:0")
        self.process = start(
            "serve", *roots, *address, *options,
            stderr=self._stderr_file.fileno(), env=environment, cwd=str(cwd) if cwd else None, constants=constants,
        )  # fmt: skip
        try:
            wait_until(lambda: "/mcp" in self.stderr or self.process.poll() is not None)
            found = re.search(r" at (http://(\S+):(\d+)/mcp)\n", self.stderr)
            assert found, self.stderr
        except BaseException:
            self.end()
            raise
        self.url, self.host, self.port = found[1], found[2], int(found[3])

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(PATIENCE_SECONDS)
        finally:
            self.end()

    @property
    def name(self) -> str:
        """The name of the server in Host headers."""
        return f"{self.host}:{self.port}"

    def stop(self, signal_number: signal.Signals) -> int:
        """Stop the server with a signal; return its exit code."""
        self.process.send_signal(signal_number)
        return self.process.wait(PATIENCE_SECONDS)

    def connect(self) -> "Connection":
        """Open a connection."""
        return Connection(socket.create_connection((self.host.strip("[]"), self.port), PATIENCE_SECONDS))

    def send_bytes(self, *parts: bytes) -> "Reply":
        """Send bytes on a new connection; return the reply."""
        with self.connect() as connection:
            connection.send(*parts)
            return connection.read_reply()

    def send_request(self, method: str, path: str, body: bytes = b"", /, **headers: str) -> "Reply":
        """Send a well-formed request; keyword arguments add or replace headers."""
        return self.send_bytes(encode_request(method, path, body, {"Host": self.name, **with_hyphens(headers)}))

    def post(self, message: object, **headers: str) -> "Reply":
        """Post a message or bytes to the MCP endpoint."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.send_request(
            "POST", "/mcp", body, **{"Content_Type": "application/json", "Accept": ACCEPT, **headers}
        )

    def assert_serves(self) -> None:
        """Assert that the server answers the next client."""
        assert HttpClient(self, NEWER).call("server/discover")["result"]["capabilities"]

    def memory_bytes(self) -> int:
        """Return the memory of the server that is not mapped from files."""
        return self.bytes_in_proc("smaps_rollup", "Anonymous")


class Connection:
    """One connection."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self._unread = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, *parts: bytes) -> None:
        for part in parts:
            self.socket.sendall(part)

    def drop(self) -> None:
        """Close the connection abruptly, like a client that was killed."""
        self.socket.close()

    def read_reply(self) -> "Reply":
        """Read the next reply to its end."""
        reply = self.read_head()
        reply.body = b"".join(self.body_parts(reply.headers))
        return reply

    def read_head(self) -> "Reply":
        """Read the head of the next reply."""
        head = self._read_until(b"\r\n\r\n").decode("latin-1")
        first, *lines = head.split("\r\n")
        pairs = [(name.lower(), value) for name, _, value in (line.partition(": ") for line in lines if line)]
        return Reply(int(first.split()[1]), pairs, b"")

    def body_parts(self, headers: Mapping[str, str]) -> Iterator[bytes]:
        """Yield the body, part by part."""
        if headers.get("transfer-encoding") == "chunked":
            while size := int(self._read_until(b"\r\n"), 16):
                yield self._read_exactly(size + 2)[:-2]
            self._read_exactly(2)
        else:
            yield self._read_exactly(int(headers.get("content-length", 0)))

    def last_message(self) -> Message:
        """Return the answer at the end of a stream whose head was read."""
        *_, last = (message for part in self.body_parts(CHUNKED) for message in parse_events(part))
        return last

    def is_closed(self) -> bool:
        """Wait for the server to close the connection; return whether it did. Data before that is ignored."""
        with contextlib.suppress(ConnectionError):
            while self.socket.recv(65536):
                pass
        return True

    def _read_until(self, end: bytes) -> bytes:
        while end not in self._unread:
            self._receive()
        found, _, self._unread = self._unread.partition(end)
        return found

    def _read_exactly(self, size: int) -> bytes:
        while len(self._unread) < size:
            self._receive()
        found, self._unread = self._unread[:size], self._unread[size:]
        return found

    def _receive(self) -> None:
        received = self.socket.recv(65536)
        if not received:
            raise EOFError(f"the server closed the connection after {self._unread!r}")
        self._unread += received


class Reply:
    """A reply of the server."""

    def __init__(self, status: int, pairs: list[tuple[str, str]], body: bytes) -> None:
        self.status, self.pairs, self.body = status, pairs, body
        self.headers = dict(pairs)

    def __repr__(self) -> str:
        return f"{self.status} {self.pairs} {self.body!r}"

    @property
    def messages(self) -> list[Message]:
        """The messages in the body, which is JSON or a stream of events."""
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            return list(parse_events(self.body))
        return [parse_message(self.body)]

    @property
    def message(self) -> Message:
        """The last message: the answer."""
        return self.messages[-1]

    @property
    def error(self) -> tuple[int, int]:
        """The status, and the code of the error."""
        return self.status, self.message["error"]["code"]


class HttpClient:
    """A client that speaks a revision of the protocol; every request has a connection of its own."""

    def __init__(self, server: HttpServer, revision: str, *, can_ask: bool = False, **headers: str) -> None:
        self.revision = revision
        self.headers = headers
        self._server = server
        self._numbers = itertools.count(1)
        self._capabilities: Message = {"elicitation": {}} if can_ask else {}
        if revision == OLDER:
            parameters = {"protocolVersion": OLDER, "capabilities": self._capabilities, "clientInfo": CLIENT}
            reply = self.send_request("initialize", **parameters)
            self.headers = {**headers, "Mcp_Session_Id": reply.headers["mcp-session-id"]}
            self.headers["MCP_Protocol_Version"] = OLDER
            assert self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202

    def call(self, method: str, /, **parameters: Any) -> Message:
        """Send a request and return its answer."""
        return self.send_request(method, **parameters).message

    def call_tool(self, tool: str, /, **arguments: Any) -> Message:
        """Call a tool and return its reply, which must not be a protocol error."""
        answer = self.call("tools/call", name=tool, arguments=arguments)
        assert "result" in answer, answer
        content: Message = answer["result"]["structuredContent"]
        return content

    def send_request(self, method: str, /, **parameters: Any) -> Reply:
        return self.post(self.message(method, **parameters))

    def post(self, message: object) -> Reply:
        """Post a message with the headers of this client."""
        return self._server.post(message, **self.headers_for(message))

    def start(self, message: Message) -> Connection:
        """Post a message and do not wait for the reply."""
        headers = {"Content_Type": "application/json", "Accept": ACCEPT, **self.headers_for(message)}
        connection = self._server.connect()
        named = {"Host": self._server.name, **with_hyphens(headers)}
        connection.send(encode_request("POST", "/mcp", json.dumps(message).encode(), named))
        return connection

    def message(self, method: str, /, **parameters: Any) -> Message:
        """Return a request in the form of the revision, with an id and a progress token."""
        number = next(self._numbers)
        metadata = {"progressToken": number, **client_metadata(self.revision, self._capabilities)}
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**parameters, "_meta": metadata}}

    def headers_for(self, message: object) -> dict[str, str]:
        """Return the headers that a message needs."""
        if self.revision == OLDER or not isinstance(message, dict):
            return self.headers if self.revision == OLDER else {**self.headers, "MCP_Protocol_Version": NEWER}
        named = {"MCP_Protocol_Version": NEWER, "Mcp_Method": str(message.get("method"))}
        parameters = message.get("params")
        if isinstance(parameters, dict) and "name" in parameters:
            named["Mcp_Name"] = str(parameters["name"])
        return {**self.headers, **named}

    def suspend_indexing(self, **arguments: str) -> tuple[Connection, int, int]:
        """Call create_index and suspend its process half way; return the connection, the call id and the process id."""
        message = self.message("tools/call", name="create_index", arguments=arguments)
        before = set(self._server.workers())
        connection = self.start(message)
        for part in connection.body_parts(connection.read_head().headers):
            for event in parse_events(part):
                assert "result" not in event, "indexing is already done"
                if is_half_done(event["params"]["progress"], event["params"].get("total", 0)):
                    (worker,) = set(self._server.workers()) - before
                    os.kill(worker, signal.SIGSTOP)
                    return connection, message["id"], worker
        raise AssertionError("indexing was never half done")


def encode_request(method: str, path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    """Return a request as bytes."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if (body or method == "POST") and "Content-Length" not in headers and "Transfer-Encoding" not in headers:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def with_hyphens(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def parse_events(part: bytes) -> Iterator[Message]:
    """Yield the messages in a part of a stream of events."""
    return (parse_message(line[5:]) for line in part.splitlines() if line.startswith(b"data:"))


def parse_message(text: bytes) -> Message:
    """Validate a text as one JSON-RPC message and return it."""
    jsonrpc_message_adapter.validate_json(text, by_name=False)
    message: Message = json.loads(text)
    return message
