"""Load by many light clients: each has one connection and sends a request when the previous one was answered."""

import asyncio
import itertools
import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

OLDER, NEWER = "2025-11-25", "2026-07-28"
_ABOUT_US = {
    "io.modelcontextprotocol/protocolVersion": NEWER,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_HELLO = {"protocolVersion": OLDER, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}

Question = dict[str, Any]


class WrongReply(Exception):
    """A reply that is missing, an error, or meant for another request."""


@dataclass(slots=True)
class Load:
    """The results of many requests."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    """Milliseconds of each answered request."""
    errors: list[str] = field(default_factory=list)

    @property
    def a_second(self) -> float:
        """Requests per second."""
        return len(self.times) / self.seconds

    def percentile(self, share: float) -> float:
        """Return the time within which this share of the requests was answered."""
        return sorted(self.times)[min(int(len(self.times) * share), len(self.times) - 1)] if self.times else 0.0


async def put_under_load(
    url: str,
    revision: str,
    tool: str,
    questions: list[Question],
    *,
    clients: int,
    seconds: float = math.inf,
    each: int | None = None,
) -> Load:
    """Let clients call one tool for some seconds, or `each` times per client."""
    load, endless = Load(), itertools.cycle(questions)
    connected = await asyncio.gather(*(Client.connect(url, revision) for _ in range(clients)))
    started = time.perf_counter()
    ask = partial(_ask, load, tool, endless, until=started + seconds, often=each)
    await asyncio.gather(*map(ask, connected))
    load.seconds = time.perf_counter() - started
    for client in connected:
        client.close()
    return load


async def _ask(
    load: Load, tool: str, questions: Iterator[Question], client: "Client", *, until: float, often: int | None
) -> None:
    for _ in itertools.count() if often is None else range(often):
        began = time.perf_counter()
        if began >= until:
            return
        try:
            await client.call(tool, next(questions))
        except (WrongReply, OSError, EOFError, ValueError) as error:
            load.errors.append(f"{type(error).__name__}: {error}"[:200])
            return
        load.times.append((time.perf_counter() - began) * 1000)


class Client:
    """One client on one connection."""

    def __init__(self, url: str, revision: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._host = urlsplit(url).netloc
        self._revision = revision
        self._session = ""
        self._numbers = itertools.count(1)
        self._reader, self._writer = reader, writer

    @classmethod
    async def connect(cls, url: str, revision: str) -> "Client":
        """Connect, with the handshake of the older revision."""
        parts = urlsplit(url)
        client = cls(url, revision, *await asyncio.open_connection(parts.hostname, parts.port))
        if revision == OLDER:
            await client._request("initialize", _HELLO)
            await client._post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return client

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()

    async def call(self, tool: str, arguments: Question) -> None:
        """Call a tool; raise WrongReply if it fails."""
        result = await self._request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise WrongReply(json.dumps(result)[:200])

    async def _request(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        about = {"_meta": _ABOUT_US} if self._revision == NEWER else {}
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**parameters, **about}}
        reply = await self._post(request)
        if reply is None or reply.get("id") != number or "result" not in reply:
            raise WrongReply(json.dumps(reply)[:200])
        result: dict[str, Any] = reply["result"]
        return result

    async def _post(self, message: dict[str, Any]) -> dict[str, Any] | None:
        body = json.dumps(message).encode()
        head = [
            "POST /mcp HTTP/1.1", f"Host: {self._host}", "Content-Type: application/json",
            "Accept: application/json, text/event-stream", f"Content-Length: {len(body)}",
        ]  # fmt: skip
        if self._session:
            head.append(f"Mcp-Session-Id: {self._session}")
        if self._session or self._revision == NEWER:
            head.append(f"MCP-Protocol-Version: {self._revision}")
        if self._revision == NEWER:
            head += [f"Mcp-Method: {message['method']}", f"Mcp-Name: {message['params'].get('name', '')}"]
        self._writer.write("\r\n".join([*head, "", ""]).encode() + body)
        return await self._reply()

    async def _reply(self) -> dict[str, Any] | None:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        status, *lines = head.split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines if line)
        self._session = headers.get("mcp-session-id", self._session)
        if headers.get("transfer-encoding") == "chunked":
            body = b"".join([chunk async for chunk in self._chunks()])
        else:
            body = await self._reader.readexactly(int(headers.get("content-length", 0)))
        if status.split()[1] == "202":
            return None
        if status.split()[1] != "200":
            raise WrongReply(f"{status}: {body[:200]!r}")
        if headers["content-type"].startswith("text/event-stream"):
            body = next(line[5:] for line in reversed(body.splitlines()) if line.startswith(b"data:"))
        reply: dict[str, Any] = json.loads(body)
        return reply

    async def _chunks(self) -> Any:
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            yield (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readexactly(2)
