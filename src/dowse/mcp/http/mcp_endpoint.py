"""The MCP endpoint: it checks messages, passes them to the SDK, and cancels work when the client disconnects.

Up to protocol version 2025-11-25 the SDK continues the work for a client that has disconnected, because the client
could come back for the reply. This server keeps no replies, so a disconnect counts as `notifications/cancelled`.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from anyio import CancelScope
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from dowse.errors import BodyRefused, InvalidMessage
from dowse.mcp.http.access import REQUEST_KEY, Request, error_response
from dowse.mcp.jsonrpc_lines import format_line, parse_line

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

MAX_BODY_BYTES = 4 * 1024 * 1024
MAX_BODIES_BYTES = 64 * 1024 * 1024
"""Limits of one body, and of all bodies that are held at the same time."""
MAX_SESSIONS = 1000
BODY_SECONDS = 10.0
"""How long the body of a request may take to arrive."""

_MAX_LENGTH_DIGITS = 20
_METHODS = ("GET", "POST", "DELETE")
_JSON = "application/json"
_LISTEN = "subscriptions/listen"


class Endpoint:
    """The ASGI application at `/mcp`."""

    def __init__(self, server: "Server[Any]") -> None:
        # Our tools have no arguments in headers. Without this the SDK lists all tools on every call to find out.
        server.get_tool_input_schema = lambda _name: None
        self._manager = StreamableHTTPSessionManager(
            server, max_request_body_size=MAX_BODY_BYTES, max_sessions=MAX_SESSIONS
        )
        self._in_use: set[tuple[str, str]] = set()
        """Sessions and ids of the requests that are being answered."""
        self._held_bytes = 0

    def run(self) -> AbstractAsyncContextManager[None]:
        """Return the context in which requests are answered."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        body = bytearray()
        try:
            await self._read(scope, receive, body)
            await self._answer(scope, bytes(body), receive, send)
        except BodyRefused as refusal:
            if refusal.reply:
                await refusal.reply(scope, receive, send)
        finally:
            self._held_bytes -= len(body)

    async def _read(self, scope: Scope, receive: Receive, body: bytearray) -> None:
        """Read the body; refuse one that is slow or too large."""
        if scope["method"] not in _METHODS:
            raise _refusal(405, f"Method not allowed; use {', '.join(_METHODS)}.", {"Allow": ", ".join(_METHODS)})
        if scope["method"] == "POST" and not _is_json(Headers(scope=scope)):
            raise _refusal(415, f"The Content-Type must be {_JSON}.")
        length = Headers(scope=scope).get("content-length", "0")
        if not (length.isascii() and length.isdecimal()):
            raise _refusal(400, "The Content-Length must be a number.")
        if len(length) > _MAX_LENGTH_DIGITS or int(length) > MAX_BODY_BYTES:
            raise _body_too_large()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                await self._receive(receive, body)
        except TimeoutError:
            raise _refusal(408, "The request took too long to arrive.") from None

    async def _receive(self, receive: Receive, body: bytearray) -> None:
        has_more = True
        while has_more:
            message = await receive()
            if message["type"] != "http.request":
                raise BodyRefused(None)  # the client has disconnected
            has_more, part = message.get("more_body", False), message.get("body", b"")
            if len(body) + len(part) > MAX_BODY_BYTES:
                raise _body_too_large()
            if self._held_bytes + len(part) > MAX_BODIES_BYTES:
                raise _refusal(503, "The server is receiving too much data. Try again later.", {"Retry-After": "1"})
            body += part
            self._held_bytes += len(part)

    async def _answer(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        request: Request = scope[REQUEST_KEY]
        headers = Headers(scope=scope)
        if scope["method"] != "POST":
            request.is_stream = scope["method"] == "GET"
            await self._forward(scope, body, receive, send)
            return
        message = _parse_body(body)
        if isinstance(message, JSONRPCRequest):
            request.is_stream = message.method == _LISTEN
        if b"\\ud" in body or b"\\uD" in body:  # perhaps a lone surrogate, which the SDK refuses
            body = format_line(message)
        session = headers.get("mcp-session-id")
        if isinstance(message, JSONRPCRequest) and session and _uses_sessions(headers):
            await self._answer_in_session(session, message, lambda: self._forward(scope, body, receive, send), request)
        else:
            await self._forward(scope, body, receive, send)

    async def _answer_in_session(
        self, session: str, message: JSONRPCRequest, forward: Callable[[], Awaitable[None]], request: Request
    ) -> None:
        key = session, str(message.id)
        if key in self._in_use:  # the SDK would never answer the earlier request
            raise _refusal(400, f"Another request of this session uses the id {json.dumps(message.id)}.")
        self._in_use.add(key)
        try:
            await forward()
        finally:
            self._in_use.discard(key)
            if not request.is_complete:  # the client has disconnected, or the server stops
                with CancelScope(shield=True):
                    await self._cancel(session, message)

    async def _cancel(self, session: str, message: JSONRPCRequest) -> None:
        """Send the session the cancellation that its client did not send."""
        params = {"requestId": message.id, "reason": "The client has disconnected."}
        notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        headers = {"content-type": _JSON, "accept": f"{_JSON}, text/event-stream", "mcp-session-id": session}
        scope = {
            "type": "http", "method": "POST", "path": "/mcp", "query_string": b"",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
        }  # fmt: skip
        await self._forward(scope, json.dumps(notification).encode(), _receive_disconnect, _discard)

    async def _forward(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Pass the request to the SDK, with the body that was read before."""
        was_read = False

        async def receive_body() -> Message:
            nonlocal was_read
            if was_read:
                return await receive()
            was_read = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._manager.asgi_app(scope, receive_body, send)


def _is_json(headers: Headers) -> bool:
    """Return whether the Content-Type is JSON; a browser sends that for a web page only after a CORS preflight."""
    types = headers.getlist("content-type")
    return len(types) == 1 and types[0].partition(";")[0].strip().lower() == _JSON


def _uses_sessions(headers: Headers) -> bool:
    version = headers.get("mcp-protocol-version")
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS


def _parse_body(body: bytes) -> JSONRPCMessage:
    try:
        message = parse_line(body)
    except InvalidMessage as error:
        text = error.refusal.model_dump_json(by_alias=True, exclude_unset=True)
        raise BodyRefused(Response(text, 400, media_type=_JSON)) from None
    if isinstance(message, JSONRPCNotification) and "id" in json.loads(body.decode("utf-8-sig", "replace")):
        raise _refusal(400, "The id of a request must be a string or an integer.")
    return message


def _refusal(status: int, message: str, headers: dict[str, str] | None = None) -> BodyRefused:
    return BodyRefused(error_response(status, message, headers))


def _body_too_large() -> BodyRefused:
    return _refusal(413, f"The message is too large; the maximum is {MAX_BODY_BYTES:,} bytes.")


async def _receive_disconnect() -> Message:
    return {"type": "http.disconnect"}


async def _discard(_message: Message) -> None:
    return None
