"""One request and its reply: what of it was sent, its line in the log, and its end when the server stops."""

import logging
import time
from collections.abc import Mapping
from urllib.parse import quote

from anyio import CancelScope
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

EXCHANGE = "dowse.exchange"
"""Where a request's scope holds its exchange."""
LOGGED_PATH_CHARACTERS = 200

_log = logging.getLogger("dowse.access")


class Request:
    """A request, and what was sent of the reply to it."""

    knows_token = False
    is_stream = False
    """Nobody waits for its end."""

    def __init__(self, scope: Scope, send: Send, extra: Mapping[str, str]) -> None:
        self.status = 0
        self.is_complete = False
        self.ending = CancelScope()
        self._scope, self._send, self._started = scope, send, time.perf_counter()
        self._extra = [(name.lower().encode(), value.encode()) for name, value in extra.items()]

    async def send(self, message: Message) -> None:
        """Send a part of the reply."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message.get("headers", ()), *self._extra]}
        await self._send(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self.is_complete = True

    async def finish(self, receive: Receive) -> None:
        """Give a reply that was cut off an end that its reader understands."""
        if not self.status:
            await refused(503, "The server is shutting down.")(self._scope, receive, self.send)
        elif not self.is_complete:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    def log(self) -> None:
        """Write down who asked, and what came of it. What was asked is not in it."""
        milliseconds = (time.perf_counter() - self._started) * 1000
        method, path = self._scope["method"][:20], quote(self._scope["path"][:LOGGED_PATH_CHARACTERS])
        _log.info("%s %s %s %d %.0f ms", client_of(self._scope), method, path, self.status, milliseconds)


class OpenRequests:
    """All that go on."""

    def __init__(self) -> None:
        self._going: set[Request] = set()

    async def run(self, exchange: Request, app: ASGIApp, scope: Scope, receive: Receive) -> None:
        """Have a request answered, or cut off when the server stops."""
        scope[EXCHANGE] = exchange
        self._going.add(exchange)
        try:
            with exchange.ending:
                await app(scope, receive, exchange.send)
            if exchange.ending.cancelled_caught:
                await exchange.finish(receive)
        finally:
            self._going.discard(exchange)

    def end_streams(self) -> None:
        """End those that would never end by themselves."""
        self._end([exchange for exchange in self._going if exchange.is_stream])

    def end_all(self) -> None:
        """End all; whoever waits is told."""
        self._end(list(self._going))

    def _end(self, exchanges: list[Request]) -> None:
        for exchange in exchanges:
            exchange.ending.cancel()


def client_of(scope: Scope) -> str:
    """The address that a request came from."""
    return str(scope["client"][0]) if scope.get("client") else "?"


def refused(status: int, message: str, headers: dict[str, str] | None = None, code: int = -32600) -> Response:
    """A reply that says no, as the protocol's clients expect it."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return JSONResponse(error, status, headers)
