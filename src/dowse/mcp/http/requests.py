"""Open HTTP requests: the state of their replies, their line in the log, and their end when the server stops."""

import logging
import time
from collections.abc import Mapping
from urllib.parse import quote

from anyio import CancelScope
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

REQUEST_KEY = "dowse.exchange"
"""The key under which the scope of a request holds its `Request`."""
LOGGED_PATH_CHARACTERS = 200

_SESSION_HEADER = b"mcp-session-id"
_FIRST_ERROR_STATUS = 400
_log = logging.getLogger("dowse.access")


class Request:
    """A request, and the state of its reply."""

    has_token = False
    is_stream = False
    """The reply is a stream of events, which ends only with the connection."""

    def __init__(self, scope: Scope, send: Send, reply_headers: Mapping[str, str]) -> None:
        self.status = 0
        self.is_complete = False
        self.cancel_scope = CancelScope()
        self._scope, self._send, self._started = scope, send, time.perf_counter()
        self._headers = [(name.lower().encode(), value.encode()) for name, value in reply_headers.items()]

    async def send(self, message: Message) -> None:
        """Send a part of the reply."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = message.get("headers", ())
            if self.status >= _FIRST_ERROR_STATUS:  # the SDK names a session even when it has opened none
                headers = [(name, value) for name, value in headers if name.lower() != _SESSION_HEADER]
            message = {**message, "headers": [*headers, *self._headers]}
        await self._send(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self.is_complete = True

    async def finish(self, receive: Receive) -> None:
        """Complete a reply that was cut off, in a way that the client understands."""
        if not self.status:
            await error_response(503, "The server is shutting down.")(self._scope, receive, self.send)
        elif not self.is_complete:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    def log(self) -> None:
        """Log the client, the path and the result; not the content of the request."""
        milliseconds = (time.perf_counter() - self._started) * 1000
        method, path = self._scope["method"][:20], quote(self._scope["path"][:LOGGED_PATH_CHARACTERS])
        _log.info("%s %s %s %d %.0f ms", client_address(self._scope), method, path, self.status, milliseconds)


class OpenRequests:
    """The requests that are being answered."""

    def __init__(self) -> None:
        self._open: set[Request] = set()

    async def run(self, request: Request, app: ASGIApp, scope: Scope, receive: Receive) -> None:
        """Answer a request, or cut it off when the server stops."""
        scope[REQUEST_KEY] = request
        self._open.add(request)
        try:
            with request.cancel_scope:
                await app(scope, receive, request.send)
            if request.cancel_scope.cancelled_caught:
                await request.finish(receive)
        finally:
            self._open.discard(request)

    def end(self, *, streams_alone: bool = False) -> None:
        """End all requests, so that clients that wait get an error, or the streams, which would not end by themselves."""
        for request in list(self._open):
            if request.is_stream or not streams_alone:
                request.cancel_scope.cancel()


def client_address(scope: Scope) -> str:
    """Return the address that a request came from."""
    return str(scope["client"][0]) if scope.get("client") else "?"


def error_response(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error as a JSON-RPC message, which MCP clients understand."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message}}
    return JSONResponse(error, status, headers)
